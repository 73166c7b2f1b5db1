#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cli/run, gui/run and tests/run around a project of one source file: nothing here installs or builds anything
of the checkout. Usage: run_scripts_test.py CHECKOUT"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else os.path.abspath(".")

CMAKE = """cmake_minimum_required(VERSION 3.25)
project(small CXX)
option(ROCE_TESTS "" ON)
option(ROCE_WERROR "" OFF)
option(ROCE_GUI "" OFF)
message(STATUS "tests ${ROCE_TESTS}")
add_executable(roceanalyze main.cpp)
set_target_properties(roceanalyze PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/cli)
if(ROCE_GUI)
  add_executable(roceanalyze-gui main.cpp)
  set_target_properties(roceanalyze-gui PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/gui)
endif()
add_library(libroceanalyze SHARED main.cpp)
enable_testing()
add_test(NAME werror_${ROCE_WERROR} COMMAND roceanalyze)
set_tests_properties(werror_${ROCE_WERROR} PROPERTIES WILL_FAIL ON)
"""

# Prints folder, arguments and input, returns 3.
PROGRAM = r"""#include <cstdio>
#include <unistd.h>
int main(int argc, char** argv) {
  char text[4096];
  std::printf("%s", getcwd(text, sizeof text));
  for (int i = 1; i < argc; ++i) std::printf("|%s", argv[i]);
  for (std::size_t n; (n = std::fread(text, 1, sizeof text, stdin)) > 0;) std::printf("|%.*s", static_cast<int>(n), text);
  return 3;
}
"""


class RunScripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = os.path.realpath(folder.name)
        self.project = os.path.join(self.base, "a b")
        for script in ("cli/run", "cli/setup.sh", "gui/run", "tests/run", ".ci/run"):
            os.makedirs(os.path.dirname(os.path.join(self.project, script)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, script), os.path.join(self.project, script))
        shutil.copy(os.path.join(ROOT, "CMakePresets.json"), self.project)
        self.write("CMakeLists.txt", CMAKE)
        self.write("main.cpp", PROGRAM)

    def write(self, name, text):
        with open(os.path.join(self.project, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run_script(self, script, *arguments, input="", path=None, **more):
        environment = dict(os.environ, **more)
        if path:
            environment["PATH"] = path
        return subprocess.run([script, *arguments], input=input, cwd=self.base, env=environment, text=True,
                              capture_output=True, timeout=300)

    def path_without(self, *names):
        """A folder with links to every command of the usual places but these."""
        folder = os.path.join(self.base, "bin")
        os.makedirs(folder)
        for place in ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"):
            for name in os.listdir(place) if os.path.isdir(place) else []:
                link = os.path.join(folder, name)
                if name not in names and not os.path.lexists(link):
                    os.symlink(os.path.join(place, name), link)
        return folder

    def test_builds_once_and_passes_everything_on(self):
        link = os.path.join(self.base, "link")
        os.symlink(os.path.join(self.project, "cli/run"), link)
        first = self.run_script(link, "x y", "-z", input="hello")
        self.assertEqual((first.returncode, first.stdout), (3, f"{self.base}|x y|-z|hello"))
        self.assertIn("Configuring in", first.stderr)
        second = self.run_script(link, input="again")
        self.assertEqual((second.returncode, second.stdout, second.stderr), (3, f"{self.base}|again", ""))

    def test_a_moved_checkout_starts_afresh(self):
        self.run_script(os.path.join(self.project, "cli/run"))
        moved = os.path.join(self.base, "moved")
        os.rename(self.project, moved)
        result = self.run_script(os.path.join(moved, "cli/run"))
        self.assertEqual(result.returncode, 3)
        self.assertIn("configured elsewhere", result.stderr)

    def test_a_failing_build_names_the_log(self):
        self.write("main.cpp", "int main() { return nonsense; }\n")
        result = self.run_script(os.path.join(self.project, "cli/run"))
        self.assertEqual((result.returncode, result.stdout), (125, ""))
        self.assertIn("nonsense", result.stderr)
        log = result.stderr.strip().rsplit("log is ", 1)[1]
        self.assertTrue(os.path.isfile(log), log)

    def test_a_failing_configuration_names_the_log(self):
        self.write("CMakeLists.txt", "message(FATAL_ERROR cannot)\n")
        result = self.run_script(os.path.join(self.project, "cli/run"))
        self.assertEqual(result.returncode, 125)
        self.assertIn("cannot", result.stderr)
        self.assertIn("configuring failed; the whole log is", result.stderr)

    def test_without_apt_the_missing_is_named(self):
        path = self.path_without("apt-get", "ninja", "lz4")
        result = self.run_script(os.path.join(self.project, "cli/run"), path=path)
        self.assertEqual((result.returncode, result.stdout), (125, ""))
        self.assertIn("no apt-get here", result.stderr)
        self.assertIn("ninja-build", result.stderr)
        self.assertNotIn("cmake ", result.stderr)

    def test_without_apt_but_with_everything_it_goes_on(self):
        result = self.run_script(os.path.join(self.project, "cli/run"), path=self.path_without("apt-get", "ccache", "sudo"))
        self.assertEqual(result.returncode, 3, result.stderr)

    def test_the_window_is_built_beside(self):
        cli = self.run_script(os.path.join(self.project, "cli/run"))
        self.assertEqual(cli.returncode, 3)
        first = self.run_script(os.path.join(self.project, "gui/run"), "x y")
        self.assertEqual((first.returncode, first.stdout), (3, f"{self.base}|x y"), first.stderr)
        second = self.run_script(os.path.join(self.project, "gui/run"))
        self.assertEqual((second.returncode, second.stderr), (3, ""))
        self.assertEqual(self.run_script(os.path.join(self.project, "cli/run")).stderr, "")

    def test_tests_run(self):
        cli = self.run_script(os.path.join(self.project, "cli/run"))
        self.assertEqual(cli.returncode, 3)
        plain = self.run_script(os.path.join(self.project, "tests/run"), CI="")
        self.assertEqual(plain.returncode, 0, plain.stdout + plain.stderr)
        self.assertIn("werror_OFF", plain.stdout)
        ci = self.run_script(os.path.join(self.project, ".ci/run"), "-R", "werror", CI="true")
        self.assertEqual(ci.returncode, 0, ci.stdout + ci.stderr)
        self.assertIn("werror_ON", ci.stdout)
        self.assertTrue(os.path.isfile(os.path.join(self.project, "build/dev/gui/roceanalyze-gui")))
        self.assertEqual(self.run_script(os.path.join(self.project, "cli/run")).stderr, "")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libroceanalyze as it is installed: its symbols, and the example by pkg-config and by CMake.
Usage: install_test.py BUILD SAMPLES"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, SAMPLES = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "..", "cli", "library")
SAMPLE = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]


def run(*words, **rest):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **rest)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Installed(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.mkdtemp()
        cls.prefix = os.path.join(cls.work, "usr")
        for component in ("library", "library_dev"):
            run("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", component)
        for folder, _, names in os.walk(cls.prefix):
            if "libroceanalyze.so.1" in names:
                cls.libdir = folder
        cls.environment = dict(os.environ, LD_LIBRARY_PATH=cls.libdir,
                               PKG_CONFIG_PATH=os.path.join(cls.libdir, "pkgconfig"))
        cls.examples = os.path.join(cls.prefix, "share", "doc", "libroceanalyze-dev", "examples")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work)

    def program(self):
        """The example, compiled as its first lines say."""
        flags = run("pkg-config", "--cflags", "--libs", "roceanalyze", env=self.environment).split()
        out = os.path.join(self.work, "losses")
        run("cc", *STRICT, os.path.join(self.examples, "losses.c"), *flags, "-o", out)
        return out

    def test_the_example_by_pkg_config(self):
        lines = run(self.program(), SAMPLE, env=self.environment).splitlines()
        self.assertRegex(lines[0], r"^10\.77\.0\.1 .* loses 46 of 3669 packets")
        self.assertEqual(lines[1], "10.77.0.1 - 10.77.0.2: 3705 packets, 46 lost")
        proofs = [re.fullmatch(r"packet (\d+): (\d+) lost, before_capture", line) for line in lines[2:]]
        self.assertEqual(sum(int(proof[2]) for proof in proofs), 46)

    def test_the_example_says_what_fails(self):
        done = subprocess.run([self.program(), "no/such/file"], capture_output=True, text=True, check=False,
                              env=self.environment)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no/such/file", done.stderr)

    def test_the_example_by_cmake(self):
        build = os.path.join(self.work, "build")
        run("cmake", "-S", self.examples, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.assertEqual(run(os.path.join(build, "losses"), SAMPLE), run(self.program(), SAMPLE, env=self.environment))

    def test_the_header_is_c_and_cpp(self):
        header = os.path.join(self.prefix, "include", "roceanalyze.h")
        run("cc", *STRICT, "-fsyntax-only", "-x", "c", header)
        run("c++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c++", header)

    def test_only_the_interface_is_exported(self):
        library = os.path.join(self.libdir, "libroceanalyze.so.1")
        self.assertIn("[libroceanalyze.so.1]", run("readelf", "-d", library))
        symbols = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()]
        exported = {name for name in symbols if not name.startswith("ROCEANALYZE_")}
        self.assertTrue(all("@@ROCEANALYZE_" in name for name in exported), exported)
        declared = set(re.findall(r"\b(roce_\w+)\(", re.sub(r"/\*.*?\*/", "", read(os.path.join(SOURCES, "roceanalyze.h")),
                                                             flags=re.DOTALL)))
        self.assertEqual({name.split("@")[0] for name in exported}, declared)
        self.assertEqual(set(re.findall(r"^    (roce_\w+);", read(os.path.join(SOURCES, "roceanalyze.map")), re.MULTILINE)),
                         declared)


if __name__ == "__main__":
    unittest.main()

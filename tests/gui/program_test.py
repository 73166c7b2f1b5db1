#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""roceanalyze-gui as it is started: without a display and with one that shows nothing.
Usage: program_test.py PROGRAM SAMPLES"""

import os
import signal
import subprocess
import sys
import tempfile
import unittest

SAMPLES = sys.argv.pop()
PROGRAM = sys.argv.pop()
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


class Program(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.environment = {name: value for name, value in os.environ.items() if name not in DISPLAYS}
        self.environment |= {"HOME": home.name, "XDG_CONFIG_HOME": home.name}

    def run_program(self, *arguments, **more):
        return subprocess.run([PROGRAM, *arguments], env=self.environment | more, text=True, capture_output=True, timeout=120)

    def test_version_and_help_need_no_display(self):
        version = self.run_program("--version")
        self.assertEqual((version.returncode, version.stderr), (0, ""))
        self.assertRegex(version.stdout, r"^roceanalyze-gui \d+\.\d+\.\d+\n(.*\n)*.*Qt 6")
        usage = self.run_program("--help")
        self.assertEqual((usage.returncode, usage.stderr), (0, ""))
        self.assertIn("--policy", usage.stdout)

    def test_without_a_display_it_says_so_and_how(self):
        result = self.run_program(os.path.join(SAMPLES, "03_rping.pcap"))
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertIn("no display", result.stderr)
        self.assertIn("xvfb-run", result.stderr)
        self.assertIn("roceanalyze FILE", result.stderr)

    def test_a_display_that_does_not_answer_is_no_crash(self):
        result = self.run_program(DISPLAY=":4711")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("roceanalyze-gui: ", result.stderr)
        self.assertIn("roceanalyze FILE", result.stderr)

    def test_wrong_usage(self):
        for arguments in (["--nonsense"], ["--policy", "/nowhere/policy.toml"]):
            result = self.run_program(*arguments, QT_QPA_PLATFORM="offscreen")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(arguments[-1].lstrip("-"), result.stderr)

    def test_opens_a_capture_and_runs_until_it_is_ended(self):
        with subprocess.Popen([PROGRAM, os.path.join(SAMPLES, "03_rping.pcap")], env=self.environment | {"QT_QPA_PLATFORM": "offscreen"},
                              stderr=subprocess.PIPE, text=True) as process:
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(timeout=3)
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        # Of the display that shows nothing; ours would speak of objects, layouts or plots.
        self.assertNotRegex(errors, "QObject|QLayout|QCustomPlot|QCP|QWidget")


if __name__ == "__main__":
    unittest.main()

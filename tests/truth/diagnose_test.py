#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws of diagnoses: the fixed draw meets its limits; the output does not depend on the number of workers; one scenario can
be repeated. Skipped (exit status 77) while the report has no diagnoses. Usage: diagnose_test.py ROCE_FAULT_GENERATE
ROCEANALYZE"""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM, GENERATE = sys.argv.pop(2), sys.argv.pop(1)
SKIP = 77


def diagnose(*arguments):
    return subprocess.run([sys.executable, os.path.join(HERE, "diagnose"), "--generate", GENERATE, "--program", PROGRAM,
                           *arguments], capture_output=True, text=True, check=False)


class Diagnose(unittest.TestCase):
    def test_the_fixed_draw_meets_its_limits(self):
        done = diagnose("--fixed")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_the_same_seed_prints_the_same(self):
        with tempfile.TemporaryDirectory() as kept:
            common = ("--seed", "3", "--packets", "1000")
            first = diagnose(*common, "--count", "14", "--jobs", "1", "--verbose")
            second = diagnose(*common, "--count", "14", "--jobs", "3", "--verbose")
            self.assertEqual((first.returncode, first.stdout), (0, second.stdout))
            alone = diagnose(*common, "--only", "5", "--keep", kept)
            named = [line for line in alone.stdout.splitlines() if line.startswith("0005_")]
            self.assertEqual([line for line in first.stdout.splitlines() if line.startswith("0005_")], named)
            self.assertEqual(len(os.listdir(kept)), 3)

    def test_refusals(self):
        for arguments in (["--count", "0"], ["--cause", "none_such"], ["--program", os.devnull]):
            self.assertEqual(diagnose(*arguments).returncode, 2, arguments)


if __name__ == "__main__":
    probe = diagnose("--count", "1", "--packets", "100")
    if probe.returncode == SKIP:
        print(probe.stdout.strip())
        sys.exit(SKIP)
    unittest.main()

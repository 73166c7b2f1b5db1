#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures that lack packets: tests/truth/lacking meets its limits, and they are of rows that exist. Usage: lacking_test.py
ROCEANALYZE SAMPLES"""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import lacking_limits as limits  # noqa: E402

SAMPLES, PROGRAM = sys.argv.pop(2), sys.argv.pop(1)


def lacking(*arguments):
    return subprocess.run([sys.executable, os.path.join(HERE, "lacking"), "--program", PROGRAM, SAMPLES, *arguments],
                          capture_output=True, text=True, check=False)


class Lacking(unittest.TestCase):
    def test_it_meets_its_limits(self):
        done = lacking("--limits")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        rows = [line.split(" | ")[0].lstrip("| ") for line in done.stdout.splitlines() if line.startswith("| ")]
        self.assertEqual(set(rows) - {"row"}, set(limits.TODAY))

    def test_a_missed_limit_is_named(self):
        row, limit = next(iter(limits.TODAY.items()))
        self.assertEqual(limits.missed({row: limit}), [])
        worse = limits.Row(limit.variants - 1, limit.told - 1, limit.false + 1, limit.green + 1)
        self.assertEqual(len(limits.missed({row: worse})), 4)


if __name__ == "__main__":
    unittest.main()

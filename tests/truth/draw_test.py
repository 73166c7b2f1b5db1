#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fresh draws: the fixed draw meets its limits; the same seed gives the same bytes, whatever the number of workers;
one scenario can be repeated from its seed. Usage: draw_test.py ROCE_FAULT_GENERATE ROCEANALYZE"""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import kinds  # noqa: E402
import limits  # noqa: E402

PROGRAM, GENERATE = sys.argv.pop(2), sys.argv.pop(1)


def draw(*arguments):
    return subprocess.run([sys.executable, os.path.join(HERE, "draw"), "--generate", GENERATE, "--program", PROGRAM,
                           *arguments], capture_output=True, text=True, check=False)


def files_of(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


class Draw(unittest.TestCase):
    def test_the_fixed_draw_meets_its_limits(self):
        done = draw("--fixed")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_the_same_seed_gives_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two, \
                tempfile.TemporaryDirectory() as alone:
            common = ("--seed", "3", "--count", "6", "--packets", "1000", "--verbose", "--keep")
            first, second = draw(*common, one, "--jobs", "1"), draw(*common, two, "--jobs", "3")
            self.assertEqual(first.returncode, 0, first.stderr + first.stdout)
            self.assertEqual(first.stdout, second.stdout)
            files = files_of(one)
            self.assertEqual(len(files), 4 * 6)
            self.assertEqual({n: f for n, f in files.items() if "report" not in n},
                             {n: f for n, f in files_of(two).items() if "report" not in n})
            draw("--seed", "3", "--only", "4", "--packets", "1000", "--keep", alone)
            for name, content in files_of(alone).items():
                if "report" not in name:  # names the folder
                    self.assertEqual(content, files[name], name)

    def test_scenarios_do_not_depend_on_each_other(self):
        self.assertEqual(kinds.draw(5, 7), kinds.draw(5, 7))
        self.assertNotEqual(kinds.draw(5, 7), kinds.draw(6, 7))
        self.assertNotEqual(kinds.draw(5, 7), kinds.draw(5, 7 + len(kinds.KINDS)))

    def test_limits_name_kinds_that_exist(self):
        self.assertLessEqual(set(limits.TODAY), set(kinds.ALL_KINDS))
        for kind, short in limits.TODAY.items():
            for name, limit in short.items():
                self.assertTrue(limits.falls_short(name, limit, limits.AIM[name]), f"{kind} meets the aim: {name}")

    def test_a_missed_limit_is_named(self):
        figures = dict(limits.AIM, recall=0.5, false=3)
        self.assertEqual(len(limits.missed({"clean": figures})), 2)
        self.assertEqual(limits.missed({"clean": dict.fromkeys(limits.AIM)}), [])

    def test_refusals(self):
        for arguments in (["--count", "0"], ["--kind", "none_such"], ["--program", os.devnull]):
            self.assertEqual(draw(*arguments).returncode, 2, arguments)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sums_test.py ROCEANALYZE SAMPLES: flows, connections, incidents, series and packets tell the same numbers of repeats,
losses and bytes, for every sample. The same of every draw: tests/truth/draw."""

import glob
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import sums  # noqa: E402

PROGRAM, SAMPLES = sys.argv[1:3]


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False).stdout


def repeats_of_packets(path):
    words = [word for field in sums.FIELDS for word in ("-e", field)]
    lines = run("packets", path, "-Y", "roce.analysis.retransmission", "-T", "fields", *words).splitlines()
    return [sums.repeat(line.split("\t")) for line in lines]


class Sums(unittest.TestCase):
    def test_all_samples(self):
        paths = sorted(glob.glob(os.path.join(SAMPLES, "*.pcap*")))
        self.assertGreater(len(paths), 100)
        for path in paths:
            with self.subTest(os.path.basename(path)):
                self.assertEqual(sums.differences(json.loads(run("report", path, "--json")), repeats_of_packets(path)), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

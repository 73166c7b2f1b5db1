#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""replay_test.py ROCEANALYZE SAMPLES: a responder that receives what the explanation of an incident says must be able to
give the captured answers (analyze/episode/replay.hpp): in every sample."""

import collections
import glob
import json
import os
import subprocess
import sys
import unittest

PROGRAM, SAMPLES = sys.argv[1:3]

# Incidents that an answer contradicts, by kind: today's. It may only get lower. The fixed draw has its own in
# tests/truth/limits.py.
AT_MOST = {"confirms_lost": 0, "asks_for_taken": 0, "not_ready_again": 0}


class Replay(unittest.TestCase):
    def test_samples(self):
        found, incidents = collections.Counter(), 0
        for path in sorted(glob.glob(os.path.join(SAMPLES, "*.pcap*"))):
            output = subprocess.run([PROGRAM, "report", path, "--json"], capture_output=True, text=True, check=False).stdout
            for incident in json.loads(output)["incidents"]:
                incidents += 1
                for kind in AT_MOST:
                    if kind in incident["undecided"]:
                        found[kind] += 1
                        print(f"{os.path.basename(path)}: packets {incident['first_packet']} to {incident['last_packet']}: "
                              f"{kind}")
        self.assertGreater(incidents, 500)
        for kind, most in AT_MOST.items():
            with self.subTest(kind):
                self.assertLessEqual(found[kind], most)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

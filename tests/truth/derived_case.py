# SPDX-License-Identifier: Apache-2.0
"""What tests of exports and of mirrors share: simulated traffic, what a switch makes of it, and the report of both. Takes
GENERATE and ROCEANALYZE from the command line."""

import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import capture_variants as variants  # noqa: E402

GENERATE, PROGRAM = sys.argv.pop(1), sys.argv.pop(1)
# With `--shift N` behind them all seeds are others: a fresh draw.
SHIFT = 0
if "--shift" in sys.argv:
    at = sys.argv.index("--shift")
    SHIFT = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
RATES = (16, 64, 256, 1024, 4096)
DRAWS = 100
PACKETS = 40000
UNSHOWN = ("ack", "sequence_nak", "rnr_nak")  # nothing shows that an answer was lost


def fresh(seed):
    return seed + 1000 * SHIFT


def run(*words):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=300, capture_output=True, text=True)
    assert done.returncode in (0, 3), (words, done.returncode, done.stderr)
    return done.stdout


def report(*files):
    return json.loads(run("report", "--json", *files))


def flow_of(frame):
    """Addresses and queue pair of a RoCE v2 packet over IPv4."""
    at = variants.bth(frame)
    return frame[at - 16:at - 12], frame[at - 12:at - 8], int.from_bytes(frame[at + 5:at + 8], "big")


def joined(drops, notified):
    """Of the drops with a notification whose loss the capture can show, and of those how many are joined with one. By PSN: of
    a packet that was dropped twice it is the same which of the two is joined."""
    expected, told = collections.Counter(), collections.Counter()
    for drop, (loss, *flow) in zip(drops, notified):
        if loss["kind"] in UNSHOWN:
            continue
        expected[(*flow, loss["psn"])] += loss["decidable"]
        told[(*flow, loss["psn"])] += drop["loss_shown_by"] is not None
    return sum(min(told[packet], expected[packet]) for packet in expected), sum(expected.values())


class DerivedCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def generate(self, *options):
        options = list(options)
        if "--seed" in options:
            at = options.index("--seed") + 1
            options[at] = str(fresh(int(options[at])))
        subprocess.run([GENERATE, self.path("tap.pcap"), "--truth", self.path("truth"), *options], check=True)
        return variants.read(self.path("tap.pcap"))

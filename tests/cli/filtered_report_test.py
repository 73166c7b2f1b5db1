#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A report of what a filter chooses grades by the same base as the whole: a filter that takes the very packets that a
finding counts must not make it all of them.
Usage: filtered_report_test.py ROCEANALYZE SAMPLES"""

import json
import os
import re
import subprocess
import sys
import unittest

PROGRAM, SAMPLES = sys.argv.pop(1), sys.argv.pop(1)
# Every packet that an event is counted on, and hardly any other.
REMARKABLE = ("roce.analysis.flags or infiniband.aeth.syndrome.opcode > 0 or roce.icrc.status == mismatch or "
              "roce.credits == 0")
# Judged by events alone; others look at what a filter takes away (latencies, who answers, CM messages).
BY_EVENTS = {"loss_before_capture", "trimmed", "loss_after_capture", "loss_by_capture", "livelock", "timeouts",
             "spurious_retransmission", "reordering", "duplicates_network", "rnr", "icrc_corruption"}
SHARE = re.compile(r"\d+ of \d+ [a-z ]*\([<>\d. ]+ %\)")


def run(*words):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=300, capture_output=True)
    assert done.returncode == 0, (words, done.returncode, done.stderr.decode())
    return done.stdout.decode()


def graded(path, *options):
    """Severity, count and first share by finding and subject."""
    got = {}
    for finding in json.loads(run("report", "--json", path, *options))["findings"]:
        if finding["id"] in BY_EVENTS:
            share = SHARE.search(finding["explanation"])
            got[finding["id"], finding["subject"]] = (finding["severity"], finding["count"], share and share[0])
    return got


class Filtered(unittest.TestCase):
    def test_the_same_findings_with_the_same_grades(self):
        findings = 0
        for name in sorted(os.listdir(SAMPLES)):
            if ".pcap" not in name:
                continue
            path = os.path.join(SAMPLES, name)
            whole = graded(path)
            if not whole:
                continue
            with self.subTest(name):
                self.assertEqual(graded(path, "-Y", REMARKABLE), whole)
                findings += len(whole)
        self.assertGreater(findings, 40)

    def test_one_kind_of_packet_alone(self):
        path = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
        whole = graded(path)
        part = graded(path, "-Y", "roce.analysis.lost == before_capture")
        self.assertEqual([(key, part[key]) for key in part], [(key, whole[key]) for key in part])
        self.assertIn("loss_before_capture", {key[0] for key in part})

    def test_the_report_says_what_shares_are_of(self):
        path = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
        says = "Findings and their severities are based on all packets"
        self.assertIn(says, " ".join(run("report", path, "-Y", REMARKABLE).split()))
        self.assertNotIn(says, run("report", path))
        sides = [s for c in json.loads(run("report", "--json", path, "-Y", REMARKABLE))["connections"] for s in c["sides"]]
        every = [s for c in json.loads(run("report", "--json", path))["connections"] for s in c["sides"]]
        self.assertEqual([s["packets"] + s["left_out"] for s in sides], [s["packets"] for s in every])
        self.assertEqual([s["left_out"] for s in every], [0] * len(every))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sums_test.py ROCEANALYZE SAMPLES: flows, connections, incidents, series and packets tell the same numbers of repeats,
losses and bytes, for every sample."""

import glob
import json
import os
import subprocess
import sys
import unittest

PROGRAM, SAMPLES = sys.argv[1:3]
PLACES = ("before_capture", "after_capture", "by_capture", "trimmed")


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False).stdout


def repeats_of_packets(path):
    """[(in an incident, damaged, bytes)] of the packets that were sent again"""
    fields = ("roce.incident", "roce.icrc.status", "frame.len")
    words = [word for field in fields for word in ("-e", field)]
    lines = run("packets", path, "-Y", "roce.analysis.retransmission", "-T", "fields", *words).splitlines()
    rows = [line.split("\t") for line in lines]
    return [(row[0] != "", row[1] == "mismatch", int(row[2])) for row in rows]


def total(entries, *keys):
    found = 0
    for entry in entries:
        for key in keys:
            entry = entry[key]
        found += entry
    return found


class Sums(unittest.TestCase):
    def of_sample(self, path):
        report = json.loads(run("report", path, "--json"))
        flows, connections, incidents = report["flows"], report["connections"], report["incidents"]
        paired = [flow for flow in flows if flow["connection"] is not None]
        for what in ("packets", "bytes"):
            with self.subTest("flows and connections", what=what):
                self.assertEqual(total(paired, "retransmitted", what), total(connections, "retransmitted", what))
        for place in PLACES:
            with self.subTest("flows and connections", place=place):
                self.assertEqual(total(paired, "lost", place), total(connections, "lost", place))
        packets = repeats_of_packets(path)
        with self.subTest("flows and packets"):
            self.assertEqual(total(flows, "retransmitted", "packets"), len(packets))
        with self.subTest("flows and series"):
            self.assertEqual(total(flows, "retransmitted", "packets"), sum(report["series"]["retransmitted"]))
            self.assertEqual(sum(total(flows, "lost", place) for place in PLACES), sum(report["series"]["lost"]))
        if report["incidents_dropped"]:
            return
        with self.subTest("packets and incidents"):
            # A damaged repeat witnesses nothing but its damage: no incident counts it.
            whole = [size for _, damaged, size in packets if not damaged]
            self.assertTrue(all(told for told, damaged, _ in packets if not damaged))
            self.assertEqual(len(whole), total(incidents, "repeated", "packets"))
            self.assertEqual(sum(whole), total(incidents, "repeated", "bytes"))
        for place in PLACES[:2]:
            with self.subTest("flows and incidents", place=place):
                of_flows, of_incidents = total(flows, "lost", place), total(incidents, "lost", place)
                if any(flow["points"] for flow in flows):  # a second capture point shows more than one can tell
                    self.assertGreaterEqual(of_flows, of_incidents)
                else:
                    self.assertEqual(of_flows, of_incidents)

    def test_all_samples(self):
        paths = sorted(glob.glob(os.path.join(SAMPLES, "*.pcap*")))
        self.assertGreater(len(paths), 100)
        for path in paths:
            with self.subTest(os.path.basename(path)):
                self.of_sample(path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paths of simulated traffic: their packets and bytes are those of the capture by UDP source port, their losses those of the
flows, and a flow that is spread over several ports is told apart by port, but not its losses.

Usage: paths_test.py GENERATE ROCEANALYZE"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import capture_variants as variants  # noqa: E402

GENERATE, PROGRAM = sys.argv.pop(1), sys.argv.pop(1)


def run(*words):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, (words, done.returncode, done.stderr)
    return json.loads(done.stdout)


def by_port(records):
    """Packets and bytes by addresses and UDP source port."""
    packets, sizes = collections.Counter(), collections.Counter()
    for _, length, frame in records:
        at = variants.bth(frame)
        key = ".".join(map(str, frame[at - 16:at - 12])), ".".join(map(str, frame[at - 12:at - 8])), \
            str(int.from_bytes(frame[at - 8:at - 6], "big"))
        packets[key] += 1
        sizes[key] += length
    return packets, sizes


class Paths(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tap = os.path.join(folder.name, "tap.pcap")

    def generate(self, *options):
        subprocess.run([GENERATE, self.tap, "--truth", self.tap + ".truth", *options], check=True)
        return variants.read(self.tap)

    def compare(self, records, *options):
        rows = run("paths", "--json", self.tap, *options)["paths"]
        packets, sizes = by_port(records)
        told = {(row["src"], row["dst"], row["udp_sport"]): row for row in rows if row["udp_sport"] != "several"}
        self.assertEqual({key: row["packets"] for key, row in told.items()}, dict(packets))
        self.assertEqual({key: row["bytes"] for key, row in told.items()}, dict(sizes))
        return rows

    def test_paths_are_what_the_flows_are(self):
        records = self.generate("--packets", "20000", "--qps", "12", "--hosts", "3", "--faults", "loss1", "--seed", "7")
        rows = self.compare(records)
        flows = run("report", "--json", self.tap)["flows"]
        for row_key, places in (("lost", ("before_capture", "after_capture")), ("lost_by_capture", ("by_capture",))):
            told, counted = collections.Counter(), collections.Counter()
            for row in rows:
                told[row["src"], row["dst"]] += row[row_key]
            for flow in flows:
                counted[flow["src"], flow["dst"]] += sum(flow["lost"][place] for place in places)
            self.assertEqual(+told, +counted)
        self.assertGreater(sum(row["lost"] for row in rows), 50)
        self.assertNotIn("several", [row["udp_sport"] for row in rows])
        for row in rows:
            self.assertAlmostEqual(row["share"], row["bytes"] / sum(
                each["bytes"] for each in rows if (each["src"], each["dst"]) == (row["src"], row["dst"])), places=3)

    def test_a_flow_over_several_ports(self):
        records = self.generate("--packets", "8000", "--qps", "2", "--hosts", "2", "--faults", "loss1", "--seed", "8")
        spread = []
        for number, (time, length, frame) in enumerate(records):
            at = variants.bth(frame)
            spread.append((time, length, frame[:at - 8] + (50000 + number % 3).to_bytes(2, "big") + frame[at - 6:]))
        variants.write(self.tap, spread)
        rows = self.compare(spread, "--no-icrc")
        several = [row for row in rows if row["udp_sport"] == "several"]
        self.assertGreater(sum(row["lost"] for row in several), 20)
        self.assertEqual(sum(row["packets"] for row in several), 0)


if __name__ == "__main__":
    unittest.main()

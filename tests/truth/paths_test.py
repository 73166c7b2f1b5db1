#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paths of simulated traffic: their packets and bytes are those of the capture by UDP source port, their losses those of the
flows, and a flow that is spread over several ports is told apart by port, but not its losses. The same by flow label, SRv6
segment and source MAC address; and the diagnosis names the one path that loses, of whatever kind.

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

    def kinds_of_paths(self, records):
        """The same traffic, its paths told apart by another header: the column of the table, and the frames."""
        def by_label(frame, number):
            return frame[:14] + bytes([frame[14], frame[15] & 0xF0, 1, number]) + frame[18:]

        def by_mac(frame, number):
            return frame[:11] + bytes([0x40 + number]) + frame[12:]

        def by_segment(frame, number):
            inner = frame[14:]
            outer = bytes([0x60, 0, 0, 0]) + len(inner).to_bytes(2, "big") + bytes([41, 64]) + bytes(15) + b"\x09" + \
                bytes.fromhex("fcbbbb00") + bytes([0, number]) + bytes(10)
            return frame[:14] + outer + inner
        for column, change in (("flow_label", by_label), ("source_mac", by_mac), ("segment", by_segment)):
            frames = []
            for time, _, frame in records:
                at = variants.bth(frame)
                number = frame[at - 7] % 3  # by UDP source port, which is made alike
                frame = change(frame[:at - 8] + bytes([0xC0, 0]) + frame[at - 6:], number)
                frames.append((time, len(frame), frame))
            yield column, frames

    def test_paths_of_any_kind(self):
        """One row for each, with its packets, bytes, losses, repeats and times."""
        records = self.generate("--packets", "12000", "--qps", "24", "--hosts", "2", "--faults", "loss1", "--ipv6", "--seed", "9")
        plain = run("paths", "--json", self.tap)["paths"]
        for column, frames in self.kinds_of_paths(records):
            with self.subTest(column):
                variants.write(self.tap, frames)
                rows = run("paths", "--json", self.tap, "--no-icrc")["paths"]
                self.assertEqual({row["udp_sport"] for row in rows} - {"several"}, {"49152"})
                told = {(row["src"], row["dst"], row[column]) for row in rows if row["udp_sport"] != "several"}
                self.assertEqual(len(told), 6, sorted(told))
                self.assertEqual(sum(row["packets"] for row in rows), len(frames))
                self.assertEqual(sum(row["bytes"] for row in rows), sum(length for _, length, _ in frames))
                for key in ("retransmitted", "lost"):
                    self.assertEqual(sum(row[key] for row in rows), sum(row[key] for row in plain), key)

    def test_the_path_that_loses_is_named(self):
        """All losses between two hosts are on one of their paths."""
        records = self.generate("--packets", "24000", "--qps", "24", "--hosts", "2", "--ipv6", "--udp-port", "random",
                                "--only-connection", "3", "--loss-before", "0.03", "--seed", "10")
        for column, frames in [("udp_sport", records), *self.kinds_of_paths(records)]:
            with self.subTest(column):
                variants.write(self.tap, frames)
                rows = [row for row in run("paths", "--json", self.tap, "--no-icrc")["paths"] if row["lost"]]
                loss = run("report", "--json", self.tap, "--no-icrc")["diagnoses"][0]
                self.assertEqual(len({row[column] for row in rows}), 1)
                self.assertGreater(sum(row["lost"] for row in rows), 20)
                self.assertEqual(loss["kind"], "by_path", loss["sentence"])
                words = {"udp_sport": "UDP source port", "source_mac": "source MAC address"}.get(column, column.replace("_", " "))
                self.assertIn(words, loss["facts"][0])

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

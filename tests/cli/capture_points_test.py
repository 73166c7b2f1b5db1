#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures of one traffic at several points, analysed together: the verdicts of one capture, whatever the clocks say,
and what only both can tell.
Usage: capture_points_test.py ROCEANALYZE SAMPLES"""

import glob
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SAMPLES = sys.argv.pop(1), sys.argv.pop(1)
CAUSES = ("nak", "timeout", "rnr", "read_retry", "unknown")
NS = 10**9
SHIFTS = (0, 3_000_000, -3_000_000, 2 * NS, -2 * NS)


def run(*words):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=300, capture_output=True)
    assert done.returncode in (0, 1), (words, done.returncode, done.stderr.decode())
    return done


def report(*files):
    done = run("report", "--json", "--fail-on", "error", *files)
    return json.loads(done.stdout) | {"exit": done.returncode}


def figures(got):
    flows = got["flows"]
    return {"repeats": sum(flow["retransmitted"][cause] for flow in flows for cause in CAUSES),
            "lost": {key: sum(flow["lost"][key] for flow in flows)
                     for key in ("before_capture", "after_capture", "by_capture")},
            "network": sum(flow["duplicate_network"] for flow in flows),
            "packets": sum(flow["packets"] for flow in flows)}


def finding(got, name):
    return [found for found in got["findings"] if found["id"] == name]


def contents(path):
    if not path.endswith(".zst"):
        with open(path, "rb") as stream:
            return stream.read()
    return subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout


def records(data):
    """The header of a pcap in nanoseconds, little-endian, and its records."""
    assert data[:4] == b"\x4d\x3c\xb2\xa1"
    at, found = 24, []
    while at < len(data):
        size = 16 + struct.unpack_from("<I", data, at + 8)[0]
        found.append(data[at:at + size])
        at += size
    return data[:24], found


def shifted(data, by):
    head, found = records(data)
    out = [head]
    for record in found:
        seconds, rest = struct.unpack_from("<II", record)
        time = seconds * NS + rest + by
        out.append(struct.pack("<II", time // NS, time % NS) + record[8:])
    return b"".join(out)


class CapturePoints(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, data):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as stream:
            stream.write(data)
        return path

    def pairs(self):
        for near in sorted(glob.glob(os.path.join(SAMPLES, "*.ca.pcap*"))):
            yield near, near.replace(".ca.", ".cb.")

    def test_both_ends_say_what_one_does_whatever_the_clocks(self):
        for near, far in self.pairs():
            singles = [report(near), report(far)]
            alone = [figures(got) for got in singles]
            for by in SHIFTS:
                with self.subTest(pair=os.path.basename(near), by=by):
                    both = report(near, self.write("other.pcap", shifted(contents(far), by)))
                    got = figures(both)
                    self.assertIn(got["repeats"], [one["repeats"] for one in alone])
                    self.assertIn(got["network"], [one["network"] for one in alone])
                    self.assertLessEqual(got["lost"]["by_capture"], max(one["lost"]["by_capture"] for one in alone))
                    between = sum(found["count"] for found in finding(both, "loss_between_points"))
                    for where in ("before_capture", "after_capture"):
                        most = max(one["lost"][where] for one in alone)
                        self.assertLessEqual(got["lost"][where], most + between)
                    # Every packet is seen at one of the points, so none can be invented between them.
                    self.assertLessEqual(between, max(one["packets"] for one in alone))
                    if any(one["exit"] for one in singles) and got["repeats"] == alone[0]["repeats"]:
                        self.assertEqual(both["exit"], 1)

    def test_a_loss_between_the_points_is_told_and_proved(self):
        near, far = (os.path.join(SAMPLES, f"04_write_loss1.{end}.pcap.zst") for end in ("ca", "cb"))
        for by in SHIFTS:
            with self.subTest(by=by):
                far_file = self.write("far.pcap", shifted(contents(far), by))
                got = report(near, far_file)
                found = finding(got, "loss_between_points")
                self.assertEqual([f["count"] for f in found], [46])  # as netem counted
                self.assertEqual(found[0]["severity"], "error")
                self.assertEqual(got["exit"], 1)
                self.assertFalse(finding(got, "loss_before_capture") + finding(got, "loss_after_capture"))
                listed = run("packets", "-T", "fields", "-e", "frame.number", "-Y",
                             "roce.analysis.lost == after_capture", near, far_file).stdout.split()
                self.assertEqual(len(listed), 46)
                self.assertLessEqual({str(n).encode() for n in found[0]["packets"]}, set(listed))
                clocks = [d for d in got["diagnostics"] if d["id"] == "clocks_differ"]
                self.assertEqual(len(clocks), 1 if by else 0)

    def test_the_same_file_twice_is_the_same(self):
        for near, _ in self.pairs():
            with self.subTest(near):
                once, twice = report(near), report(near, self.write("again.pcap", contents(near)))
                self.assertEqual(figures(once), figures(twice))
                self.assertEqual([f["id"] for f in once["findings"]], [f["id"] for f in twice["findings"]])

    def test_pieces_that_overlap_are_one_capture(self):
        for near, _ in self.pairs():
            head, all_records = records(contents(near))
            middle, overlap = len(all_records) // 2, len(all_records) // 40
            whole = figures(report(near))
            for more in (overlap, 5 * overlap):
                with self.subTest(near, overlap=more):
                    one = self.write("piece_1.pcap", head + b"".join(all_records[:middle + more]))
                    two = self.write("piece_2.pcap", head + b"".join(all_records[middle:]))
                    got = figures(report(one, two))
                    self.assertEqual(got["network"], whole["network"])
                    self.assertEqual(got["packets"], whole["packets"])
                    self.assertEqual(got["repeats"], whole["repeats"])
                    if "04_write_reorder.ca" in near:
                        continue  # open: the second sight of a NAK passes for a loss of what it names
                    self.assertEqual(got["lost"], whole["lost"])

    def test_records_in_the_wrong_order_are_not_trusted(self):
        head, all_records = records(contents(os.path.join(SAMPLES, "04_write_loss1.ca.pcap.zst")))
        for at in range(100, len(all_records) - 20, 20):
            all_records[at:at + 4] = reversed(all_records[at:at + 4])
        got = report(self.write("mixed.pcap", head + b"".join(all_records)))
        self.assertTrue(finding(got, "records_out_of_order"))
        for found in got["findings"]:
            if found["id"] not in ("records_out_of_order", "ecn_off"):  # which no order matters to
                self.assertLessEqual(found["confidence"], 0.5, found["id"])


if __name__ == "__main__":
    unittest.main()

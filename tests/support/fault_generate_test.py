#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""roce_fault_generate: its truth is well formed and belongs to the capture beside it.
Usage: fault_generate_test.py ROCE_FAULT_GENERATE"""

import filecmp
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

GENERATE = sys.argv.pop(1) if len(sys.argv) > 1 else "roce_fault_generate"
CAUSES = {"nak", "timeout", "rnr", "read_retry"}
KINDS = {"write", "send", "read_request", "atomic_request", "read_response", "atomic_response", "ack", "sequence_nak",
         "rnr_nak", "access_nak"}
WHERE = {"before_capture": "lost_before", "after_capture": "lost_after", "by_capture": "capture_dropped"}


def frames_of_pcap(path):
    with open(path, "rb") as file:
        data = file.read()
    position, frames = 24, []
    while position < len(data):
        size = struct.unpack_from("<I", data, position + 8)[0]
        frames.append(data[position + 16:position + 16 + size])
        position += 16 + size
    return frames


def times_of_pcap(path):
    with open(path, "rb") as file:
        data = file.read()
    position, times = 24, []
    while position < len(data):
        seconds, fraction, size = struct.unpack_from("<III", data, position)
        times.append(seconds * 10**9 + fraction)
        position += 16 + size
    return times


class FaultGenerate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def make(self, *arguments, name="out"):
        path = os.path.join(self.folder.name, name)
        subprocess.run([GENERATE, path, "--truth", path + ".jsonl", *arguments], check=True)
        with open(path + ".jsonl", encoding="ascii") as file:
            return path, [json.loads(line) for line in file]

    def test_truth_belongs_to_the_capture(self):
        path, truth = self.make("--faults", "all1", "--packets", "20000")
        frames = frames_of_pcap(path)
        self.assertEqual(truth[-1]["totals"]["frames"], len(frames))
        connections = {e["connection"]: e for e in truth if "a" in e}
        self.assertEqual(sorted(connections), list(range(64)))
        seen = set()
        for entry in truth[:-1]:
            if "a" in entry:
                self.assertEqual(len(entry["state"]), 2)
                self.assertLessEqual(sum(entry["answered"]), sum(entry["posted"]))
                continue
            self.assertIn(entry["kind"], KINDS)
            self.assertIn(entry["direction"], ("a_to_b", "b_to_a"))
            if "lost" in entry:
                self.assertIn(entry["lost"], WHERE)
                self.assertIs(type(entry["decidable"]), bool)
                if entry["frame"] is None:
                    continue
            else:
                self.assertNotIn(entry["frame"], seen)
                seen.add(entry["frame"])
            for key in ("original", "previous", "duplicate_network", "duplicate_capture"):
                self.assertLess(entry.get(key, 0), entry["frame"])
            if "retransmission" in entry:
                self.assertIn(entry["retransmission"], CAUSES)
                self.assertLessEqual(set(entry.get("also", ())), CAUSES)
            # The frame is what the truth says it is.
            frame, ends = frames[entry["frame"] - 1], connections[entry["connection"]]
            sender, receiver = (("a", "b"), ("b", "a"))[entry["direction"] == "b_to_a"]
            self.assertEqual(int.from_bytes(frame[51:54], "big"), entry["psn"])
            self.assertEqual(int.from_bytes(frame[47:50], "big"), ends[receiver]["qp"])
            self.assertEqual(".".join(map(str, frame[26:30])), ends[sender]["address"])
        for where, total in WHERE.items():
            told = sum(e.get("lost") == where for e in truth)
            if where == "by_capture":  # less what was lost behind it as well
                self.assertLessEqual(told, truth[-1]["totals"][total])
                self.assertGreater(told, truth[-1]["totals"][total] * 0.9)
            else:
                self.assertEqual(told, truth[-1]["totals"][total])

    def test_marks_are_as_the_truth_says(self):
        path, truth = self.make("--faults", "marks", "--packets", "20000", "--congested", "0.5", "--ce", "0.05",
                                "--cnp-faults", "0.3")
        wrong, wrong_cnps, ce, cnps = ({} for _ in range(4))
        frames = frames_of_pcap(path)
        for number, frame in enumerate(frames, 1):
            tag = int.from_bytes(frame[14:16], "big") if frame[12:14] == b"\x81\x00" else None
            ip = frame[18 if tag is not None else 14:]
            flow = ip[12:16], ip[16:20], int.from_bytes(ip[33:36], "big")
            marks = ip[1] >> 2, ip[1] & 3, ip[8], tag
            if ip[28] == 0x81:
                cnps[flow] = cnps.get(flow, 0) + 1
                if marks != (48, 0, 64, 6 << 13 | 100):
                    wrong_cnps[flow] = wrong_cnps.get(flow, 0) + 1
                continue
            if marks[1] == 3:
                ce[flow] = ce.get(flow, 0) + 1
            if marks not in ((26, 2, 64, 3 << 13 | 100), (26, 3, 64, 3 << 13 | 100)):
                count, first = wrong.get(flow, (0, number))
                wrong[flow] = count + 1, first
        key = lambda e: (*(bytes(map(int, e[end].split("."))) for end in ("src", "dst")), e["dst_qp"])
        self.assertEqual({key(e): (e["packets"], e["frame"]) for e in truth if "marking" in e}, wrong)
        self.assertEqual({key(e): e["packets"] for e in truth if "cnp_marking" in e}, wrong_cnps)
        congested = [e for e in truth if "congestion" in e]
        self.assertEqual({key(e): e["ce"] for e in congested if e["ce"]}, ce)
        self.assertEqual(sum(e["cnps"] for e in congested), sum(cnps.values()))
        self.assertTrue(wrong and wrong_cnps and ce)
        # Numbers count the CNPs between.
        repeats = [e for e in truth if "retransmission" in e]
        self.assertTrue(repeats)
        for entry in repeats:
            frame = frames[entry["frame"] - 1]
            ip = frame[18 if frame[12:14] == b"\x81\x00" else 14:]
            self.assertEqual(int.from_bytes(ip[37:40], "big"), entry["psn"])

    def test_pauses_are_as_the_truth_says(self):
        path, truth = self.make("--faults", "pauses", "--packets", "20000")
        xoff, xon = {}, {}
        for frame in frames_of_pcap(path):
            if frame[12:14] != b"\x88\x08":
                continue
            self.assertEqual((frame[:6], frame[14:18], len(frame)), (b"\x01\x80\xc2\0\0\x01", b"\1\1\0\x08", 60))
            counts = xoff if any(frame[24:26]) else xon
            counts[frame[6:12]] = counts.get(frame[6:12], 0) + 1
        pauses = [e for e in truth if "pause" in e]
        self.assertEqual({e["pause"] for e in pauses},
                         {"resumed", "refreshed", "expiring", "needless_xon", "storm", "mutual"})
        port = lambda e: bytes.fromhex(e["port"].replace(":", ""))
        self.assertEqual({port(e): e["xoff"] for e in pauses}, xoff)
        self.assertEqual({port(e): e["xon"] for e in pauses if e["xon"]}, xon)

    def test_damaged_packets_of_one_way(self):
        path, truth = self.make("--packets", "20000", "--corrupt-before", "0.01", "--only-to", "2")
        lost = [e for e in truth if "lost" in e]
        self.assertEqual(len(lost), truth[-1]["totals"]["damaged"])
        self.assertGreater(len(lost), 20)
        frames = frames_of_pcap(path)
        for entry in lost:
            self.assertEqual((entry["lost"], entry["damaged"]), ("before_capture", True))
            self.assertEqual(frames[entry["frame"] - 1][30:34], b"\x0a\x4e\0\2")

    def test_truth_belongs_to_a_file_in_the_order_of_its_stamps(self):
        for arguments in (["--stamp-jitter-ns", "50000"], ["--rx-batch-ns", "30000"], ["--clock-b-ns", "-30000"], ["--clock-b-ns", "30000"]):
            path, truth = self.make("--faults", "loss1", "--packets", "5000", *arguments)
            frames, times = frames_of_pcap(path), times_of_pcap(path)
            self.assertEqual(times, sorted(times))
            repeats = [e for e in truth if "retransmission" in e]
            self.assertTrue(repeats)
            for entry in repeats:
                self.assertEqual(int.from_bytes(frames[entry["frame"] - 1][51:54], "big"), entry["psn"])
                self.assertLess(entry.get("original", 0), entry["frame"])
                self.assertLess(entry.get("previous", 0), entry["frame"])
            listed = [e["frame"] for e in truth if "frame" in e and "lost" not in e]
            self.assertEqual(len(set(listed)), len(listed))

    def test_snap_length(self):
        path, _ = self.make("--packets", "500", "--snap", "96")
        self.assertEqual(max(map(len, frames_of_pcap(path))), 96)

    def test_clean_traffic(self):
        path, truth = self.make("--packets", "5000", "--qps", "3", "--mix", "1", "0", "0", "0", "--path-mtu", "1024")
        self.assertEqual(len(truth), 4)  # three connections and the totals
        opcodes = {frame[42] for frame in frames_of_pcap(path)}
        self.assertEqual(opcodes, {6, 7, 8, 10, 17})

    def test_two_interfaces(self):
        path, _ = self.make("--packets", "500", "--format", "pcapng", "--split-interfaces")
        with open(path, "rb") as file:
            data = file.read()
        position, interfaces, by_source = 0, 0, {}
        while position < len(data):
            kind, size = struct.unpack_from("<II", data, position)
            if kind == 1:
                interfaces += 1
            elif kind == 6:
                interface = struct.unpack_from("<I", data, position + 8)[0]
                flow = data[position + 28 + 26:position + 28 + 34] + data[position + 28 + 47:position + 28 + 50]
                self.assertEqual(by_source.setdefault(flow, interface), interface)
            position += size
        self.assertEqual((interfaces, set(by_source.values())), (2, {0, 1}))

    def test_same_seed_same_bytes(self):
        one, _ = self.make("--faults", "loss1", "--packets", "3000", "--seed", "5", name="one")
        two, _ = self.make("--faults", "loss1", "--packets", "3000", "--seed", "5", name="two")
        other, _ = self.make("--faults", "loss1", "--packets", "3000", "--seed", "6", name="other")
        self.assertTrue(filecmp.cmp(one, two, shallow=False))
        self.assertTrue(filecmp.cmp(one + ".jsonl", two + ".jsonl", shallow=False))
        self.assertFalse(filecmp.cmp(one, other, shallow=False))

    def test_refusals(self):
        for arguments in (["--faults", "none_such"], ["--faults", "marks", "--cm"],
                          ["--faults", "marks", "--capture-duplicate", "0.1"], ["--window", "4"],
                          ["--stamp-jitter-ns", "10", "--capture-duplicate", "0.1"], ["--timer-sends-oldest"],
                          ["--drop-queued", "--duplicate-before", "0.1"], ["--generations", "3"],
                          ["--generations", "4", "--cm"], ["--faults", "marks", "--corrupt-before", "0.1"],
                          ["--faults", "pauses", "--pauses-hold"], ["--faults", "marks", "--mismark", "none_such"],
                          ["--loss-before", "2"], ["--split-interfaces"], ["--mix", "0", "0", "0", "0"]):
            result = subprocess.run([GENERATE, os.devnull, *arguments], capture_output=True, text=True)
            self.assertEqual(result.returncode != 0, True, arguments)
            self.assertTrue(result.stderr)
        self.assertEqual(subprocess.run([GENERATE, "/dev/full"], capture_output=True).returncode, 3)
        self.assertEqual(subprocess.run([GENERATE, os.devnull, "--faults", "all1", "--truth", "/dev/full"],
                                        capture_output=True).returncode, 3)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kinds of loss that no draw makes: a link with a smaller MTU, even intervals, one path or class of several, and repeats
that are lost as well. The
generator makes each, and the report must say so, and say nothing of it where it is not so. Usage: loss_kinds_test.py
ROCE_FAULT_GENERATE ROCEANALYZE"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, GENERATE = sys.argv.pop(2), sys.argv.pop(1)
COMMON = ("--mix", "1", "1", "0", "0")
FEW = ("--hosts", "3", "--qps", "8")


def report(*options, seed=3, packets=6000):
    """The report, and the lines of the truth."""
    with tempfile.TemporaryDirectory() as folder:
        capture, truth = os.path.join(folder, "capture.pcap"), os.path.join(folder, "truth")
        subprocess.run([GENERATE, "--packets", str(packets), "--seed", str(seed), *COMMON, *options, "--truth", truth,
                        capture], check=True, timeout=120)
        done = subprocess.run([PROGRAM, "report", "--json", capture], check=True, timeout=120, capture_output=True)
        with open(truth, encoding="utf-8") as lines:
            return json.loads(done.stdout), [json.loads(line) for line in lines]


def facts_with(found, words):
    return [fact for each in found["diagnoses"] for fact in each["facts"] if words in fact]


class BySize(unittest.TestCase):
    SIZES = (*FEW, "--path-mtu", "4096", "--max-message-packets", "1")

    def test_a_link_with_a_smaller_mtu(self):
        for seed in (3, 4, 5):
            found, _ = report(*self.SIZES, "--max-payload", "3900", seed=seed)
            first = found["diagnoses"][0]
            self.assertEqual((first["cause"], first["kind"], first["severity"]), ("path_mtu", "by_size", "fatal"))
            self.assertTrue(facts_with(found, "as behind a link with a smaller MTU"), first)

    def test_a_way_that_dies_is_none(self):
        for seed in (3, 4, 5):
            found, _ = report(*self.SIZES, "--outage-after-ns", "100000", seed=seed)
            self.assertNotIn("by_size", {each["kind"] for each in found["diagnoses"]})

    def test_nor_are_losses_of_any_size(self):
        found, _ = report(*self.SIZES, "--loss-after", "0.02")
        self.assertNotIn("by_size", {each["kind"] for each in found["diagnoses"]})


def first_loss(found):
    return next(each for each in found["diagnoses"] if each["cause"] == "loss")


class Periodic(unittest.TestCase):
    WAY = ("--hosts", "2", "--qps", "4", "--only-from", "1", "--victims", "requests", "--idle-ns", "5000")

    def test_losses_at_even_intervals(self):
        for seed in (3, 4, 5):
            found, _ = report(*self.WAY, "--loss-period-ns", "50000", seed=seed, packets=15000)
            loss = first_loss(found)
            self.assertEqual(loss["kind"], "periodic", loss["sentence"])
            self.assertTrue(facts_with(found, "At even intervals of "), loss)

    def test_losses_at_random_have_no_period(self):
        for seed in (3, 4, 5):
            found, _ = report(*self.WAY, "--loss-before", "0.005", seed=seed)
            self.assertNotEqual(first_loss(found)["kind"], "periodic")


def with_dscp(capture, flows, dscp):
    """Rewrites a capture of Ethernet and IPv4: packets of these (destination, QP) get that DSCP. The ICRC does not cover it."""
    with open(capture, "rb") as file:
        data = bytearray(file.read())
    at = 24
    while at < len(data):
        size = int.from_bytes(data[at + 8:at + 12], "little")
        ip = at + 16 + 14
        flow = (".".join(map(str, data[ip + 16:ip + 20])), int.from_bytes(data[ip + 28 + 5:ip + 28 + 8], "big"))
        if flow in flows:
            data[ip + 1] = dscp << 2
            data[ip + 10:ip + 12] = b"\0\0"
            total = sum(int.from_bytes(data[ip + i:ip + i + 2], "big") for i in range(0, 20, 2))
            total = (total & 0xffff) + (total >> 16)
            data[ip + 10:ip + 12] = (~(total + (total >> 16)) & 0xffff).to_bytes(2, "big")
        at += 16 + size
    with open(capture, "wb") as file:
        file.write(data)


class OfOnePart(unittest.TestCase):
    """One connection of eight between two hosts loses packets: it is the only one on its path, or of its class."""
    PART = ("--hosts", "2", "--qps", "8", "--only-connection", "3", "--loss-before", "0.02", "--victims", "requests")

    def test_of_one_source_port(self):
        for seed in (3, 4, 5):
            found, _ = report(*self.PART, "--udp-port", "formula", seed=seed)
            loss = first_loss(found)
            self.assertEqual(loss["kind"], "by_path", loss["sentence"])
            self.assertTrue(facts_with(found, "Only with UDP source port"), loss)

    def test_of_one_class(self):
        for seed in (3, 4, 5):
            with tempfile.TemporaryDirectory() as folder:
                capture = os.path.join(folder, "capture.pcap")
                subprocess.run([GENERATE, "--packets", "6000", "--seed", str(seed), *COMMON, *self.PART, "--udp-port", "constant",
                                capture], check=True, timeout=120)

                def read():
                    return json.loads(subprocess.run([PROGRAM, "report", "--json", capture], check=True, timeout=120,
                                                     capture_output=True).stdout)
                lossy = first_loss(read())["connections"][0]
                joined = next(each for each in read()["connections"] if each["id"] == lossy)
                ends = [(joined[end]["address"], joined[end]["qp"]) for end in "ab"]
                with_dscp(capture, ends, 10)
                found = read()
                self.assertEqual(found["roce"]["icrc"]["mismatch"], 0)
                loss = first_loss(found)
                self.assertEqual(loss["kind"], "by_class", loss["sentence"])
                self.assertTrue(facts_with(found, "Only with DSCP 10"), loss)

    def test_where_all_lose_it_is_of_no_part(self):
        found, _ = report(*self.PART[:4], "--loss-before", "0.02", "--udp-port", "formula")
        self.assertNotIn(first_loss(found)["kind"], ("by_path", "by_class"))


class LostAgain(unittest.TestCase):
    def test_timers_for_lost_repeats(self):
        """Upstream, where the capture shows the gap twice: what is told is at most what is true, and mostly told."""
        told = true = 0
        for seed in (3, 4, 5):
            found, truth = report(*FEW, "--loss-before", "0.05", seed=seed, packets=10000)
            told += sum(each["lost"]["again"] for each in found["incidents"])
            lost, last = set(), {}
            for line in truth:
                if "psn" not in line or line["kind"] not in ("write", "send"):
                    continue
                way, psn = (line["connection"], line["direction"]), line["psn"]
                if "lost" in line:
                    if line.get("repeat") and line["decidable"]:
                        lost.add((way, psn))
                elif line.get("retransmission") == "timeout":
                    # What a timer sends begins where the last one did not go on.
                    true += last.get(way) != psn - 1 and (way, psn) in lost
                    last[way] = psn
                else:
                    last.pop(way, None)
        self.assertGreater(true, 20)
        self.assertLessEqual(told, true)
        self.assertGreaterEqual(told, true // 2)

    def test_without_losses_of_repeats_there_are_none(self):
        found, _ = report(*FEW, "--loss-before", "0.001")
        self.assertEqual(sum(each["lost"]["again"] for each in found["incidents"]), 0)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What captures can bear: ten samples are sampled, filtered, halved, pierced, and merged with the capture at another
point, and each time the first line of the report has to say so, nothing may be told of losses, and nothing may look good.
Of samples as they are, nothing of that may be said.

Usage: completeness_test.py ROCEANALYZE SAMPLES"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import capture_variants as variants  # noqa: E402

PROGRAM, SAMPLES = sys.argv.pop(1), sys.argv.pop(1)
TEN = ("02_write_bw_64k", "02_send_bw_64k", "02_read_bw_q4", "06_mix_4qp", "06_mix_ops", "07_ce_netem10.ca", "10_nvmeof_io",
       "11_three_hosts", "04_write_loss1.ca", "14_mtu1500_loss.cb")
# Where packets are lost and sent again, a row of them that the capture lacks looks like lost ones.
WITHOUT_LOSS = TEN[:-2] + ("61_write_bw_64k", "06_psnwrap_write")
# The same traffic on both sides of a switch that loses, delays or marks some of it.
BOTH_SIDES = ("04_write_loss1", "04_read_loss1", "04_write_jitter", "04_ack_dup", "04_write_ackloss10", "04_write_corrupt",
              "07_ce_netem10", "07_ce_netem_v6", "14_mtu1500_loss", "61_write_loss1")
# What may be said of a capture that does not have all packets, or both directions: what one packet says.
SAID_BY_ONE_PACKET = {"ecn_off", "not_ect", "udp_source_ports", "cm_rejected", "asymmetric_capture", "rnr",
                      "icrc_corruption", "version_mix", "cm_traffic_class", "marking_changes", "marking_directions"}
DIAGNOSES_BY_ONE_PACKET = {"capture", "connection_refused", "request_refused", "receiver_not_ready", "corruption", "marking",
                           "congestion"}
LOSSES = {"loss_before_capture", "loss_after_capture", "loss_by_capture", "loss_between_points", "uc_message_loss"}
ACKNOWLEDGE, MIDDLE, LAST = 0x11, (0x01, 0x07, 0x0E), (0x02, 0x03, 0x08, 0x09, 0x0F, 0x16)


def path_of(name):
    return next(path for ending in (".pcap.zst", ".pcap", ".pcapng.zst")
                if os.path.exists(path := os.path.join(SAMPLES, name + ending)))


def run(*words):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=300, capture_output=True, text=True)
    assert done.returncode in (0, 3), (words, done.returncode, done.stderr)
    return done.stdout


class Completeness(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.records = {name: variants.read(path_of(name)) for name in TEN}

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def judged(self, records):
        """The JSON report of a capture, the first line of the text, and the HTML."""
        path = os.path.join(self.folder.name, "variant.pcap")
        variants.write(path, records)
        text = run("report", path)
        first = [line for line in text.splitlines() if not line.startswith(("INCOMPLETE", " "))][0]
        return json.loads(run("report", "--json", path)), first, text, run("report", "--html", path)

    def recognised(self, records, word, said=frozenset(SAID_BY_ONE_PACKET), diagnoses=frozenset(DIAGNOSES_BY_ONE_PACKET)):
        """Returns what is said of the capture."""
        report, first, text, html = self.judged(records)
        found = report["capture"]["completeness"]
        self.assertTrue(found["limited"], found)
        self.assertTrue(first.startswith("LIMITED"), first)
        # It may take more than a line of the terminal.
        self.assertIn(word, " ".join(found["text"].split()))
        self.assertEqual(" ".join(text.split()).find(" ".join(found["text"].split())) >= 0, True)
        self.assertNotIn("nothing wrong found", text)
        self.assertNotIn("nothing serious", text)
        self.assertNotIn("Nothing wrong found", html)
        self.assertNotIn('class="verdict good"', html)
        self.assertIn("LIMITED", html)
        if said is not None:
            self.assertLessEqual({finding["id"] for finding in report["findings"]}, said)
            self.assertLessEqual({each["cause"] for each in report["diagnoses"]}, diagnoses)
        return found

    def check_sampled(self, records, one_in, regular):
        captured = sum(variants.carries_psn(frame) for _, _, frame in records)
        # Nobody knows by two or three packets how many there were between them; but nothing may look good.
        few = captured < 8
        found = self.recognised(records, "" if few else "sampled")
        if few:
            return None
        self.assertIsNotNone(found["sampled"])
        # Less is known by few packets, and where much was sent again.
        within = 3 if captured < 30 else 2.4
        self.assertLess(one_in / within, found["sampled"]["one_in"])
        self.assertLess(found["sampled"]["one_in"], one_in * within)
        self.assertIn(found["sampled"]["regular"], (regular, None))
        return found["sampled"]["regular"]

    def test_sampled_regularly(self):
        told = []
        for name, records in self.records.items():
            for one_in in (2, 16, 100):
                with self.subTest(name, one_in=one_in):
                    told.append(self.check_sampled(variants.regular(records, one_in, 1), one_in, True))
        self.assertGreaterEqual(told.count(True), 17)

    def test_sampled_at_random(self):
        told = []
        for name, records in self.records.items():
            for one_in in (2, 16, 100):
                for seed in (3, 5):
                    with self.subTest(name, one_in=one_in, seed=seed):
                        told.append(self.check_sampled(variants.at_random(records, one_in, seed), one_in, False))
        self.assertGreaterEqual(told.count(False), 28)

    def test_filtered_by_opcode(self):
        for name, records in self.records.items():
            with self.subTest(name, kept="no Middle and Last"):
                if sum(variants.part(frame) in MIDDLE for _, _, frame in records) < 8:
                    continue
                found = self.recognised(variants.only(records, lambda opcode: opcode & 31 not in MIDDLE + LAST), "filtered")
                self.assertTrue(any("Middle" in each for each in found["opcode_filtered"]), found)
        for name, records in self.records.items():
            with self.subTest(name, kept="no Acknowledge"):
                if sum(variants.part(frame) == ACKNOWLEDGE for _, _, frame in records) < 8:
                    continue
                # Where nothing else comes back, it may as well be one direction only.
                self.recognised(variants.only(records, lambda opcode: opcode & 31 != ACKNOWLEDGE), "filtered")

    def test_one_direction(self):
        for name, records in self.records.items():
            senders = sorted({source for _, _, frame in records if (source := variants.source(frame))})
            for sender in senders:
                with self.subTest(name, sender=sender.hex()):
                    # What others send to each other is whole.
                    said = None if len(senders) > 2 else frozenset(SAID_BY_ONE_PACKET)
                    kept = [record for record in records if variants.source(record[2]) in (None, sender)]
                    found = self.recognised(kept, "one direction", said)
                    self.assertGreater(found["one_direction"], 0)

    def test_a_hole(self):
        for name, at in ((name, at) for name in WITHOUT_LOSS for at in (0.4, 0.5, 0.6)):
            if (name, at) == ("11_three_hosts", 0.5):  # between two connections that follow each other: nothing shows it
                continue
            with self.subTest(name, at=at):
                cut, after = variants.without_some(variants.read(path_of(name)), 30, at)
                found = self.recognised(cut, "hole", None)
                self.assertEqual(len(found["holes"]), 1, found)
                hole = found["holes"][0]
                self.assertTrue(hole["after_packet"] <= after < hole["before_packet"], (after, hole))
                self.assertLess(hole["before_packet"] - hole["after_packet"], 32)
                self.assertLessEqual(6, hole["packets"])
                self.assertLessEqual(hole["packets"], 30)
                report, _, _, _ = self.judged(cut)
                self.assertFalse({finding["id"] for finding in report["findings"]} & LOSSES)
                self.assertNotIn("loss", [each["cause"] for each in report["diagnoses"]])

    def test_datagrams(self):
        # One queue pair of UD sends, and nothing answers: a hole and a sample are all that is missing.
        records = variants.read(path_of("02_send_bw_ud"))
        places = [place for place, (_, _, frame) in enumerate(records) if variants.opcode(frame) is not None]
        for at in (0.2, 0.4, 0.6):
            with self.subTest("a hole", at=at):
                begin = places[int(len(places) * at)]
                found = self.recognised(records[:begin] + records[begin + 30:], "30 of 100 UD packets are not in the capture")
                self.assertEqual(found["datagrams_missing"], 30)
        for one_in in (2, 16):
            with self.subTest("sampled", one_in=one_in):
                kept = variants.regular([record for record in records if variants.opcode(record[2]) is not None], one_in)
                found = self.recognised(kept, "sampled")
                self.assertAlmostEqual(found["sampled"]["one_in"], one_in, delta=one_in / 4)

    def test_two_points_in_one_interface(self):
        for name in BOTH_SIDES:
            with self.subTest(name):
                both = sorted(variants.read(path_of(name + ".ca")) + variants.read(path_of(name + ".cb")),
                              key=lambda record: record[0])
                found = self.recognised(both, "several points", None)
                self.assertGreater(found["doubled"], 0.4)
                report, _, _, _ = self.judged(both)
                self.assertFalse({finding["id"] for finding in report["findings"]} & LOSSES)
                self.assertNotIn("loss", [each["cause"] for each in report["diagnoses"]])

    def test_samples_as_they_are(self):
        checked = 0
        for name in sorted(os.listdir(SAMPLES)):
            if ".pcap" not in name:
                continue
            with self.subTest(name):
                found = json.loads(run("report", "--json", os.path.join(SAMPLES, name)))["capture"]["completeness"]
                self.assertIsNone(found["sampled"])
                self.assertEqual((found["opcode_filtered"], found["holes"], found["one_direction"]), ([], [], 0))
                # The same packets several times in one interface; and cut before the AETH.
                doubled = name.startswith(("09_mirror_and_original", "13_any_switch", "13_merged_ends"))
                self.assertEqual(found["limited"], doubled or name.startswith("13_snap54"), found)
                checked += 1
        self.assertGreater(checked, 100)


if __name__ == "__main__":
    unittest.main()

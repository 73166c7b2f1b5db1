#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What devices of different makers write into the same packets must not change what is said of them: UDP source ports,
IPv4 IDs, TTLs, UDP checksums, flow labels, MigReq, P_Key, CNPs that a switch made, timers that are not 4.096 us times a
power of two. Simulated traffic, rewritten, against what is said of it as it was.

Usage: vendor_habits_test.py GENERATE ROCEANALYZE"""

import collections
import os
import random
import re
import struct
import sys
import unittest

import derived_case
import capture_variants as variants
import measure
from derived_case import fresh, report, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import mrc_fabric  # noqa: E402

SEED = 61
SWITCH = bytes([10, 99, 0, 1])
ANSWERS = ("ack", "sequence_nak", "rnr_nak")
LOST = ("before_capture", "after_capture", "by_capture", "trimmed")


class Packet:
    """A frame of RoCE v2 in parts; `frame()` puts it together with right checksums and ICRC."""

    def __init__(self, frame):
        at = variants.bth(frame)
        self.v6 = frame[at - 50:at - 48] == b"\x86\xdd"
        begin = at - 8 - (40 if self.v6 else 20)
        self.eth, self.ip = frame[:begin], bytearray(frame[begin:at - 8])  # with its tags
        self.rest = bytearray(frame[at - 8:-4])  # from the UDP header on

    opcode = property(lambda self: self.rest[8])
    flow = property(lambda self: bytes(self.ip[8:] if self.v6 else self.ip[12:]) + bytes(self.rest[13:16]))

    def frame(self):
        if not self.v6:
            self.ip[10:12] = b"\0\0"
            self.ip[10:12] = struct.pack(">H", mrc_fabric.checksum(bytes(self.ip)))
        return self.eth + bytes(self.ip) + bytes(self.rest) + mrc_fabric.icrc(bytes(self.ip), bytes(self.rest))


def rewritten(records, change):
    """What `change` makes of each packet, which it is given with its number."""
    changed = []
    for number, (time, _, frame) in enumerate(records):
        packet = Packet(frame)
        change(packet, number)
        frame = packet.frame()
        changed.append((time, len(frame), frame))
    return changed


def port(value):
    def change(packet, number):
        packet.rest[0:2] = struct.pack(">H", value(packet, number))
    return change


def ip_id(value):
    def change(packet, number):
        packet.ip[4:8] = struct.pack(">HH", value(packet, number) & 0xFFFF, 0x4000)
    return change


def byte_of_ip(at, value):
    def change(packet, _):
        packet.ip[at] = value
    return change


def udp_checksum(packet, number):
    packet.rest[6:8] = struct.pack(">H", 1 + number % 65535)


def flow_label(packet, _):
    packet.ip[1:4] = bytes([packet.ip[1] & 0xF0 | packet.flow[-1] & 15]) + packet.flow[-2:]


def one_way_without_migreq(packet, _):
    if packet.ip[15 if not packet.v6 else 23] == 1:
        packet.rest[9] &= 0xBF


def limited_member(packet, _):
    packet.rest[10:12] = b"\x7f\xff"


def by_flow(packet, _):
    return random.Random(packet.flow).randrange(65536)


# Ports of drivers: the constant of mlx5 address handles, of ionic in two versions, of bnxt, 0, below 49152, any.
PORTS = {"49152": lambda p, n: 49152, "28272": lambda p, n: 28272, "36049": lambda p, n: 36049, "0": lambda p, n: 0,
         "below 49152": lambda p, n: 1 + by_flow(p, n) % 49151, "any, by flow": by_flow}
ALIKE = {"TTL 255": byte_of_ip(8, 255), "TTL 1": byte_of_ip(8, 1), "UDP checksum": udp_checksum,
         "no MigReq one way": one_way_without_migreq, "P_Key 0x7fff": limited_member}
IDS = {"0": lambda p, n: 0, "constant": lambda p, n: 0x1234, "of the NIC": lambda p, n: n,
       "of the NIC, low bytes first": lambda p, n: (n & 0xFF) << 8 | n >> 8 & 0xFF,
       "random": lambda p, n: random.Random(n).randrange(65536)}


def verdicts(told):
    """Of each flow, whatever its port: what was sent again, lost, late."""
    return {(flow["src"], flow["dst"], flow["dst_qp"]): (flow["packets"], flow["retransmitted"], flow["lost"],
                                                         flow["out_of_order"], flow["duplicate_network"],
                                                         flow["duplicate_captures"], flow["icrc_mismatches"])
            for flow in told["flows"]}


class VendorHabits(derived_case.DerivedCase):
    def told(self, records, *options):
        variants.write(self.path("habit.pcap"), records)
        return report(self.path("habit.pcap"), *options)

    def expect_alike(self, habits, ids, *options):
        records = self.generate("--packets", "6000", "--qps", "4", "--hosts", "2", "--faults", "loss1", "--ip-id", ids,
                                "--seed", str(SEED), *options)
        records = rewritten(records, lambda packet, number: None)
        expected = self.told(records)
        self.assertGreater(sum(sum(flow["lost"][place] for place in LOST) for flow in expected["flows"]), 20)
        for name, change in habits.items():
            with self.subTest(name):
                told = self.told(rewritten(records, change))
                self.assertEqual(verdicts(told), verdicts(expected))
                self.assertEqual(len(told["connections"]), len(expected["connections"]))
                for one, other in zip(told["connections"], expected["connections"]):
                    self.assertEqual((one["a"], one["b"], one["lost"]), (other["a"], other["b"], other["lost"]))
                more = {each["id"] for each in told["findings"]} - {each["id"] for each in expected["findings"]}
                self.assertFalse(more & {"loss_by_capture", "icrc_corruption", "illegal_sequence", "duplicates_network"}, more)

    def test_any_source_port(self):
        self.expect_alike({name: port(value) for name, value in PORTS.items()}, "flow")

    def test_fields_that_say_nothing(self):
        self.expect_alike(ALIKE, "flow")

    def test_any_flow_label(self):
        self.expect_alike({"flow label": flow_label}, "flow", "--ipv6")

    def test_any_ip_id(self):
        """IDs tell more or less of the order of sending; where they do not, no loss or copy may be made of it."""
        for faults in ((), ("--faults", "loss1")):
            records = self.generate("--packets", "6000", "--qps", "4", "--hosts", "2", "--seed", str(SEED + 1), *faults)
            truth = measure.Truth(self.path("truth"))
            connections = {each["connection"]: each for each in truth.connections}
            real = collections.Counter()
            for loss in truth.losses:
                real[measure.flow_key(connections[loss["connection"]], loss["direction"])] += loss["kind"] not in ANSWERS
            for name, value in IDS.items():
                with self.subTest(f"{name}, {faults}"):
                    told = self.told(rewritten(records, ip_id(value)))
                    shown = collections.Counter()
                    for flow in told["flows"]:
                        shown[flow["src"], flow["dst"], flow["dst_qp"]] += sum(flow["lost"][place] for place in LOST)
                        self.assertEqual((flow["duplicate_captures"], flow["lost"]["by_capture"]), (0, 0))
                        # Without an ID that changes, a repeat that follows at once looks like a copy of the network.
                        self.assertLessEqual(flow["duplicate_network"], len(faults) // 2)
                    self.assertFalse(shown - real)
                    self.assertGreaterEqual(sum(shown.values()), 0.5 * sum(real.values()))

    def test_cnps_that_a_switch_made(self):
        """From its own address, before any CE mark: then there is no time from CE to CNP, and nobody is at fault."""
        records = self.generate("--packets", "8000", "--qps", "4", "--hosts", "2", "--faults", "congestion", "--mismarked",
                                "0", "--cnp-faults", "0", "--seed", str(SEED + 2))
        cnps = sum(frame[variants.bth(frame)] == 0x81 for _, _, frame in records)
        self.assertGreater(cnps, 10)
        before = self.told(records)
        self.assertGreater(before["congestion"]["ce_to_cnp_ns"]["count"], 0)

        def of_switch(packet, _):
            packet.ip[1] &= 0xFE  # ECT(0), or what it was
            if packet.opcode == 0x81:
                packet.ip[12:16] = SWITCH
        told = self.told(rewritten(records, of_switch))
        congestion = told["congestion"]
        self.assertEqual((congestion["ce_packets"], congestion["cnp_packets"], congestion["ce_to_cnp_ns"]["count"]), (0, cnps, 0))
        self.assertEqual(len(told["connections"]), len(before["connections"]))
        self.assertEqual(sum(sum(flow["lost"][place] for place in LOST) for flow in told["flows"]), 0)
        blamed = {each["id"] for each in told["findings"]} & {"ce_without_cnp", "cnp_ignored", "cnp_marking",
                                                              "icrc_corruption", "asymmetric_capture"}
        self.assertFalse(blamed)
        text = run("report", self.path("habit.pcap"))
        self.assertNotIn("CE to CNP", text)

    def test_adaptive_timers(self):
        """Repeats after silences of which none is 4.096 us times a power of two, nor twice the one before: they are the
        timer's, and neither a timeout nor a count of retries is derived from them."""
        records = self.generate("--packets", "3000", "--qps", "1", "--hosts", "2", "--mix", "1", "0", "0", "0", "--seed",
                                str(SEED + 3))
        ends = [number for number, (_, _, frame) in enumerate(records) if variants.opcode(frame) in (0x08, 0x0A)]
        last = ends[len(ends) // 2]
        time, _, frame = records[last]
        told_before = records[:last + 1]
        waits = (1_300_000, 2_100_000, 2_900_000, 1_700_000, 3_300_000, 2_300_000, 2_500_000, 2_700_000)
        for number, wait in enumerate(waits):
            time += wait
            packet = Packet(frame)
            packet.ip[4:6] = struct.pack(">H", int.from_bytes(packet.ip[4:6], "big") + 1 + number & 0xFFFF)
            told_before.append((time, len(frame), packet.frame()))
        told = self.told(told_before)
        self.assertEqual(sum(flow["retransmitted"]["timeout"] for flow in told["flows"]), len(waits))
        text = " ".join(run("report", self.path("habit.pcap"), "--findings").split())
        for derived in (r"timeout 1\d\b", r"4\.19 ms", r"local ACK timeout \d"):
            self.assertIsNone(re.search(derived, text), text)


if __name__ == "__main__":
    unittest.main()

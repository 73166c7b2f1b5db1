#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packets that prove nothing: damaged ones, and UDP to port 4791 that is no RoCE.
Usage: strange_packets_test.py ROCEANALYZE SAMPLES"""

import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM, SAMPLES = sys.argv.pop(1), sys.argv.pop(1)
ETHERNET, IPV4, UDP = 14, 20, 8
BTH = ETHERNET + IPV4 + UDP
ROCE_PORT = struct.pack(">H", 4791)


def read_pcap(name):
    with open(os.path.join(SAMPLES, name), "rb") as file:
        data = file.read()
    header, at, packets = data[:24], 24, []
    while at < len(data):
        seconds, fraction, size, _ = struct.unpack("<IIII", data[at:at + 16])
        packets.append([seconds, fraction, bytearray(data[at + 16:at + 16 + size])])
        at += 16 + size
    return header, packets


def is_roce(frame):
    return frame[12:14] == b"\x08\0" and frame[23] == 17 and frame[36:38] == ROCE_PORT


def with_checksum(frame):
    frame[24:26] = b"\0\0"
    total = sum(struct.unpack(">10H", frame[ETHERNET:ETHERNET + IPV4]))
    while total >> 16:
        total = (total >> 16) + (total & 0xFFFF)
    frame[24:26] = struct.pack(">H", ~total & 0xFFFF)
    return frame


class Strange(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.header, self.packets = read_pcap("03_rping.pcap")
        self.roce = [i for i, p in enumerate(self.packets) if is_roce(p[2])]

    def tearDown(self):
        self.folder.cleanup()

    def report(self, packets, *options):
        path = os.path.join(self.folder.name, "made.pcap")
        with open(path, "wb") as file:
            file.write(self.header)
            for seconds, fraction, frame in packets:
                file.write(struct.pack("<IIII", seconds, fraction, len(frame), len(frame)) + bytes(frame))
        result = subprocess.run([PROGRAM, "--json", *options, path], capture_output=True, check=True)
        return json.loads(result.stdout)

    def datagram(self, payload, port, like, host=b"\x0a\x4d\0\1"):
        seconds, fraction, frame = self.packets[like]
        made = bytearray(frame[:ETHERNET + IPV4])
        made[16:18] = struct.pack(">H", IPV4 + UDP + len(payload))
        made[26:30] = host
        with_checksum(made)
        return [seconds, fraction, made + struct.pack(">HHHH", port, 4791, UDP + len(payload), 0) + payload]

    @staticmethod
    def damaged(packet, at, flip):
        seconds, fraction, frame = packet
        frame = bytearray(frame)
        frame[at] ^= flip
        return [seconds, fraction, frame]

    def test_a_damaged_cm_message_makes_no_exchange(self):
        whole = self.report(self.packets)
        request = next(i for i in self.roce if self.packets[i][2][BTH] == 0x64)
        comm_id = BTH + 12 + 8 + 24  # BTH, DETH, MAD
        late = self.damaged(self.packets[request], comm_id, 0x40)
        last = self.roce[-1]
        report = self.report(self.packets[:last] + [[*self.packets[last][:2], late[2]]] + self.packets[last:])
        self.assertEqual(len(report["cm_exchanges"]), len(whole["cm_exchanges"]))
        self.assertEqual(len(report["flows"]), len(whole["flows"]))
        self.assertEqual(report["roce"]["icrc"]["mismatch"], 1)

    def test_random_udp_to_port_4791_is_no_roce(self):
        whole = self.report(self.packets)
        noise = random.Random(4791)
        # To the same server as real RoCE, from a host of its own and from one that sends RoCE too.
        strange = [self.datagram(noise.randbytes(noise.randrange(16, 200)), noise.choice((5000, 6000)), self.roce[-1],
                                 host=noise.choice((b"\x0a\x4d\0\x09", b"\x0a\x4d\0\1"))) for _ in range(300)]
        last = self.roce[-1] + 1
        report = self.report(self.packets[:last] + strange + self.packets[last:])
        self.assertEqual(report["other_traffic"]["udp_port_4791_not_roce"], 300)
        for key in ("roce", "connections", "cm_exchanges", "congestion", "markings", "series"):
            self.assertEqual(report[key], whole[key], key)
        self.assertEqual([f["id"] for f in report["findings"]], [f["id"] for f in whole["findings"]])
        without_id = [[{k: v for k, v in flow.items() if k != "id"} for flow in r["flows"]]
                      for r in (whole, report)]
        self.assertEqual(*without_id)
        first = self.report(strange + self.packets)
        self.assertEqual(first["roce"], whole["roce"])
        self.assertEqual(len(first["flows"]), len(whole["flows"]))
        only = self.report(strange)
        self.assertEqual(only["other_traffic"]["udp_port_4791_not_roce"], 300)
        self.assertEqual((only["roce"]["packets"], only["flows"], only["findings"]), (0, [], []))

    def test_without_icrcs_too(self):
        noise = random.Random(1)
        payloads = [noise.randbytes(100) for _ in range(100)]
        strange = [self.datagram(p, 5000, self.roce[5]) for p in payloads if p[1] & 0x0F]
        for options in (("--no-icrc",), ("-Y", "udp")):
            report = self.report(self.packets + strange, *options)
            self.assertEqual(report["other_traffic"]["udp_port_4791_not_roce"], len(strange))

    def test_a_damaged_version_is_damage(self):
        whole = self.report(self.packets)
        for at in (self.roce[0], self.roce[len(self.roce) // 2], self.roce[-1]):
            packets = list(self.packets)
            packets[at] = self.damaged(packets[at], BTH + 1, 0x04)
            report = self.report(packets)
            self.assertEqual(report["other_traffic"]["udp_port_4791_not_roce"], 0)
            self.assertEqual(report["roce"]["packets"], whole["roce"]["packets"])
            self.assertEqual(report["roce"]["icrc"]["mismatch"], 1)
            self.assertEqual(len(report["flows"]), len(whole["flows"]))
            self.assertEqual(sum(report["series"]["packets"]), sum(whole["series"]["packets"]))
            self.assertIn("icrc_corruption", [f["id"] for f in report["findings"]])

    def test_where_all_is_encrypted_nothing_is_judged(self):
        packets = []
        for number in range(1, 21):
            ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 80, number, 0, 64, 50, 0, bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)))
            frame = bytearray(12) + b"\x08\0" + ip + struct.pack(">II", 0x1234, number) + bytes(52)
            packets.append([1_700_000_000, number, with_checksum(frame)])
        self.report(packets)
        text = subprocess.run([PROGRAM, "report", os.path.join(self.folder.name, "made.pcap")], capture_output=True, text=True,
                              timeout=60, check=True).stdout
        self.assertTrue(text.startswith("ODD         20 packets are encrypted (ESP"), text)
        self.assertIn("no RoCE packets, so nothing to judge", text)
        self.assertNotIn(" 0 RoCE packets", text)


if __name__ == "__main__":
    unittest.main()

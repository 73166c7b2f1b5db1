#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""roce_generate against second opinions: tshark reads what was asked for and follows each
connection's PSNs, scapy computes the same ICRCs. Usage: generate_test.py ROCE_GENERATE"""

import collections
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

GENERATE = sys.argv.pop(1) if len(sys.argv) > 1 else "roce_generate"
FIELDS = ["frame.time_epoch", "ip.src", "ipv6.src", "infiniband.bth.opcode", "infiniband.bth.destqp",
          "infiniband.bth.psn", "udp.srcport", "ip.dsfield.dscp", "ip.dsfield.ecn", "vlan.id",
          "vlan.priority", "ip.checksum.status", "infiniband.bth.padcnt", "infiniband.reth.dmalen",
          "infiniband.aeth.msn", "udp.length"]


@unittest.skipUnless(shutil.which("tshark"), "tshark is not installed")
class Generate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def make(self, *arguments, name="out"):
        path = os.path.join(self.folder.name, name)
        subprocess.run([GENERATE, *arguments, path], check=True)
        return path

    def rows(self, path):
        command = ["tshark", "-r", path, "-o", "ip.check_checksum:TRUE", "-T", "fields"]
        for field in FIELDS:
            command += ["-e", field]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [dict(zip(FIELDS, line.split("\t"))) for line in text.splitlines()]

    def test_write_with_vlan(self):
        rows = self.rows(self.make("--packets", "3000", "--message-bytes", "2501", "--qps", "4", "--hosts", "3",
                                   "--vlan", "7", "--pcp", "3", "--dscp", "48", "--ecn", "1", "--ack-every", "2"))
        self.assertEqual(len(rows), 3000)
        expected = {}
        counts = collections.Counter()
        for row in rows:
            opcode, qp, psn = int(row["infiniband.bth.opcode"]), row["infiniband.bth.destqp"], int(row["infiniband.bth.psn"])
            counts[opcode] += 1
            self.assertEqual((row["vlan.id"], row["vlan.priority"]), ("7", "3"))
            self.assertEqual((row["ip.dsfield.dscp"], row["ip.dsfield.ecn"]), ("48", "1"))
            self.assertEqual(row["ip.checksum.status"], "1")  # good
            if opcode != 17:  # requests follow each other without a hole
                self.assertEqual(psn, expected.get(qp, psn))
                expected[qp] = (psn + 1) % (1 << 24)
            if opcode == 8:
                self.assertEqual(row["infiniband.bth.padcnt"], "3")
            if opcode == 6:
                self.assertEqual(row["infiniband.reth.dmalen"], "2501")
        self.assertEqual(set(counts), {6, 7, 8, 17})
        self.assertAlmostEqual(counts[6], counts[8], delta=4)  # of each connection one message may be open
        self.assertAlmostEqual(counts[17] * 2, counts[8], delta=8)

    def test_read_over_ipv6(self):
        rows = self.rows(self.make("--packets", "900", "--operation", "read", "--message-bytes", "3000", "--ipv6"))
        next_request = None
        for row in rows:
            opcode, psn = int(row["infiniband.bth.opcode"]), int(row["infiniband.bth.psn"])
            self.assertTrue(row["ipv6.src"].startswith("fd77::"))
            if opcode == 12:
                self.assertEqual(psn, psn if next_request is None else next_request)
                next_request, response = (psn + 3) % (1 << 24), psn
            else:
                self.assertEqual(psn, response)
                response = (response + 1) % (1 << 24)
        self.assertEqual([int(r["infiniband.bth.opcode"]) for r in rows[:5]], [12, 13, 14, 15, 12])

    def test_datagrams_in_pcapng(self):
        rows = self.rows(self.make("--packets", "50", "--service", "ud", "--message-bytes", "100", "--format", "pcapng",
                                   "--link-gap-ns", "2500"))
        self.assertEqual({r["infiniband.bth.opcode"] for r in rows}, {"100"})
        self.assertEqual({r["udp.srcport"] for r in rows}, {str(0xC000 + ((0x11 * 0x61C88647 % 2**32) >> 18))})
        self.assertEqual(rows[2]["frame.time_epoch"], "1700000000.000005000")

    def test_same_seed_same_bytes(self):
        one = self.make("--qps", "9", "--hosts", "4", "--seed", "5", name="one")
        two = self.make("--qps", "9", "--hosts", "4", "--seed", "5", name="two")
        other = self.make("--qps", "9", "--hosts", "4", "--seed", "6", name="other")
        self.assertTrue(filecmp.cmp(one, two, shallow=False))
        self.assertFalse(filecmp.cmp(one, other, shallow=False))

    def test_icrc_by_scapy(self):
        try:
            from scapy.contrib.roce import BTH
            from scapy.utils import rdpcap
        except ImportError:
            self.skipTest("scapy is not installed")
        for packet in rdpcap(self.make("--packets", "60", "--message-bytes", "1000", "--vlan", "9")):
            self.assertEqual(packet[BTH].compute_icrc(b""), packet.original[-4:])

    def test_icrc_over_ipv6(self):  # scapy knows only IPv4
        with open(self.make("--packets", "40", "--ipv6", "--message-bytes", "77"), "rb") as file:
            data = file.read()
        position, packets = 24, 0
        while position < len(data):
            size = int.from_bytes(data[position + 8:position + 12], "little")
            ip = bytearray(data[position + 16 + 14:position + 16 + size])
            stored = int.from_bytes(ip[-4:], "little")
            ip[0] |= 0x0F
            for masked in (1, 2, 3, 7, 46, 47, 52):  # class, flow label, hop limit, UDP checksum, BTH byte 4
                ip[masked] = 0xFF
            self.assertEqual(zlib.crc32(b"\xff" * 8 + bytes(ip[:-4])), stored)
            position, packets = position + 16 + size, packets + 1
        self.assertEqual(packets, 40)

    def test_refusals(self):
        for arguments in (["--service", "ud", "--operation", "write"], ["--dscp", "64"],
                          ["--service", "ud", "--message-bytes", "5000"]):
            result = subprocess.run([GENERATE, *arguments, os.devnull], capture_output=True, text=True)
            self.assertNotEqual(result.returncode, 0)
            self.assertTrue(result.stderr)
        self.assertEqual(subprocess.run([GENERATE, "/dev/full"], capture_output=True).returncode, 3)


if __name__ == "__main__":
    unittest.main()

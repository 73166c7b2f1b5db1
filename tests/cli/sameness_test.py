#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same packets give the same report: with any number of threads, from any container, in one file or
two, and with other hosts' traffic between them.
Usage: sameness_test.py ROCEANALYZE SAMPLES"""

import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SAMPLES = sys.argv.pop(1), sys.argv.pop(1)
# Test tools are built beside the program.
GENERATE = os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "tests", "support", "roce_fault_generate")
CHOSEN = ["03_rping", "05_rnr_exhaust", "06_flush", "03_rdma_xclient", "04_atomic_ackloss5.ca",
          "04_write_loss1.cb", "04_read_loss1.ca", "04_write_reorder.cb"]
PCAP_HEADER, RECORD_HEADER = 24, 16


def run(*words):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=300, capture_output=True)
    assert done.returncode in (0, 1), (words, done.returncode, done.stderr.decode())
    return done.stdout


def report(*words):
    return json.loads(run("report", "--json", *words))


def results(got):
    """Connections, flows and findings."""
    return {key: got[key] for key in ("connections", "flows", "findings")}


def records(data):
    """(header and frame) of each packet of a pcap."""
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = PCAP_HEADER
    while at < len(data):
        size = RECORD_HEADER + struct.unpack_from(order + "I", data, at + 8)[0]
        yield data[at : at + size]
        at += size


def other_traffic(record, n):
    """A frame at the same time that belongs to none of the capture's connections."""
    little = record[:8]
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 0, n & 0xFFFF, 0, 64, 6 if n % 3 == 0 else 17, 0,
                     bytes([203, 0, 113, 1 + n % 5]), bytes([203, 0, 113, 101 + n % 3]))
    if n % 3 == 0:
        body = struct.pack(">HHIIBBHHH", 40000 + n % 9, 443, n, n, 0x50, 0x10, 1000, 0, 0)
    else:  # UD SEND Only to a few queue pairs, one of them GSI
        bth = struct.pack(">BBHII", 0x64, 0, 0xFFFF, (1, 0x11, 0x12, 0x13)[n % 4], n & 0xFFFFFF)
        payload = bth + struct.pack(">II", 0x80010000, 0x99) + bytes(64) + bytes(4)
        body = struct.pack(">HHHH", 49152 + n % 3, 4791, 8 + len(payload), 0) + payload
    ip = ip[:2] + struct.pack(">H", len(ip) + len(body)) + ip[4:]
    frame = bytes.fromhex("02000000000102000000000208004500")[:14] + ip + body
    return little + struct.pack("<II", len(frame), len(frame)) + frame


def with_numbers(value, number_of):
    """A connection with its frame numbers translated, without the ids of flows: other flows came between."""
    if isinstance(value, list):
        return [with_numbers(v, number_of) for v in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, v in value.items():
        if key == "packets" and isinstance(v, list):
            out[key] = [number_of.get(n, n) for n in v]
        elif key.endswith("_packet"):
            out[key] = number_of.get(v, v)
        elif key != "flows":
            out[key] = with_numbers(v, number_of)
    return out


class Sameness(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.captures = {}
        for name in CHOSEN:
            for end in (".pcap", ".pcap.zst"):
                path = os.path.join(SAMPLES, name + end)
                if os.path.exists(path):
                    cls.captures[name] = path
        assert len(cls.captures) == len(CHOSEN), cls.captures
        made = os.path.join(cls.folder, "made.pcap")
        subprocess.run([GENERATE, "--faults", "all1", "--packets", "20000", "--qps", "16", made],
                       check=True, capture_output=True, timeout=120)
        cls.captures["made"] = made
        # As plain pcap, to be taken apart.
        cls.plain = {}
        for name, path in cls.captures.items():
            cls.plain[name] = path
            if path.endswith(".zst"):
                cls.plain[name] = os.path.join(cls.folder, name + ".pcap")
                subprocess.run(["zstd", "-q", "-d", "-f", path, "-o", cls.plain[name]], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def each(self):
        return sorted(self.captures.items())

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def read(self, path):
        with open(path, "rb") as f:
            return f.read()

    def assert_same(self, one, other):
        for key in one:
            self.assertEqual(len(one[key]), len(other[key]), key)
            for a, b in zip(one[key], other[key]):
                self.assertEqual(a, b, key)

    def test_any_number_of_threads(self):
        for name, path in self.each():
            with self.subTest(capture=name):
                one = run("report", "--json", "--jobs", "1", path)
                for jobs in ("2", "3"):
                    self.assertEqual(one, run("report", "--json", "--jobs", jobs, path), jobs)

    def test_threads_with_a_filter(self):
        for name, path in self.each():
            with self.subTest(capture=name):
                words = ("-Y", "infiniband.bth.psn & 1", path)
                one = run("report", "--json", "--jobs", "1", *words)
                self.assertEqual(one, run("report", "--json", "--jobs", "2", *words))

    def test_pcap_pcapng_and_gz(self):
        for name, path in self.each():
            with self.subTest(capture=name):
                expected = results(report(path))
                plain = self.read(self.plain[name])
                with gzip.open(self.path("same.pcap.gz"), "wb") as f:
                    f.write(plain)
                self.assert_same(expected, results(report(self.path("same.pcap.gz"))))
                run("packets", path, "-w", self.path("same.pcapng"))
                self.assertEqual(self.read(self.path("same.pcapng"))[:4], b"\x0a\x0d\x0d\x0a")
                self.assert_same(expected, results(report(self.path("same.pcapng"))))

    def assert_same_in_two_files(self, name, path):
        expected = results(report(path))
        data = self.read(self.plain[name])
        packets = list(records(data))
        for cut in (1, len(packets) // 3, len(packets) - 1):
            first = self.write("first.pcap", data[:PCAP_HEADER] + b"".join(packets[:cut]))
            second = self.write("second.pcap", data[:PCAP_HEADER] + b"".join(packets[cut:]))
            self.assert_same(expected, results(report(first, second)))

    def test_one_file_or_two(self):
        for name, path in self.each():
            if name == "made":
                continue
            with self.subTest(capture=name):
                self.assert_same_in_two_files(name, path)

    def test_one_file_or_two_in_the_middle_of_repeats(self):
        self.assert_same_in_two_files("made", self.captures["made"])

    def test_unrelated_traffic_changes_nothing(self):
        for name, path in self.each():
            with self.subTest(capture=name):
                data = self.read(self.plain[name])
                self.assertEqual(struct.unpack_from("<I", data, 20)[0], 1)  # Ethernet
                expected = report(path)
                mixed = bytearray(data[:PCAP_HEADER])
                number_of = {}  # frame numbers without the traffic, by those with it
                number = 0
                for n, record in enumerate(records(data)):
                    mixed += record
                    number += 1
                    number_of[number] = n + 1
                    if n % 5 < 2:
                        mixed += other_traffic(record, n)
                        number += 1
                got = report(self.write("mixed.pcap", bytes(mixed)))
                self.assertGreater(got["capture"]["packets"], expected["capture"]["packets"])
                self.assertEqual(len(expected["connections"]), len(got["connections"]))
                for a, b in zip(expected["connections"], got["connections"]):
                    self.assertEqual(with_numbers(a, {}), with_numbers(b, number_of))
                known = {f["id"] for f in expected["findings"]}
                said = [[(f["id"], f["severity"], f["subject"], f["count"]) for f in r["findings"] if f["id"] in known]
                        for r in (expected, got)]
                self.assertEqual(*said)


if __name__ == "__main__":
    unittest.main()

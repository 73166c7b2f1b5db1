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
from concurrent.futures import ThreadPoolExecutor

PROGRAM, SAMPLES = sys.argv.pop(1), sys.argv.pop(1)
# Test tools are built beside the program.
GENERATE = os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "tests", "support", "roce_fault_generate")
TRUTH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "truth")
sys.path.insert(0, TRUTH)
from scenarios import SCENARIOS  # noqa: E402

# Copies come as late as half of so short a capture takes: the second half begins with the packets of the first,
# as the file of another capture point does.
LOOKS_LIKE_TWO_POINTS = ("made_mirror_late", "made_mirror_late_ipv6")

PCAP_HEADER, RECORD_HEADER = 24, 16
PCAPNG_PACKETS = (2, 3, 6)


def run(*words):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=300, capture_output=True)
    # 3: the order of the made captures with two clocks cannot be judged.
    assert done.returncode in (0, 1, 3), (words, done.returncode, done.stderr.decode())
    return done.stdout


def report(*words):
    return json.loads(run("report", "--json", *words))


def results(got):
    """Connections, flows and findings, but for what two points of a flow show: files are points."""
    for flow in got["flows"]:
        flow.pop("points")
    return {key: got[key] for key in ("connections", "flows", "findings")}


def byte_order(data):
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        return "<" if data[8:12] == b"\x4d\x3c\x2b\x1a" else ">"
    return "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"


def taken_apart(data):
    """What a pcap or pcapng begins with, and its records from the first packet on."""
    order = byte_order(data)
    if data[:4] != b"\x0a\x0d\x0d\x0a":
        at = PCAP_HEADER
        found = []
        while at < len(data):
            size = RECORD_HEADER + struct.unpack_from(order + "I", data, at + 8)[0]
            found.append(data[at : at + size])
            at += size
        return data[:PCAP_HEADER], found
    at, head, found = 0, b"", []
    while at < len(data):
        kind, size = struct.unpack_from(order + "II", data, at)
        if kind in PCAPNG_PACKETS or found:
            found.append(data[at : at + size])
        else:
            head += data[at : at + size]
        at += size
    return head, found


def time_of(record, order, pcapng):
    """Something that orders records; None for what is no packet."""
    if not pcapng:
        return struct.unpack_from(order + "II", record)
    high, low = struct.unpack_from(order + "II", record, 12)
    return (high << 32 | low, 0) if struct.unpack_from(order + "I", record)[0] == 6 else None


def cuts(data, shares):
    """Where to cut near those shares of a capture, so that what comes first is not younger than the rest."""
    order, pcapng = byte_order(data), data[:4] == b"\x0a\x0d\x0d\x0a"
    times = [time_of(record, order, pcapng) for record in taken_apart(data)[1]]
    times = [t if t is not None else max([u for u in times if u is not None]) for t in times]
    youngest, oldest = list(times), list(times)
    for i in range(1, len(times)):
        youngest[i] = max(youngest[i], youngest[i - 1])
    for i in reversed(range(len(times) - 1)):
        oldest[i] = min(oldest[i], oldest[i + 1])
    good = [i for i in range(1, len(times)) if youngest[i - 1] <= oldest[i]]
    return sorted({min(good, key=lambda i: abs(i - share * len(times))) for share in shares} if good else ())


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


def analysis_fields():
    listed = run("packets", "--list-fields").decode().split()
    return ["frame.number", *sorted({word for word in listed if word.startswith("roce.analysis.")})]


class Sameness(unittest.TestCase):
    """Over all samples of the repository and every kind of generated capture."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.captures = {}  # plain, to be taken apart
        cls.given = {}     # as they are
        for name in sorted(os.listdir(SAMPLES)):
            path = os.path.join(SAMPLES, name)
            if ".pcap" not in name:
                continue
            cls.given[name] = cls.captures[name] = path
            if name.endswith(".zst"):
                cls.captures[name] = os.path.join(cls.folder, name[: -len(".zst")])
                subprocess.run(["zstd", "-q", "-d", "-f", path, "-o", cls.captures[name]], check=True)
        for scenario in SCENARIOS:
            name = "made_" + scenario.name
            path = os.path.join(cls.folder, name)
            subprocess.run([GENERATE, *scenario.command(6000), path], check=True, capture_output=True, timeout=120)
            cls.given[name] = cls.captures[name] = path
        cls.fields = [word for field in analysis_fields() for word in ("-e", field)]
        assert len(cls.fields) > 10, cls.fields

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def each(self, check):
        """check(name) for every capture, some at a time."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            running = {name: pool.submit(check, name) for name in sorted(self.captures)}
            for name, one in running.items():
                with self.subTest(capture=name):
                    one.result()

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def read(self, path):
        with open(path, "rb") as f:
            return f.read()

    def verdicts(self, *words):
        """What is said of each packet."""
        return run("packets", "-T", "fields", *self.fields, *words)

    def assert_same(self, one, other):
        for key in one:
            self.assertEqual(len(one[key]), len(other[key]), key)
            for a, b in zip(one[key], other[key]):
                self.assertEqual(a, b, key)

    def test_any_number_of_threads(self):
        def check(name):
            path = self.given[name]
            for words in (("report", "--json"), ("report",), ("connections",)):
                self.assertEqual(run(*words, "--jobs", "1", path), run(*words, "--jobs", "2", path), words)
            self.assertEqual(self.verdicts("--jobs", "1", path), self.verdicts("--jobs", "3", path))

        self.each(check)

    def test_threads_with_a_filter(self):
        def check(name):
            words = ("-Y", "infiniband.bth.psn & 1", self.given[name])
            one = run("report", "--json", "--jobs", "1", *words)
            self.assertEqual(one, run("report", "--json", "--jobs", "2", *words))

        self.each(check)

    def test_pcap_pcapng_and_gz(self):
        def check(name):
            path = self.given[name]
            expected, verdicts = results(report(path)), self.verdicts(path)
            zipped = self.write(name + ".other.gz", gzip.compress(self.read(self.captures[name]), 1))
            self.assert_same(expected, results(report(zipped)))
            other = self.path(name + ".other.pcapng")
            run("packets", "--no-analysis", path, "-w", other)
            self.assertEqual(self.read(other)[:4], b"\x0a\x0d\x0d\x0a")
            self.assert_same(expected, results(report(other)))
            self.assertEqual(verdicts, self.verdicts(other))

        self.each(check)

    def pieces(self, name, at):
        """The capture cut at those records, as files."""
        head, found = taken_apart(self.read(self.captures[name]))
        return [self.write(f"{name}.{begin}.piece", head + b"".join(found[begin:end]))
                for begin, end in zip([0, *at], [*at, len(found)])]

    def test_one_file_or_several(self):
        def check(name):
            if name in LOOKS_LIKE_TWO_POINTS:
                return
            path = self.captures[name]
            data = self.read(path)
            expected, verdicts = results(report(path)), self.verdicts(path)
            for shares in ((0,), (0.5,), (0.33, 0.67)):
                at = cuts(data, shares)
                if not at:
                    continue
                files = self.pieces(name, at)
                self.assert_same(expected, results(report(*files)))
                if len(shares) > 1:
                    self.assertEqual(verdicts, self.verdicts(*files))

        self.each(check)

    def test_pieces_may_be_named_in_any_order_and_be_of_any_format(self):
        for name in ("made_all1", "made_two_interfaces", "made_mirror_interface"):
            with self.subTest(capture=name):
                first, second, third = self.pieces(name, cuts(self.read(self.captures[name]), (0.4, 0.7)))
                expected = results(report(self.captures[name]))
                self.assert_same(expected, results(report(second, third, first)))
                if name == "made_mirror_interface":
                    continue  # -w describes interfaces as they come, and these have no names to know them by
                run("packets", "--no-analysis", second, "-w", second + ".pcapng")
                third = self.write("third.gz", gzip.compress(self.read(third)))
                self.assert_same(expected, results(report(first, second + ".pcapng", third)))

    def test_sections_of_one_file_that_follow_each_other_are_one_capture(self):
        for name in ("made_two_interfaces", "made_mirror_interface"):
            with self.subTest(capture=name):
                pieces = self.pieces(name, cuts(self.read(self.captures[name]), (0.4, 0.7)))
                joined = self.write("joined.pcapng", b"".join(self.read(piece) for piece in pieces))
                self.assert_same(results(report(self.captures[name])), results(report(joined)))

    def test_captures_of_both_ends_are_two_views_of_one_transmission(self):
        for name in ("04_write_loss1", "04_ack_dup", "04_read_loss1", "04_write_reorder"):
            with self.subTest(capture=name):
                ends = [os.path.join(SAMPLES, name + end + ".pcap.zst") for end in (".ca", ".cb")]
                verdicts = self.verdicts(*ends).decode().splitlines()
                column = self.fields[1::2].index("roce.analysis.duplicate_capture")
                copies = sum(line.split("\t")[column] == "1" for line in verdicts)
                once = [sum(flow["packets"] for flow in report(end)["flows"]) for end in ends]
                self.assertGreater(copies, 0.97 * min(once))
                self.assertLessEqual(copies, min(once))

    def test_unrelated_traffic_changes_nothing(self):
        def check(name):
            data = self.read(self.captures[name])
            if data[:4] not in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") or data[20] != 1:
                return  # the traffic is made for Ethernet in a little-endian pcap
            expected = report(self.captures[name])
            head, found = taken_apart(data)
            mixed = bytearray(head)
            number_of = {}  # frame numbers without the traffic, by those with it
            number = 0
            for n, record in enumerate(found):
                mixed += record
                number += 1
                number_of[number] = n + 1
                if n % 5 < 2:
                    mixed += other_traffic(record, n)
                    number += 1
            got = report(self.write(name + ".mixed", bytes(mixed)))
            self.assertGreater(got["capture"]["packets"], expected["capture"]["packets"])
            self.assertEqual(len(expected["connections"]), len(got["connections"]))
            for a, b in zip(expected["connections"], got["connections"]):
                self.assertEqual(with_numbers(a, {}), with_numbers(b, number_of))
            # ecn_off speaks of all RoCE data of the capture, and there is more of it.
            known = {f["id"] for f in expected["findings"]} - {"ecn_off"}
            said = [[(f["id"], f["severity"], f["subject"], f["count"]) for f in r["findings"] if f["id"] in known]
                    for r in (expected, got)]
            self.assertEqual(*said)

        self.each(check)


if __name__ == "__main__":
    unittest.main()

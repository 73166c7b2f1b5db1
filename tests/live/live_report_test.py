#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report of a live capture is the report of a file with the same frames.
Usage: live_report_test.py LIVE_DUMP ROCEANALYZE SAMPLES"""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import namespace
from namespace import Sender
from frames import read_capture

_, PROGRAM, SAMPLES = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
PATIENCE = 120  # seconds until something is taken for hanging

# Of a file and of a device, these differ by their nature.
OF_FILES = {"application", "bytes", "format", "path"}
# Frames that are sent again have other times, and what is told of times differs with them.
OF_TIMES = re.compile("time|_ns|bps|rate|duration|interval|series|delay|latency|second|throughput|goodput|idle|explanation")


def without_file_facts(report):
    for file in report["capture"]["files"]:
        for key in OF_FILES:
            file.pop(key, None)
    return report


def without_times(value):
    if isinstance(value, dict):
        if "resends" in value:  # of the series with as many, the one that took longest is the worst
            return {"resends": value["resends"]}
        return {key: without_times(part) for key, part in value.items() if not OF_TIMES.search(key)}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def report_of(*words):
    done = subprocess.run([PROGRAM, "report", *words, "--json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout)


# Types of pcapng blocks.
SECTION, INTERFACE, STATISTICS = 0x0A0D0D0A, 1, 5
FIXED = {SECTION: 16, INTERFACE: 8, STATISTICS: 12}  # bytes before the options


def blocks(path):
    """(type, {option: its bytes}) of each section, interface and statistics block, by the pcapng specification."""
    with open(path, "rb") as file:
        data = file.read()
    found, at = [], 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind in FIXED:
            options, place = {}, at + 8 + FIXED[kind]
            while place < at + size - 4:
                code, length = struct.unpack_from("<HH", data, place)
                if code == 0:
                    break
                options[code] = data[place + 4:place + 4 + length]
                place += 4 + (length + 3) // 4 * 4
            found.append((kind, options))
        at += size
    return found


def tagged(data, tag):
    return data[:12] + bytes.fromhex("8100") + tag.to_bytes(2, "big") + data[12:]


class LiveReport(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        namespace.make_pair()
        self.folder = tempfile.TemporaryDirectory()
        self.captures = 0

    def tearDown(self):
        subprocess.run(["ip", "link", "del", "left"], stderr=subprocess.DEVNULL, check=False)
        self.folder.cleanup()

    def begin(self, *options):
        """(process, path that it writes), once the device is open."""
        self.captures += 1
        written = os.path.join(self.folder.name, f"{self.captures}.pcapng")
        process = subprocess.Popen([PROGRAM, "capture", "-i", "right", "-w", written, "--json", *options], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + PATIENCE
        while not os.path.exists(written) or os.path.getsize(written) == 0:
            self.assertTrue(process.poll() is None and time.monotonic() < end, "it does not begin")
            time.sleep(0.02)
        return process, written

    def finish(self, process):
        """Its report."""
        process.send_signal(signal.SIGINT)
        output, messages = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, messages)
        return json.loads(output)

    def capture(self, frames, own_pace, *options):
        """(report of the capture, report of what it wrote)"""
        process, written = self.begin(*options)
        with Sender() as sender:
            began = time.monotonic_ns()
            for data, _, when in frames:
                left = began + when - frames[0][2] - time.monotonic_ns()
                if own_pace and left > 0:
                    time.sleep(left / 1e9)
                sender.send(data)
            self.assertEqual(sender.arrived(), len(frames))
        return self.finish(process), report_of(written)

    def check(self, frames, own_pace=False, *options):
        live, file = self.capture(frames, own_pace, *options)
        self.assertEqual(live["capture"]["packets"] + live["capture"]["dropped"], len(frames))
        self.assertEqual(live["capture"]["dropped"], 0)
        self.assertEqual(live["capture"]["interfaces"][0]["name"], "right")
        self.assertEqual(without_file_facts(live), without_file_facts(file))
        return live

    def test_samples(self):
        for name in ("01_ud_pingpong.pcap", "02_atomic_cas.pcap", "03_rping.pcap"):
            with self.subTest(name):
                path = os.path.join(SAMPLES, name)
                live = self.check(read_capture(path))
                of_sample = report_of(path)
                # What is said of each connection, but for times.
                self.assertEqual(without_times(live["connections"]), without_times(of_sample["connections"]))

    def test_samples_with_losses(self):
        # What is said of losses weighs times, and these frames come faster than they once did: the file that was
        # written meanwhile has the same times.
        for name in ("04_atomic_ackloss5.ca.pcap", "04_atomic_ackloss5.cb.pcap", "05_rnr_exhaust.pcap",
                     "06_badpsn.pcap", "06_zero_read.pcap"):
            with self.subTest(name):
                live = self.check(read_capture(os.path.join(SAMPLES, name)))
                self.assertGreater(sum(flow["retransmitted"]["packets"] for flow in live["flows"]), 0)

    def test_at_its_own_pace(self):
        frames = read_capture(os.path.join(SAMPLES, "03_rping.pcap"))
        self.check([frame for frame in frames if frame[2] - frames[0][2] <= 3_000_000_000], True)

    def test_behind_a_tag(self):
        frames = read_capture(os.path.join(SAMPLES, "02_atomic_cas.pcap"))
        live = self.check([(tagged(data, 0x6064), wire + 4, when) for data, wire, when in frames])
        self.assertIn("100", json.dumps(live))

    def test_drops_at_overload_are_counted(self):
        """Nobody takes frames for a while: the report, that of the file and the file's statistics count the very same."""
        frame = read_capture(os.path.join(SAMPLES, "02_atomic_cas.pcap"))[0][0]
        process, written = self.begin("-B", "1")
        process.send_signal(signal.SIGSTOP)
        with Sender() as sender:
            for _ in range(20_000):
                sender.send(frame)
            process.send_signal(signal.SIGCONT)
            for _ in range(100):
                sender.send(frame)
            live, arrived = self.finish(process), sender.arrived()
        self.assertGreater(live["capture"]["dropped"], 10_000)
        self.assertEqual(live["capture"]["packets"] + live["capture"]["dropped"], arrived)
        self.assertEqual(without_file_facts(live), without_file_facts(report_of(written)))
        statistics = [facts for kind, facts in blocks(written) if kind == STATISTICS]
        self.assertEqual(len(statistics), 1)
        number = {code: int.from_bytes(statistics[0][code], "little") for code in (4, 5, 7)}
        self.assertEqual(number[5], 0)  # isb_ifdrop: veth has none
        self.assertEqual(number[7], live["capture"]["dropped"])  # isb_osdrop
        self.assertEqual(number[4], arrived)  # isb_ifrecv

    def test_the_file_says_what_was_captured_and_how(self):
        subprocess.run(["ip", "link", "set", "dev", "right", "alias", "to the spine"], check=True)
        process, written = self.begin("-f", "udp port 4791", "-s", "128", "--ring-time", "10ms")
        self.assertIn("right is a network interface: --ring-time has no effect", process.stderr.readline())
        self.finish(process)
        (head, section), (_, interface), *_ = blocks(written)
        self.assertEqual(head, SECTION)
        system = f"{os.uname().sysname} {os.uname().release}".encode()
        self.assertEqual(section[3], system)
        self.assertTrue(section[4].startswith(b"roceanalyze"))
        with open("/sys/class/net/right/speed", encoding="ascii") as file:
            speed = int(file.read()) * 1_000_000
        self.assertEqual({code: interface[code] for code in (2, 3, 8, 9, 11, 12)},
                         {2: b"right", 3: b"to the spine", 8: speed.to_bytes(8, "little"), 9: b"\x09",
                          11: b"\x00udp port 4791", 12: system})
        shown = subprocess.run(["capinfos", written], check=True, capture_output=True, text=True).stdout
        for words in ("Name = right", "Description = to the spine", "Encapsulation = Ethernet", "Capture length = 128",
                      "Time precision = nanoseconds (9)", "Filter string = udp port 4791",
                      "Operating system = " + system.decode()):
            self.assertIn(words, shown)

    def test_promiscuous_mode_is_set_and_given_back(self):
        def count():
            shown = subprocess.run(["ip", "-d", "-j", "link", "show", "dev", "right"], check=True, capture_output=True)
            return json.loads(shown.stdout)[0]["promiscuity"]

        for options, wanted in (((), 1), (("-p",), 0)):
            process, _ = self.begin(*options)
            self.assertEqual(count(), wanted)
            self.finish(process)
            self.assertEqual(count(), 0)

    def test_one_thread(self):
        self.check(read_capture(os.path.join(SAMPLES, "03_rping.pcap")), False, "--jobs", "1")


if __name__ == "__main__":
    if subprocess.run([PROGRAM, "capture", "--help"], capture_output=True, check=False).returncode != 0:
        namespace.skip("this build has no command capture")
    namespace.enter_namespace()
    namespace.make_pair()  # or skips
    subprocess.run(["ip", "link", "del", "left"], check=True)
    unittest.main()

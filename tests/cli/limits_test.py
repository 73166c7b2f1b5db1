#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Limits of the system and of the user: few open files, --max-packets, --max-time. What they leave out is never silent.
Usage: limits_test.py ROCEANALYZE SAMPLES"""

import gzip
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
RPING = os.path.join(SAMPLES, "03_rping.pcap")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def records(data):
    """The records of a pcap file with their headers."""
    place = 24
    while place < len(data):
        size = 16 + struct.unpack_from("<I", data, place + 8)[0]
        yield data[place:place + size]
        place += size


def run(*words, before=None, timeout=120, **more):
    return subprocess.run([PROGRAM, *words], capture_output=True, check=False, timeout=timeout, preexec_fn=before, **more)


class OpenFiles(unittest.TestCase):
    """A ring of 3000 files, and a process that may open 256 of them."""

    @staticmethod
    def files(folder, overlap):
        data = read(RPING)
        packets = list(records(data))
        for number in range(3000):
            with open(os.path.join(folder, f"ring_{number:04}.pcap"), "wb") as file:
                file.write(data[:24])
                for k in range(4):
                    micros = k * 10**7 + number if overlap else number * 10**6 + k
                    record = packets[(number + k) % len(packets)]
                    file.write(struct.pack("<II", 1000 + micros // 10**6, micros % 10**6) + record[8:])
        return os.path.join(folder, "ring_*.pcap")

    @staticmethod
    def few_descriptors():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    def test_all_are_read(self):
        for overlap in (False, True):
            with self.subTest(overlap=overlap), tempfile.TemporaryDirectory() as folder:
                ring = self.files(folder, overlap)
                few = run("report", "--json", ring, before=self.few_descriptors)
                self.assertEqual((few.returncode, few.stderr), (0, b""))
                report = json.loads(few.stdout)
                self.assertEqual((report["complete"], report["capture"]["packets"]), (True, 12000))
                times = run("packets", "--no-analysis", "-T", "fields", "-e", "frame.time_epoch", ring,
                            before=self.few_descriptors)
                self.assertEqual((times.returncode, times.stderr), (0, b""))
                times = times.stdout.split()
                self.assertEqual(times, sorted(times))
                self.assertEqual(len(times), 12000)

    def test_pipes_that_cannot_be_opened_are_named(self):
        # They cannot be closed and opened again.
        def standard_only():
            resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))

        with tempfile.TemporaryDirectory() as folder:
            paths = []
            holders = []
            for number in range(10):
                path = os.path.join(folder, f"pipe{number}")
                os.mkfifo(path)
                paths.append(path)
                holders.append(os.open(path, os.O_RDWR))
                os.write(holders[-1], read(RPING)[:2000])
            with subprocess.Popen([PROGRAM, "report", "--json", *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  preexec_fn=standard_only) as process:
                time.sleep(1)  # it has opened what it can
                for holder in holders:
                    os.close(holder)
                out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 3)
            report = json.loads(out)
            self.assertFalse(report["complete"])
            failed = [d for d in report["diagnostics"] if d["id"] == "input_failed"][0]
            self.assertGreater(failed["count"], 2)
            self.assertIn(paths[-1].encode() + b": cannot be opened: Too many open files", err)


class Reading(unittest.TestCase):
    """--max-packets and --max-time."""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        # 20 MB that become 25 GB, the same packet 90 million times.
        data = read(RPING)
        one = list(records(data))[40]
        block = gzip.compress(one * (2**24 // len(one)), 9)
        cls.bomb = os.path.join(cls.holder.name, "bomb.pcap.gz")
        with open(cls.bomb, "wb") as file:
            file.write(gzip.compress(data[:24]))
            for _ in range(1500):
                file.write(block)

    def test_a_bomb_ends_in_time(self):
        for words in ([], ["-Y", "roce.connection == 0"]):
            with self.subTest(words):
                begun = time.monotonic()
                done = run("report", "--json", "--max-time", "2", *words, self.bomb)
                self.assertLess(time.monotonic() - begun, 8)
                self.assertEqual(done.returncode, 3)
                report = json.loads(done.stdout)
                self.assertEqual((report["complete"], report["interrupted"]), (False, True))
                self.assertEqual([d["id"] for d in report["diagnostics"] if d["id"] == "limited"], ["limited"])
                self.assertGreater(report["capture"]["packets_read"], 1000)
                self.assertIn(b"incomplete: reading was ended by the limit of time after ", done.stderr)

    def test_packets_of_a_bomb_end_in_time(self):
        begun = time.monotonic()
        with open(os.devnull, "wb") as null:
            done = subprocess.run([PROGRAM, "packets", "--max-time", "2", self.bomb], stdout=null, stderr=subprocess.PIPE,
                                  check=False, timeout=60)
        self.assertLess(time.monotonic() - begun, 8)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"incomplete: reading was ended by the limit of time after ", done.stderr)

    def test_the_first_packets_are_those_that_are_analysed(self):
        for name in ("-c", "--max-packets", "--count"):
            done = run("report", "--json", name, "100", self.bomb)
            self.assertEqual(done.returncode, 3)
            report = json.loads(done.stdout)
            self.assertEqual(report["capture"]["packets"], 100)
            self.assertEqual(report["capture"]["files"][0]["packets"], 100)
            self.assertEqual((report["complete"], report["interrupted"]), (False, True))
        text = run("report", "-c", "100", self.bomb).stdout.decode().splitlines()[0]
        self.assertIn("INCOMPLETE  reading was ended by the limit of packets after 100 packets; ", text)

    def test_packets_prints_what_was_asked_for(self):
        done = run("packets", "--max-packets", "3", self.bomb)
        self.assertEqual((done.returncode, len(done.stdout.splitlines()), done.stderr), (0, 3, b""))

    def test_a_pipe_with_just_these_packets_may_go_on(self):
        done = run("report", "--json", "-c", "5", "-", input=read(RPING))
        self.assertEqual((done.returncode, json.loads(done.stdout)["complete"]), (3, False))

    def test_errors(self):
        for words in (["-c", "0"], ["-c", "x"], ["--max-time", "0"], ["--max-time", "-1"], ["--max-time", "1h"],
                      ["--max-time", ""]):
            with self.subTest(words):
                done = run("report", *words, RPING)
                self.assertEqual((done.returncode, done.stdout), (2, b""))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Live capture inside tshark: the protocol of extcap. Usage: extcap_test.py ROCEANALYZE SAMPLES"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "ROCEANALYZE_CONFIG": ""}


def run(*words, **options):
    return subprocess.run(words, check=False, timeout=60, capture_output=True, text=True, env=ENV, **options)


def frame(psn):
    """A BTH of UD SEND Only, and an ICRC that is none."""
    return bytes([0x0a, 0, 0xff, 0xff, 0, 0, 0, 0x11, 0, 0]) + psn.to_bytes(2, "big") + b"12345678" + bytes(4)


class Protocol(unittest.TestCase):
    def test_interfaces(self):
        done = run(PROGRAM, "--extcap-interfaces", "--extcap-version=4.0")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^extcap \{version=[\d.]+\}\{display=roceanalyze\}$")
        self.assertIn("interface {value=roce-lo}{display=RoCE on lo}", lines)

    def test_link_types_and_options(self):
        for words in (["--extcap-interface", "roce-lo"], ["--extcap-interface=roce-lo"]):
            self.assertEqual(run(PROGRAM, *words, "--extcap-dlts").stdout, "dlt {number=1}{name=EN10MB}{display=Ethernet}\n")
            out = run(PROGRAM, *words, "--extcap-config").stdout
            numbers = [int(number) for number in re.findall(r"^arg \{number=(\d+)\}\{call=--[a-z-]+\}", out, re.MULTILINE)]
            self.assertEqual(numbers, list(range(len(out.splitlines()))))
            self.assertIn("{call=--snap-length}", out)

    def test_mistakes(self):
        for words, text in ((["--extcap-interface", "roce-nothing", "--extcap-dlts"], "no interface 'roce-nothing'"),
                            (["--extcap-interface", "roce-lo", "--capture"], "--capture needs --fifo")):
            done = run(PROGRAM, *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(text, done.stderr)


class InTshark(unittest.TestCase):
    """tshark looks into one folder of the system only: another one is mounted there, for this process and its children."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("tshark"):
            raise unittest.SkipTest("no tshark")
        cls.keep = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.keep.cleanup)
        os.symlink(PROGRAM, os.path.join(cls.keep.name, "roceanalyze"))
        folders = run("tshark", "-G", "folders").stdout
        found = re.search(r"^Extcap path:\s+(\S+)$", folders, re.MULTILINE)
        cls.path = found.group(1) if found else ""
        if cls.tshark("-v").returncode != 0:
            raise unittest.SkipTest("no folder can be mounted here")

    @classmethod
    def tshark(cls, *words):
        return run("unshare", "-m", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec tshark "$@"', "sh",
                   cls.keep.name, cls.path, *words)

    def test_interfaces_are_listed(self):
        self.assertRegex(self.tshark("-D").stdout, r"(?m)^\d+\. roce-lo \(RoCE on lo\)$")

    def test_every_packet_arrives_with_its_fields(self):
        count = 20000
        if run(PROGRAM, "capture", "-i", "lo", "-c", "0", "-a", "duration:1", "--capture-only", "-w", "-").returncode == 3:
            self.skipTest("no permission to capture")
        ended = threading.Event()

        def send():
            """A first packet again and again until the capture runs, then those that are counted."""
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
                for _ in range(200):
                    out.sendto(frame(0xffff), ("127.0.0.1", 4791))
                    time.sleep(0.02)
                    if ended.is_set():
                        return
                for psn in range(count):
                    out.sendto(frame(psn), ("127.0.0.1", 4791))
                time.sleep(0.5)
                out.sendto(frame(0xfffe), ("127.0.0.1", 4791))

        sender = threading.Thread(target=send)
        sender.start()
        done = self.tshark("-i", "roce-lo", "-f", "udp dst port 4791", "-a", "duration:9", "-T", "fields",
                           "-e", "infiniband.bth.psn", "-e", "infiniband.bth.destqp")
        ended.set()
        sender.join()
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual({row[1] for row in rows}, {"0x000011"}, done.stderr)
        got = [int(row[0]) for row in rows if int(row[0]) < count]
        self.assertEqual(got, list(range(count)), done.stderr[-500:])


if __name__ == "__main__":
    unittest.main()

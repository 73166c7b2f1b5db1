#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`capture --listen` against exporters on this host: what comes is recorded and analysed as a capture of it, whatever it is.
Usage: listen_test.py ROCEANALYZE SAMPLES"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../truth", "../support"):
    sys.path.insert(0, os.path.join(HERE, folder))
import capture_variants as variants  # noqa: E402
import ipfix_export  # noqa: E402
import sflow_export  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
del sys.argv[1:2]
PATIENCE = 60
UDP_PAYLOAD = 42  # behind Ethernet, IPv4 and UDP


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def packets(count):
    """Packets of one RoCE flow."""
    return [(number * 1000, 78, sflow_export.roce_frame("10.1.0.1", "10.1.0.2", 17, number, 0x0A)) for number in range(count)]


def run(*words):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=PATIENCE, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class Listener:
    """The command, listening on loopback."""

    def __init__(self, *words, scheme="sflow"):
        self.port = free_port()
        self.process = subprocess.Popen([PROGRAM, "capture", "--listen", f"{scheme}://127.0.0.1:{self.port}", *words],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        end = time.monotonic() + PATIENCE
        while not self.bound():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end, "it does not listen"
            time.sleep(0.02)
        time.sleep(0.3)  # until signals are taken

    def bound(self):
        with open("/proc/net/udp", encoding="ascii") as table:
            return f":{self.port:04X} " in table.read()

    def send(self, datagrams):
        for number, datagram in enumerate(datagrams):
            self.socket.sendto(datagram, ("127.0.0.1", self.port))
            if number % 50 == 49:
                time.sleep(0.005)

    def end(self, with_signal=True):
        if with_signal:
            self.process.send_signal(signal.SIGINT)
        out, errors = self.process.communicate(timeout=PATIENCE)
        self.socket.close()
        return self.process.returncode, out, errors


class Listen(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = os.path.join(self.folder.name, "live.pcapng")

    def exports(self, *files):
        status, out, errors = run("report", "--json", *files)
        self.assertEqual(status, 0, errors)
        return json.loads(out)["exports"]

    def test_sflow_is_recorded_and_analysed(self):
        exported, _ = sflow_export.export(packets(20000), 64, 1)
        variants.write(os.path.join(self.folder.name, "all.pcap"), exported)
        listener = Listener("-w", self.file, "--json")
        listener.send(frame[UDP_PAYLOAD:] for _, _, frame in exported)
        time.sleep(0.5)
        status, out, errors = listener.end()
        self.assertEqual(status, 0, errors)
        self.assertIn(f"recorded: {len(exported)} packets", errors)
        live = json.loads(out.splitlines()[-1])
        expected = self.exports(os.path.join(self.folder.name, "all.pcap"))
        for exports in (live["exports"], self.exports(self.file)):
            self.assertEqual(exports["datagrams"], len(exported))
            self.assertEqual(exports["samples"], expected["samples"])
            self.assertEqual(exports["agents"][0]["missing"], 0)
            self.assertEqual([flow["packets"] for flow in exports["flows"]], [flow["packets"] for flow in expected["flows"]])

    def test_ipfix_with_summaries_and_a_time(self):
        switch = ipfix_export.Switch(16, 2)
        exported, _ = ipfix_export.export(packets(5000), switch)
        listener = Listener("-w", self.file, "--every", "500ms", "-a", "duration:3", scheme="ipfix")
        # Every tenth is lost on the way.
        kept = [frame[UDP_PAYLOAD:] for number, (_, _, frame) in enumerate(exported) if number % 10 != 5]
        listener.send(kept)
        status, out, errors = listener.end(with_signal=False)
        self.assertEqual(status, 0, errors)
        self.assertIn("IPFIX samples of 1 switch, about 1 in 16", " ".join(out.split()))
        self.assertIn("lost on the way to the collector", out)
        exports = self.exports(self.file)
        self.assertEqual(exports["datagrams"], len(kept))
        self.assertGreater(exports["agents"][0]["missing"], 0)
        self.assertEqual(exports["agents"][0]["address"], "127.0.0.1")

    def test_hostile_datagrams(self):
        source = random.Random(3)
        good = [frame[UDP_PAYLOAD:] for _, _, frame in ipfix_export.export(packets(500), ipfix_export.Switch(4, 4))[0]]
        good += [frame[UDP_PAYLOAD:] for _, _, frame in sflow_export.export(packets(500), 4, 4)[0]]
        hostile = [b"", b"\0", b"\0\x0a", b"\0\x09", b"\0\0\0\5\0\0\0\1", bytes(65507), b"\xff" * 1400]
        for datagram in good:
            spoiled = bytearray(datagram)
            for _ in range(1 + source.randrange(8)):
                spoiled[source.randrange(len(spoiled))] = source.randrange(256)
            hostile += [bytes(spoiled), datagram[:source.randrange(len(datagram))]]
        for scheme in ("ipfix", "netflow", "sflow"):
            listener = Listener("-w", self.file, "--force", "--json", scheme=scheme)
            listener.send(hostile)
            time.sleep(0.5)
            status, out, errors = listener.end()
            self.assertEqual(status, 0, errors)
            live = json.loads(out.splitlines()[-1])
            self.assertEqual(live["roce"]["packets"], 0)
            self.assertEqual(live["frames"] if "frames" in live else len(hostile), len(hostile))
            self.assertIn(f"recorded: {len(hostile)} packets", errors)

    def test_rings(self):
        listener = Listener("-w", self.file, "-b", "packets:10", "-b", "files:3")
        exported, _ = sflow_export.export(packets(4000), 16, 5)
        listener.send(frame[UDP_PAYLOAD:] for _, _, frame in exported)
        time.sleep(0.5)
        status, _, errors = listener.end()
        self.assertEqual(status, 0, errors)
        self.assertEqual(len([name for name in os.listdir(self.folder.name) if name.startswith("live_")]), 3, errors)

    def test_errors(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
            holder.bind(("127.0.0.1", 0))
            port = holder.getsockname()[1]
            status, _, errors = run("capture", "--listen", f"sflow://127.0.0.1:{port}")
            self.assertEqual(status, 3)
            self.assertIn(f"another program has UDP port {port}", errors)
        for words, message in ((["--listen", "sflow://:0"], "from 1 to 65535"),
                               (["--listen", "tcp://:1"], "not a place to listen"),
                               (["--listen", "sflow://", "-i", "lo"], "exclude each other"),
                               (["--listen", "sflow://", "-f", "udp"], "-f filters packets of a device"),
                               ([], "-i is required")):
            status, _, errors = run("capture", *words)
            self.assertEqual(status, 2, words)
            self.assertIn(message, errors)


if __name__ == "__main__":
    unittest.main()

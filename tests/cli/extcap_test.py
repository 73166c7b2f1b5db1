#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Live capture inside tshark: the protocol of extcap. Usage: extcap_test.py ROCEANALYZE SAMPLES"""

import os
import re
import shutil
import socket
import struct
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
            self.assertEqual(numbers, list(range(len(re.findall(r"^arg ", out, re.MULTILINE)))))
            self.assertIn("{call=--snap-length}", out)
            trigger = re.search(r"^arg \{number=(\d+)\}\{call=--trigger\}.*\{type=selector\}\{group=Trigger\}$", out, re.MULTILINE)
            values = re.findall(r"^value \{arg=(\d+)\}\{value=([a-z]+)\}", out, re.MULTILINE)
            self.assertEqual({number for number, _ in values}, {trigger.group(1)})
            self.assertEqual([value for _, value in values][:2], ["none", "error"])
            self.assertEqual(len(numbers) + len(values), len(out.splitlines()))
            self.assertRegex(out, r"\{call=--ring-file\}.*\{type=fileselect\}\{group=Ring\}\{mustexist=false\}")

    def test_toolbar(self):
        out = run(PROGRAM, "--extcap-interfaces").stdout
        self.assertEqual(re.findall(r"^control \{number=(\d)\}\{type=(\w+)\}(?:\{role=(\w+)\})?\{display=(\w+)\}", out, re.MULTILINE),
                         [("0", "string", "", "Counts"), ("1", "button", "", "Trigger"), ("2", "button", "logger", "Log")])

    def test_mistakes(self):
        for words, text in ((["--extcap-interface", "roce-nothing", "--extcap-dlts"], "no interface 'roce-nothing'"),
                            (["--extcap-interface", "roce-lo", "--capture"], "--capture needs --fifo"),
                            (["--extcap-interface", "roce-lo", "--capture", "--fifo", "f", "--ring-file", "r", "--trigger", "loss"],
                             "a ring has all packets, a trigger shows some of them")):
            done = run(PROGRAM, *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(text, done.stderr)


def may_capture():
    done = run(PROGRAM, "capture", "-i", "lo", "-c", "0", "-a", "duration:1", "--capture-only", "-w", "-")
    return done.returncode != 3


def packets_of(data):
    """Captured bytes of each packet of a pcapng section in this machine's order, and the bytes of its whole blocks."""
    packets, at = [], 0
    while at + 12 <= len(data):
        kind, size = struct.unpack_from("=II", data, at)
        if at + size > len(data):
            break
        if kind == 6:
            captured = struct.unpack_from("=I", data, at + 20)[0]
            packets.append(data[at + 28:at + 28 + captured])
        at += size
    return packets, data[:at]


def psns_of(data):
    return [int.from_bytes(packet[51:54], "big") for packet in packets_of(data)[0]]


class Wireshark:
    """Wireshark's side: the pipe of packets and, with a toolbar, those of its controls."""

    def __init__(self, folder, *options, toolbar=True):
        self.data, self.messages, self.rest = b"", [], b""
        paths = [os.path.join(folder, name) for name in ("fifo", "in", "out")]
        for path in paths:
            os.mkfifo(path)
        words = ["--extcap-control-in", paths[1], "--extcap-control-out", paths[2]] if toolbar else []
        self.process = subprocess.Popen(
            [PROGRAM, "--capture", "--extcap-interface", "roce-lo", "--fifo", paths[0], "--extcap-capture-filter", "udp dst port 4791",
             *words, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
        self.fifo = os.open(paths[0], os.O_RDONLY)
        os.set_blocking(self.fifo, False)
        # As Wireshark opens them.
        self.control = os.open(paths[2], os.O_RDONLY | os.O_NONBLOCK)
        self.buttons = os.open(paths[1], os.O_RDWR)

    def press(self, number):
        os.write(self.buttons, b"T" + (2).to_bytes(3, "big") + bytes([number, 1]))

    def read(self):
        for descriptor in (self.fifo, self.control):
            try:
                got = os.read(descriptor, 1 << 20)
            except BlockingIOError:
                got = b""
            if descriptor == self.fifo:
                self.data += got
            else:
                self.rest += got
        while len(self.rest) >= 4:
            assert self.rest[:1] == b"T", self.rest
            end = 4 + int.from_bytes(self.rest[1:4], "big")
            if len(self.rest) < end:
                break
            self.messages.append((self.rest[4], self.rest[5], self.rest[6:end].decode()))
            self.rest = self.rest[end:]

    def until(self, holds, what):
        end = time.monotonic() + 60
        while not holds():
            self.read()
            if time.monotonic() > end:
                raise AssertionError(f"not within 60 s: {what}; {self.messages[-9:]}, {psns_of(self.data)[-9:]}")
            time.sleep(0.02)

    def counts(self):
        texts = [text for control, command, text in self.messages if (control, command) == (0, 1)]
        return tuple(map(int, re.findall(r"\d+", texts[-1]))) if texts else None

    def log(self):
        return "".join(text for control, command, text in self.messages if (control, command) == (2, 2))

    def end(self):
        self.process.terminate()
        # What is written at the end still has its reader.
        while self.process.poll() is None:
            self.read()
            time.sleep(0.02)
        self.read()
        out, err = self.process.communicate(timeout=20)
        for descriptor in (self.fifo, self.control, self.buttons):
            os.close(descriptor)
        return self.process.returncode, out.decode(), err.decode()


def send(psns):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for psn in psns:
            out.sendto(frame(psn), ("127.0.0.1", 4791))


class Pipes(unittest.TestCase):
    """Ring, trigger and toolbar, with Wireshark's pipes."""

    def setUp(self):
        if not may_capture():
            self.skipTest("no permission to capture")
        keep = tempfile.TemporaryDirectory()
        self.addCleanup(keep.cleanup)
        self.folder = keep.name

    def begun(self, *options, **more):
        side = Wireshark(self.folder, *options, **more)
        # The head of the stream comes when the capture has begun.
        side.until(lambda: len(side.data) > 0, "the head of the stream")
        return side

    def test_ring_beside_the_pipe(self):
        side = self.begun("--ring-file", os.path.join(self.folder, "ring.pcapng"), "--ring-filesize", "100", "--ring-files", "3")
        side.until(lambda: side.counts() == (0, 0), "counts")
        self.assertIn((1, 5, ""), side.messages, "no trigger: its button is disabled")
        for first in range(0, 5000, 500):
            send(range(first, first + 500))
            side.until(lambda: len(psns_of(side.data)) == first + 500, "packets")
        side.until(lambda: side.counts() == (5000, 0), "counts")
        status, out, err = side.end()
        self.assertEqual((status, out), (0, ""), err)
        self.assertEqual(psns_of(side.data), list(range(5000)))
        names = sorted(name for name in os.listdir(self.folder) if name.startswith("ring_"))
        self.assertEqual(len(names), 3)
        kept = []
        for name in names:
            with open(os.path.join(self.folder, name), "rb") as file:
                data = file.read()
            self.assertLessEqual(len(data), 100_000)
            kept += psns_of(data)
        self.assertEqual(kept, list(range(5000 - len(kept), 5000)))
        self.assertGreater(len(kept), 1000)

    def test_button_triggers(self):
        side = self.begun("--trigger", "error", "--before", "60s", "--after", "1s", "--ring-files", "3")
        send(range(100))
        side.until(lambda: side.counts() == (100, 0), "counts")
        self.assertEqual(psns_of(side.data), [], "nothing has happened")
        self.assertNotIn((1, 5, ""), side.messages)
        side.press(1)
        side.until(lambda: len(psns_of(side.data)) == 100, "packets of the time before")
        self.assertIn("trigger: the button", side.log())
        self.assertIn(b"trigger: the button", side.data)
        send(range(100, 110))
        side.until(lambda: len(psns_of(side.data)) == 110, "packets of the time after")
        time.sleep(1.5)
        send(range(110, 120))
        side.until(lambda: side.counts() == (120, 0), "counts")
        status, out, err = side.end()
        self.assertEqual((status, out), (0, ""), err)
        self.assertEqual(psns_of(side.data), list(range(110)))

    def test_finding_triggers(self):
        side = self.begun("--trigger", "none", "--trigger-ids", "loss,icrc_capture_artefact", "--before", "60s", "--after", "1s")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for psn in (*range(1, 40), *range(60, 90)):
                out.sendto(bytes([0x04, 0, 0xff, 0xff, 0, 0, 0, 0x11, 0, 0]) + psn.to_bytes(2, "big") + bytes(16), ("127.0.0.1", 4791))
        side.until(lambda: len(psns_of(side.data)) == 69, "packets around the loss")
        status, _, err = side.end()
        self.assertEqual(status, 0, err)
        self.assertIn(b"trigger: ", side.data)

    def test_tee_has_all_packets_beside_the_files_of_triggers(self):
        """Of the command itself: an external capture never does both."""
        pipe, written = os.path.join(self.folder, "pipe"), os.path.join(self.folder, "t.pcapng")
        os.mkfifo(pipe)
        process = subprocess.Popen([PROGRAM, "capture", "-i", "lo", "-f", "udp dst port 4791", "-w", written, "--tee", pipe, "--trigger",
                                    "icrc_capture_artefact", "--after", "500ms"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
        with open(pipe, "rb") as reader:
            head = reader.read(28)  # the capture has begun
            send(range(100))
            time.sleep(2)
            send(range(100, 120))
            time.sleep(1)
            process.terminate()
            data = head + reader.read()
        _, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(psns_of(data), list(range(120)))
        names = [name for name in os.listdir(self.folder) if name.startswith("t_")]
        self.assertEqual(len(names), 1, err)
        with open(os.path.join(self.folder, names[0]), "rb") as file:
            self.assertEqual(psns_of(file.read()), list(range(100)))

    def test_nobody_reads_the_toolbar(self):
        """tshark makes the pipes of the toolbar and never reads them."""
        side = self.begun("--trigger", "error")
        os.close(side.control)
        os.close(side.buttons)
        send(range(100))
        time.sleep(1)
        side.control = os.open(os.devnull, os.O_RDONLY)
        side.buttons = os.open(os.devnull, os.O_RDONLY)
        self.assertEqual(side.end()[0], 0)

    def test_wireshark_goes_away(self):
        """Without packets, too, a capture ends when its reader has."""
        side = self.begun("--trigger", "error")
        os.close(side.fifo)
        self.assertEqual(side.process.wait(timeout=20), 3)
        self.assertIn(b"Broken pipe", side.process.communicate()[1])
        os.close(side.control)
        os.close(side.buttons)


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
        if not may_capture():
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

    def test_ring_and_trigger_in_tshark(self):
        """tshark takes options of an external capture as preferences."""
        if not may_capture():
            self.skipTest("no permission to capture")
        ring = os.path.join(self.keep.name, "kept.pcapng")
        for options, packets in ((["-o", f"extcap.roce_lo.ringfile:{ring}"], True), (["-o", "extcap.roce_lo.trigger:ce"], False)):
            ended = threading.Event()

            def many(ended=ended):
                while not ended.is_set():
                    send([5])
                    time.sleep(0.02)

            sender = threading.Thread(target=many)
            sender.start()
            done = self.tshark("-i", "roce-lo", "-f", "udp dst port 4791", *options, "-a", "duration:4", "-T", "fields", "-e",
                               "infiniband.bth.psn")
            ended.set()
            sender.join()
            self.assertEqual("5" in done.stdout.split(), packets, done.stderr)
        names = [name for name in os.listdir(self.keep.name) if name.startswith("kept_")]
        self.assertEqual(len(names), 1)
        with open(os.path.join(self.keep.name, names[0]), "rb") as file:
            self.assertIn(5, psns_of(file.read()))


if __name__ == "__main__":
    unittest.main()

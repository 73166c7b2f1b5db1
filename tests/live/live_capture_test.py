#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures of network interfaces against what was sent: every byte, every drop, every end.
Usage: live_capture_test.py LIVE_DUMP ROCEANALYZE SAMPLES"""

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import namespace
from namespace import Sender, command
from frames import read_capture

PROGRAM, COMMAND, SAMPLES = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))

PATIENCE = 60  # seconds until something is taken for hanging


def sample(name):
    return read_capture(os.path.join(SAMPLES, name))


def numbered(number, size=200):
    """A frame of no protocol that says which it is."""
    head = bytes.fromhex("02000000000202000000000188b5") + struct.pack(">I", number)
    return (head + bytes((number + i) % 251 for i in range(size)))[:size]


def numbers_of(frames):
    return [struct.unpack_from(">I", data, 14)[0] for data, _, _ in frames]


class Capture:
    """live_dump on one side of the pair."""

    def __init__(self, *options, device="right"):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "live.pcapng")
        self.process = subprocess.Popen([PROGRAM, "--device", device, *options, self.path], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.expect("ready")

    def expect(self, line):
        got = self.process.stdout.readline().strip()
        if got != line:
            _, error = self.process.communicate(timeout=PATIENCE)
            raise AssertionError(f"{line!r} expected, got {got!r}: {error}")

    def signal(self):
        self.process.send_signal(signal.SIGINT)

    def release(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def finish(self, stop=True):
        """(counts, frames, messages) once it has ended."""
        if stop:
            self.signal()
        output, self.messages = self.process.communicate(timeout=PATIENCE)
        self.status = self.process.returncode
        counts = json.loads(output.splitlines()[-1])
        frames = read_capture(self.path)
        self.folder.cleanup()
        return counts, frames


class Network(unittest.TestCase):
    def setUp(self):
        namespace.make_pair()

    def tearDown(self):
        subprocess.run(["ip", "link", "del", "left"], stderr=subprocess.DEVNULL, check=False)

    def assert_complete(self, counts, sender):
        self.assertEqual(counts["received"], counts["delivered"] + counts["dropped_by_queue"])
        dropped = counts["dropped_by_queue"] + counts["dropped_by_kernel"]
        self.assertEqual(counts["delivered"] + dropped, sender.arrived())
        self.assertEqual(counts["interface_dropped"], dropped)
        self.assertEqual(counts["interface_received"], sender.arrived())


class SameFrames(Network):
    def replay(self, frames, own_pace, *options):
        """What is captured of these frames."""
        capture = Capture(*options)
        with Sender() as sender:
            began, first = time.monotonic_ns(), frames[0][2]
            for data, _, when in frames:
                if own_pace:
                    left = began + when - first - time.monotonic_ns()
                    if left > 0:
                        time.sleep(left / 1e9)
                sender.send(data)
            counts, got = capture.finish()
            self.assertEqual(capture.messages, "")
            self.assertEqual(capture.status, 0)
            self.assertEqual(counts["dropped_by_kernel"] + counts["dropped_by_queue"], 0)
            self.assertEqual(sender.arrived(), len(frames))
            self.assert_complete(counts, sender)
        return counts, got

    def test_samples_at_full_speed(self):
        before = time.time_ns()
        for name in ("01_ud_pingpong.pcap", "02_atomic_cas.pcap", "03_rping.pcap", "04_atomic_ackloss5.ca.pcap"):
            with self.subTest(name):
                frames = sample(name)
                self.assertGreater(len(frames), 10)
                counts, got = self.replay(frames, False)
                self.assertEqual([data for data, _, _ in got], [data for data, _, _ in frames])
                self.assertEqual([wire for _, wire, _ in got], [len(data) for data, _, _ in frames])
                self.assertEqual(counts["link_type"], 1)
                self.assertEqual(counts["ticks_per_second"], 1_000_000_000)
                times = [when for _, _, when in got]
                self.assertTrue(before <= times[0] and times[-1] <= time.time_ns())
                self.assertTrue(any(when % 1000 for when in times), "stamps of nanoseconds")

    def test_a_sample_at_its_own_pace(self):
        frames = [frame for frame in sample("03_rping.pcap")]
        end = frames[0][2] + 3_000_000_000
        frames = [frame for frame in frames if frame[2] <= end]
        _, got = self.replay(frames, True)
        self.assertEqual([data for data, _, _ in got], [data for data, _, _ in frames])

    def test_tags_stand_where_they_stood(self):
        inner = bytes.fromhex("0800450000140000000040118000" "0a0000010a000002")
        addresses = bytes.fromhex("020000000002020000000001")
        frames = []
        for tags in ("", "81006005", "8100a000", "88a8000281006003", "88a87fff", "8100000581000006"):
            frames += [(addresses + bytes.fromhex(tags) + inner + bytes(40), 0, 0)]
        _, got = self.replay(frames, False)
        self.assertEqual([data for data, _, _ in got], [data for data, _, _ in frames])

    def test_every_size(self):
        command("ip", "link", "set", "dev", "left", "mtu", "65000")
        command("ip", "link", "set", "dev", "right", "mtu", "65000")
        sizes = list(range(18, 200)) + [1514, 4200, 9018, 65_000]
        frames = [(numbered(i, size), 0, 0) for i, size in enumerate(sizes)]
        _, got = self.replay(frames, False)
        self.assertEqual([data for data, _, _ in got], [data for data, _, _ in frames])

    def test_snap_length(self):
        frames = [(numbered(i, 60 + 10 * i), 0, 0) for i in range(100)]
        counts, got = self.replay(frames, False, "--snap", "96")
        self.assertEqual([data for data, _, _ in got], [data[:96] for data, _, _ in frames])
        self.assertEqual([wire for _, wire, _ in got], [len(data) for data, _, _ in frames])
        self.assertEqual(counts["snap_length"], 96)

    def test_a_queue_of_small_slabs(self):
        frames = sample("03_rping.pcap")
        _, got = self.replay(frames, False, "--queue", str(4 << 20))
        self.assertEqual([data for data, _, _ in got], [data for data, _, _ in frames])

    @unittest.skipUnless(shutil.which("tcpdump"), "tcpdump is missing")
    def test_filters_as_tcpdump(self):
        path = os.path.join(SAMPLES, "03_rping.pcap")
        frames = sample("03_rping.pcap")
        for text in ("udp port 4791 and udp[8] = 4", "tcp or arp", "greater 200"):
            with self.subTest(text):
                with tempfile.TemporaryDirectory() as folder:
                    chosen = os.path.join(folder, "chosen.pcap")
                    subprocess.run(["tcpdump", "-r", path, "-w", chosen, text], check=True, capture_output=True)
                    wanted = [data for data, _, _ in read_capture(chosen)]
                capture = Capture("--filter", text)
                with Sender() as sender:
                    for data, _, _ in frames:
                        sender.send(data)
                    counts, got = capture.finish()
                self.assertEqual([data for data, _, _ in got], wanted)
                self.assertEqual(counts["received"], len(wanted))

    def test_any_names_the_interface(self):
        capture = Capture("--filter", "ether proto 0x88b5", device="any")
        with Sender() as sender:
            for i in range(50):
                sender.send(numbered(i))
            counts, got = capture.finish()
        self.assertEqual(counts["link_type"], 276)
        with open("/sys/class/net/right/ifindex", encoding="ascii") as file:
            index = int(file.read())
        # LINKTYPE_LINUX_SLL2: protocol, reserved, interface, ARPHRD, packet type, address.
        incoming = [data for data, _, _ in got if struct.unpack_from(">I", data, 4)[0] == index]
        self.assertEqual([data[20:] for data in incoming], [numbered(i)[14:] for i in range(50)])


class Drops(Network):
    def test_a_slow_reader(self):
        """The kernel's buffer is emptied all the time, the queue is full."""
        capture = Capture("--hold", "1", "--queue", str(256 << 10))
        with Sender() as sender:
            sender.send(numbered(0))
            capture.expect("holding")
            for i in range(1, 20_000):
                sender.send(numbered(i))
            capture.signal()
            capture.release()
            counts, got = capture.finish(stop=False)
            self.assert_complete(counts, sender)
        self.assertGreater(counts["dropped_by_queue"], 10_000)
        numbers = numbers_of(got)
        self.assertEqual(len(numbers), counts["delivered"])
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual([data for data, _, _ in got], [numbered(i) for i in numbers])

    def test_nobody_empties_the_kernels_buffer(self):
        capture = Capture("--hold", "0", "--kernel-buffer", str(1 << 20))
        capture.expect("holding")
        with Sender() as sender:
            for i in range(20_000):
                sender.send(numbered(i))
            capture.release()
            time.sleep(0.2)
            counts, got = capture.finish()
            self.assert_complete(counts, sender)
        self.assertGreater(counts["dropped_by_kernel"], 10_000)
        self.assertGreater(counts["delivered"], 100)
        self.assertEqual(len(got), counts["delivered"])

    def test_both_under_load(self):
        """The reader goes on while frames come; whatever is dropped where, it adds up."""
        for queue, buffer in ((64 << 10, 512 << 10), (1 << 20, 256 << 10)):
            capture = Capture("--hold", "100", "--queue", str(queue), "--kernel-buffer", str(buffer))
            with Sender() as sender:
                for i in range(30_000):
                    sender.send(numbered(i, 60 + i % 1400))
                    if i == 15_000:
                        capture.release()
                counts, got = capture.finish()
                self.assert_complete(counts, sender)
            self.assertEqual(len(got), counts["delivered"])


class Ends(Network):
    def test_a_signal_loses_nothing_that_had_arrived(self):
        """Frames wait in the kernel's buffer and in the queue when it is told to stop."""
        for hold in ("0", "10"):
            capture = Capture("--hold", hold)
            with Sender() as sender:
                for i in range(3000):
                    sender.send(numbered(i))
                capture.expect("holding")
                capture.signal()
                capture.release()
                counts, got = capture.finish(stop=False)
                arrived = sender.arrived()
            if hold == "0":
                # It never began.
                self.assertEqual(counts["received"] + counts["dropped_by_kernel"], arrived)
            self.assertEqual(len(got), arrived)
            self.assertEqual(numbers_of(got), list(range(arrived)))

    def test_an_end_under_full_load_comes(self):
        capture = Capture()
        loader = subprocess.Popen([sys.executable, "-c", "import socket\ns = socket.socket(17, 3, 0)\ns.bind(('left', 0))\n"
                                   "f = bytes.fromhex('02000000000202000000000188b5') + bytes(100)\nwhile True: s.send(f)"])
        try:
            time.sleep(0.3)
            counts, got = capture.finish()
        finally:
            loader.kill()
            loader.wait()
        self.assertGreater(len(got), 0)
        self.assertEqual(counts["delivered"], len(got))
        self.assertEqual(counts["received"], counts["delivered"] + counts["dropped_by_queue"])

    def lose(self, *words):
        capture = Capture()
        with Sender() as sender:
            for i in range(500):
                sender.send(numbered(i))
            arrived = sender.arrived()
            command(*words)
            counts, got = capture.finish(stop=False)
        self.assertEqual(capture.status, 1)
        self.assertEqual(numbers_of(got), list(range(arrived)))
        self.assertEqual(counts["delivered"], arrived)
        return capture.messages

    def test_the_interface_is_removed(self):
        self.assertIn("right: the network interface was removed", self.lose("ip", "link", "del", "right"))

    def test_the_interface_is_set_down(self):
        messages = self.lose("ip", "link", "set", "dev", "right", "down")
        self.assertIn("set down during the capture; to set it up: sudo ip link set dev right up", messages)

    def lose_confined(self, *words):
        """The command may not make sockets once it captures, and shall see the same."""
        with tempfile.TemporaryDirectory() as folder, Sender() as sender:
            path = os.path.join(folder, "live.pcapng")
            process = subprocess.Popen([COMMAND, "capture", "-i", "right", "--capture-only", "-w", path], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            until = time.monotonic() + PATIENCE
            # What captures begins after the program has confined itself.
            while process.poll() is None and time.monotonic() < until:
                sender.send(numbered(0))
                time.sleep(0.1)
                if os.path.exists(path) and len(read_capture(path)) > 0:
                    break
            command(*words)
            _, messages = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 3, messages)
        return messages

    def test_a_confined_program_sees_the_interface_removed(self):
        self.assertIn("right: the network interface was removed", self.lose_confined("ip", "link", "del", "right"))

    def test_a_confined_program_sees_the_interface_set_down(self):
        self.assertIn("set down during the capture", self.lose_confined("ip", "link", "set", "dev", "right", "down"))

    def test_a_new_name_is_no_end(self):
        capture = Capture()
        with Sender() as sender:
            sender.send(numbered(0))
            command("ip", "link", "set", "dev", "right", "name", "other")
            time.sleep(1.2)  # longer than it waits between two looks
            sender.send(numbered(1))
            _, got = capture.finish()
        self.assertEqual(numbers_of(got), [0, 1])
        self.assertEqual(capture.messages, "")


class Opening(Network):
    def refused(self, *options, device="right", program=(PROGRAM,)):
        done = subprocess.run([*program, "--device", device, *options], capture_output=True, text=True, timeout=PATIENCE,
                              check=False)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        return done.stderr

    def test_unknown_names(self):
        self.assertIn("did you mean right? There are: ", self.refused(device="rigth"))
        message = self.refused(device="nothing-like-it")
        self.assertNotIn("did you mean", message)
        for name in ("there are: ", "left", "right", "any"):
            self.assertIn(name, message)
        for name in ("", "x" * 1000, "../lo", "right%s", "r\nt"):
            self.refused(device=name)

    def test_down(self):
        command("ip", "link", "set", "dev", "right", "down")
        self.assertIn("right: the network interface is down: sudo ip link set dev right up", self.refused())

    def test_filters_that_are_wrong(self):
        for text, mark in (("udp prot 4791", (4, 4)), ("udp port", (8, 1)), ("port foo", (5, 3)), ("(udp", (4, 1)),
                           ("tcp and and ip", (8, 3)), ("udp or )", (7, 1))):
            with self.subTest(text):
                lines = self.refused("--filter", text).splitlines()
                self.assertIn("right: the capture filter is not valid: ", lines[0])
                self.assertEqual(lines[1], "  " + text)
                self.assertEqual(lines[2], "  " + " " * mark[0] + "^" * mark[1])

    @unittest.skipUnless(shutil.which("setpriv"), "setpriv is missing")
    def test_missing_rights(self):
        without = ("setpriv", "--bounding-set=-net_raw,-net_admin", "--inh-caps=-net_raw,-net_admin", PROGRAM)
        message = self.refused(program=without)
        self.assertIn("CAP_NET_RAW is missing", message)
        self.assertIn(f"sudo setcap cap_net_raw,cap_net_admin=eip {PROGRAM}", message)
        listed = subprocess.run([*without, "--list"], check=True, capture_output=True, text=True).stdout
        self.assertIn("not: CAP_NET_RAW is missing", listed)

    def test_the_list(self):
        command("ip", "link", "set", "dev", "left", "down")
        command("ip", "address", "add", "10.9.8.7/24", "dev", "right")
        lines = subprocess.run([PROGRAM, "--list"], check=True, capture_output=True, text=True).stdout.splitlines()
        named = {line.split()[0]: line for line in lines}
        self.assertEqual(lines[-1].split()[0], "any")
        self.assertIn("10.9.8.7", named["right"])
        self.assertIn(" up", named["right"])
        self.assertNotIn(" up", named["left"].split("not:")[0])
        self.assertIn("sudo ip link set dev left up", named["left"])
        with open("/sys/class/net/right/address", encoding="ascii") as file:
            self.assertIn(file.read().strip(), named["right"])


if __name__ == "__main__":
    namespace.enter_namespace()
    namespace.make_pair()  # or skips
    subprocess.run(["ip", "link", "del", "left"], check=True)
    unittest.main()

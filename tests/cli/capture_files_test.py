#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command `capture` and its files, on a pair of virtual interfaces in a network namespace of its own.
Usage: capture_files_test.py ROCEANALYZE SAMPLES"""

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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import namespace  # noqa: E402

PROGRAM, SAMPLES = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))
RPING = os.path.join(SAMPLES, "03_rping.pcap")
LOSS = os.path.join(SAMPLES, "04_write_loss1.ca.pcap.zst")
PATIENCE = 60  # seconds until something that must happen counts as not happening


def frames_of(path):
    """(time in ns, bytes) of each frame, read by tshark's editcap or as plain pcap."""
    with tempfile.NamedTemporaryFile(suffix=".pcap") as plain:
        subprocess.run(["editcap", "-F", "nsecpcap", path, plain.name], check=True, capture_output=True)
        data = plain.read()
    at, frames = 24, []
    while at < len(data):
        seconds, ns, size, _ = struct.unpack_from("<IIII", data, at)
        frames.append((seconds * 10**9 + ns, data[at + 16:at + 16 + size]))
        at += 16 + size
    return frames


def tshark(path, *words):
    """(status, lines, errors)"""
    done = subprocess.run(["tshark", "-n", "-r", path, *words], capture_output=True, check=False)
    return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode()


def report(*paths):
    done = subprocess.run([PROGRAM, "report", "--json", *paths], capture_output=True, check=False)
    return done.returncode, json.loads(done.stdout), done.stderr.decode()


class CaptureFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rping = frames_of(RPING)
        cls.loss = frames_of(LOSS)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.sender = namespace.Sender("left")
        self.sender.__enter__()
        self.addCleanup(self.sender.__exit__)

    def path(self, name):
        return os.path.join(self.folder, name)

    def files(self):
        return sorted(os.path.join(self.folder, name) for name in os.listdir(self.folder))

    def begin(self, *words, **options):
        """A capture that has begun."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([PROGRAM, "capture", "-i", "right", *words], **options)
        self.addCleanup(self.forget, process)
        self.wait_until(lambda: process.poll() is not None or self.is_capturing(), "the capture to begin")
        return process

    @staticmethod
    def forget(process):
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()

    @staticmethod
    def is_capturing():
        with open("/proc/net/packet", encoding="ascii") as f:
            return any(line.split()[3] == "0003" for line in f.readlines()[1:])

    def wait_until(self, what, name):
        deadline = time.monotonic() + PATIENCE
        while not what():
            if time.monotonic() > deadline:
                self.fail("waited in vain for " + name)
            time.sleep(0.02)

    def send(self, frames):
        for _, data in frames:
            self.sender.send(data)

    def end(self, process, number=signal.SIGINT):
        """(status, standard output, standard error)"""
        process.send_signal(number)
        out, errors = process.communicate(timeout=PATIENCE)
        return process.returncode, out, errors.decode()

    def captured_all(self, path, count):
        """Waits until the file holds so many packets."""
        self.wait_until(lambda: os.path.exists(path) and len(tshark(path)[1]) >= count, f"{count} packets in {path}")

    def test_the_report_is_that_of_the_file_and_tshark_reads_it(self):
        for name in ("a.pcapng", "a.pcapng.zst"):
            with self.subTest(name):
                path = self.path(name)
                process = self.begin("-w", path, "--json")
                self.send(self.rping)
                self.captured_all(path, len(self.rping))
                status, out, errors = self.end(process)
                self.assertEqual(status, 0, errors)
                live = json.loads(out)
                code, filed, _ = report(path)
                self.assertEqual(code, 0)
                for key in ("files", "interfaces"):
                    del live["capture"][key], filed["capture"][key]
                self.assertEqual(live, filed)
                self.assertEqual(live["capture"]["packets"] + live["capture"]["dropped"], len(self.rping))
                code, lines, errors = tshark(path)
                self.assertEqual((code, len(lines)), (0, len(self.rping)), errors)
                self.assertEqual([data for _, data in frames_of(path)], [data for _, data in self.rping])
                interfaces = tshark(path, "-T", "fields", "-e", "frame.interface_name")[1]
                self.assertEqual(set(interfaces), {"right"})

    def test_commands_of_the_report_can_be_typed(self):
        """They name the file with all that was captured; without one FILE, for there is nothing to read then."""
        path = self.path("of all.pcapng")
        for words, ring in ((("-w", path), False), ((), False), (("-w", self.path("ring.pcapng"), "-b", "packets:500"), True)):
            capture = self.begin(*words)
            self.send(self.loss)
            status, out, errors = self.end(capture)
            self.assertEqual(status, 0, errors)
            commands = re.findall(r"^ +(roceanalyze packets .*?'.*?')$", out.decode(), re.MULTILINE | re.DOTALL)
            self.assertTrue(commands, out)
            for command in commands:
                self.assertNotIn(" right ", command)
                if not words or ring:
                    self.assertIn(" packets FILE ", command)
                    continue
                self.assertIn(f" packets '{path}' ", command)
                done = subprocess.run(["bash", "-c", f'roceanalyze() {{ "{PROGRAM}" "$@"; }}; {command}'], capture_output=True,
                                      check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout, command)

    def test_killed_it_leaves_a_file_that_opens(self):
        for name in ("a.pcapng", "a.pcapng.zst"):
            for pause in (0, 0.05, 0.3):
                path = self.path(str(pause) + name)
                process = self.begin("-w", path, "--capture-only")
                self.wait_until(lambda p=path: os.path.exists(p) and os.path.getsize(p) > 0, "the file")
                self.send(self.rping)
                time.sleep(pause)
                process.kill()
                process.wait()
                code, got, errors = report(path)
                self.assertIn(code, (0, 3))
                if code == 3:
                    self.assertIn("cut", errors)
                code, lines, errors = tshark(path)
                if code != 0:
                    self.assertIn("cut short", errors)
                self.assertEqual(len(lines), got["capture"]["packets"])

    def test_a_full_disk_stops_it_and_keeps_whole_packets(self):
        mount = self.path("small")
        os.mkdir(mount)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", mount], check=True)
        self.addCleanup(subprocess.run, ["umount", mount], check=True)
        path = os.path.join(mount, "a.pcapng")
        process = self.begin("-w", path, "--json")
        for _ in range(100):
            self.send(self.rping)
            if process.poll() is not None:
                break
        out, errors = process.communicate(timeout=PATIENCE)
        errors = errors.decode()
        self.assertEqual(process.returncode, 3)
        self.assertIn("No space left on device", errors)
        code, lines, complaint = tshark(path)
        self.assertEqual(code, 0, complaint)
        self.assertIn(f"kept: {len(lines)} packets", errors)
        self.assertGreater(len(lines), 100)
        self.assertGreaterEqual(json.loads(out)["capture"]["packets"], len(lines))
        self.assertEqual(report(path)[0], 0)

    def test_a_ring(self):
        process = self.begin("-w", self.path("r.pcapng"), "-b", "packets:10", "-b", "files:3", "--json")
        self.send(self.rping)
        count = len(self.rping)
        self.wait_until(lambda: self.files() and f"_{(count - 1) // 10 + 1:05d}_" in self.files()[-1], "the last file")
        self.wait_until(lambda: len(tshark(self.files()[-1])[1]) == (count - 1) % 10 + 1, "the last packet")
        status, out, errors = self.end(process)
        self.assertEqual(status, 0, errors)
        self.assertEqual(json.loads(out)["capture"]["packets"], count)
        files = self.files()
        self.assertEqual(len(files), 3)
        for path in files:
            self.assertRegex(os.path.basename(path), r"^r_\d{5}_\d{14}\.pcapng$")
            self.assertEqual(tshark(path)[0], 0)
        last = [data for path in files for _, data in frames_of(path)]
        self.assertEqual(last, [data for _, data in self.rping][-len(last):])
        self.assertIn("older file", errors)

    def test_packets_to_a_pipe(self):
        path = self.path("out")
        with open(path, "wb") as file:
            process = self.begin("-w", "-", "-c", str(len(self.rping)), stdout=subprocess.PIPE)
            reader = subprocess.Popen(["tshark", "-n", "-r", "-"], stdin=process.stdout, stdout=file,
                                      stderr=subprocess.DEVNULL)
            process.stdout.close()
            self.send(self.rping)
            self.assertEqual(reader.wait(timeout=PATIENCE), 0)
        errors = process.stderr.read().decode()
        self.assertEqual(process.wait(timeout=PATIENCE), 0, errors)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), len(self.rping))
        self.assertIn("Verdict", errors)

    def test_it_ends_when_nobody_reads_its_packets_any_more(self):
        for packets in (0, 5):  # without packets nothing is written that could fail
            with self.subTest(packets=packets):
                process = self.begin("-w", "-", stdout=subprocess.PIPE)
                self.assertEqual(process.stdout.read(4), b"\x0a\x0d\x0d\x0a")
                self.send(self.rping[:packets])
                process.stdout.close()
                errors = process.stderr.read().decode()
                self.assertEqual(process.wait(timeout=PATIENCE), 0, errors)
                self.assertIn("recorded: ", errors)
                self.assertIn("Verdict", errors)

    def test_it_ends_when_nobody_reads_its_summaries_any_more(self):
        process = self.begin("--every", "100ms", stdout=subprocess.PIPE)
        self.assertIn(b"RoCE packets/s", process.stdout.readline())
        process.stdout.close()
        errors = process.stderr.read().decode()
        self.assertEqual(process.wait(timeout=PATIENCE), 0, errors)
        # Where a file comes of it, it goes on.
        path = self.path("a.pcapng")
        process = self.begin("--every", "100ms", "-w", path, stdout=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        time.sleep(0.5)
        self.send(self.rping)
        self.captured_all(path, len(self.rping))
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE), 0)

    def test_it_ends_with_standard_input(self):
        path = self.path("a.pcapng")
        process = self.begin("-w", path, "--stop-with-stdin", stdin=subprocess.PIPE)
        process.stdin.write(b"what it says is not looked at\n")
        process.stdin.flush()
        self.send(self.rping)
        self.captured_all(path, len(self.rping))
        self.assertIsNone(process.poll())
        process.stdin.close()
        process.stdin = None
        out, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn(b"Verdict", out)

    def test_a_trigger_writes_what_lies_around_it(self):
        process = self.begin("-w", self.path("t.pcapng"), "--trigger", "retransmission", "--json")
        self.send(self.rping)
        self.assertEqual(self.files(), [])
        self.send(self.loss)
        self.wait_until(self.files, "a file")
        status, out, errors = self.end(process)
        self.assertEqual(status, 0, errors)
        files = self.files()
        self.assertEqual(len(files), 1)
        self.assertRegex(os.path.basename(files[0]), r"^t_00001_\d{14}\.pcapng$")
        code, got, _ = report(files[0])
        self.assertEqual(code, 0)
        self.assertIn("retransmitted packets", got["capture"]["files"][0]["comment"])
        live = json.loads(out)
        self.assertEqual(sum(flow["retransmitted"]["packets"] for flow in got["flows"]),
                         sum(flow["retransmitted"]["packets"] for flow in live["flows"]))
        self.assertEqual(tshark(files[0])[0], 0)

    def test_a_trigger_that_cannot_write_ends_it(self):
        folder = self.path("folder")
        os.mkdir(folder)
        process = self.begin("-w", os.path.join(folder, "t.pcapng"), "--trigger", "retransmission", "--json")
        self.send(self.rping[:10])
        packets = 0
        while packets == 0:  # then it is confined, before which it would refuse a folder that is gone
            process.send_signal(signal.SIGUSR1)
            packets = json.loads(process.stdout.readline())["capture"]["packets"]
        os.rename(folder, self.path("elsewhere"))
        self.send(self.loss)
        errors = process.communicate(timeout=PATIENCE)[1].decode()
        self.assertEqual(process.returncode, 3)
        self.assertRegex(errors, r"folder/t_00001_\d{14}\.pcapng: cannot be opened for writing: No such file or directory")
        self.assertIn("recording stopped; kept: nothing was written\n", errors)

    def test_findings_are_comments_in_the_file(self):
        path = self.path("a.pcapng")
        process = self.begin("-w", path)
        self.send(self.loss)
        self.captured_all(path, len(self.loss))

        def comments():
            self.send(self.rping[:1])  # the comment comes with the next packet
            return tshark(path, "-T", "fields", "-e", "frame.comment", "-Y", "frame.comment")[1]

        self.wait_until(comments, "a comment")
        status, _, errors = self.end(process, signal.SIGTERM)
        self.assertEqual(status, 0, errors)
        self.assertTrue(all("finding: " in comment for comment in comments()), comments())

    def test_signals(self):
        path = self.path("a.pcapng")
        process = self.begin("-w", path, "--json")
        self.send(self.rping)
        self.captured_all(path, len(self.rping))
        os.rename(path, self.path("moved"))
        process.send_signal(signal.SIGHUP)
        self.wait_until(lambda: os.path.exists(path), "a new file under the old name")
        self.send(self.rping)
        self.captured_all(path, len(self.rping))
        process.send_signal(signal.SIGUSR1)
        first = json.loads(process.stdout.readline())
        self.assertFalse(first["final"])
        status, out, errors = self.end(process, signal.SIGTERM)
        self.assertEqual(status, 0, errors)
        last = json.loads(out)
        self.assertTrue(last["final"])
        self.assertEqual(last["capture"]["packets"], 2 * len(self.rping))
        self.assertEqual(len(tshark(self.path("moved"))[1]), len(self.rping))

    def test_a_signal_sent_twice_at_once_is_one(self):
        """As timeout(1) does: to its child and to their group."""
        for number in (signal.SIGINT, signal.SIGTERM):
            done = subprocess.run(["timeout", f"--signal={number.name}", "1", PROGRAM, "capture", "-i", "right", "-w",
                                   self.path("t.pcapng"), "--force"], capture_output=True, check=False, timeout=PATIENCE)
            self.assertEqual(done.returncode, 124)
            self.assertIn(b"recorded: 0 packets", done.stderr)
            self.assertIn(b"Verdict", done.stdout)
        process = self.begin()
        process.send_signal(signal.SIGTERM)
        status, out, errors = self.end(process, signal.SIGINT)
        self.assertEqual(status, 0, errors)
        self.assertIn(b"Verdict", out)

    def test_what_its_caller_ignores(self):
        """nohup keeps SIGHUP from it; what a script begins in the background ends by SIGINT all the same, twice and early."""
        def in_the_background():
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_IGN)
        process = self.begin("--json", preexec_fn=in_the_background)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGUSR1)
        self.assertIn(b'"final":false', process.stdout.readline())
        self.assertIsNone(process.poll(), "SIGHUP ended it")
        status, out, errors = self.end(process)
        self.assertEqual(status, 0, errors)
        self.assertTrue(json.loads(out))
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        process = self.begin("-w", fifo, preexec_fn=in_the_background)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE), -signal.SIGINT)

    def test_an_empty_name_is_not_the_same_as_none(self):
        for option in ("-w", "-Z"):
            done = subprocess.run([PROGRAM, "capture", "-i", "right", option, ""], capture_output=True, check=False,
                                  timeout=PATIENCE)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"the value is empty", done.stderr)

    def test_a_file_that_is_no_capture_is_not_overwritten(self):
        path = self.path("notes.txt")
        words = [PROGRAM, "capture", "-i", "right", "-w", path, "-a", "duration:1", "--plain"]
        with open(path, "wb") as file:
            file.write(b"notes")
        done = subprocess.run(words, capture_output=True, check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"without --force", done.stderr)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"notes")
        for options, status in ((["--force"], 0), ([], 2), (["--force"], 0)):  # the last two are over a capture
            done = subprocess.run([*words, *options], capture_output=True, check=False, timeout=PATIENCE)
            self.assertEqual(done.returncode, status, done.stderr)
        os.unlink(path)
        policy = self.path("own.toml")
        with open(policy, "wb") as file:
            file.write(subprocess.run([PROGRAM, "check", "--show-policy", "nvidia"], capture_output=True, check=True).stdout)
        done = subprocess.run([PROGRAM, "capture", "-i", "right", "-w", policy, "--policy", policy, "--force"],
                              capture_output=True, check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"reads the file itself", done.stderr)
        done = subprocess.run(words, capture_output=True, check=False, timeout=PATIENCE, preexec_fn=lambda: os.umask(0))
        self.assertEqual((done.returncode, os.stat(path).st_mode & 0o777), (0, 0o600), done.stderr)

    def test_the_second_signal_ends_it_at_once(self):
        # Nobody reads what it writes.
        process = self.begin("-w", "-")
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            self.send(self.rping)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(process.poll(), "it waits for its reader")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE), -signal.SIGINT)

    def test_a_report_that_nobody_reads_can_be_ended(self):
        for before, deadly in (((), signal.SIGTERM), ((signal.SIGINT, signal.SIGINT), signal.SIGINT)):
            reader, writer = os.pipe()
            self.addCleanup(os.close, reader)
            os.set_blocking(writer, False)
            with self.assertRaises(BlockingIOError):
                while True:
                    os.write(writer, bytes(4096))
            os.set_blocking(writer, True)
            path = self.path("ended.pcapng")
            process = self.begin("-w", path, *(() if before else ("-c", "10")), stdout=writer)
            os.close(writer)
            self.send(self.rping)
            for number in before:
                process.send_signal(number)
            time.sleep(1)
            self.assertIsNone(process.poll(), "it waits for its reader")
            process.send_signal(deadly)
            self.assertEqual(process.wait(timeout=PATIENCE), -deadly)
            self.assertGreaterEqual(len(tshark(path)[1]), 10)
            os.unlink(path)

    def test_a_fifo_waits_for_its_reader_and_can_be_ended(self):
        path = self.path("fifo")
        os.mkfifo(path)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.begin("-w", path)
            time.sleep(0.3)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=PATIENCE), -number)
        process = self.begin("-w", path)
        with open(path, "rb") as reader:
            self.assertEqual(reader.read(4), b"\x0a\x0d\x0d\x0a")
            time.sleep(0.3)
            status, _, errors = self.end(process)
            self.assertEqual(status, 0, errors)
            self.assertIn("recorded: 0 packets", errors)

    def test_a_late_signal_for_files_or_a_report_does_no_harm(self):
        process = self.begin()
        process.send_signal(signal.SIGINT)
        for number in (signal.SIGHUP, signal.SIGUSR1) * 100:
            process.send_signal(number)
        status, out, errors = self.end(process, signal.SIGUSR1)
        self.assertEqual(status, 0, errors)
        self.assertIn(b"Verdict", out)


if __name__ == "__main__":
    namespace.enter_namespace()
    namespace.make_pair()
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What runs around a live capture: screen, lines, system log, metrics, and how it is confined meanwhile. On a pair of
virtual interfaces in a network namespace of its own. Usage: capture_monitor_test.py ROCEANALYZE SAMPLES"""

import fcntl
import json
import os
import pty
import pwd
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import namespace  # noqa: E402

PROGRAM, SAMPLES = (os.path.abspath(path) for path in (sys.argv.pop(1), sys.argv.pop(1)))
LOSS = "04_write_loss1.cb.pcap.zst"
PATIENCE = 60  # seconds until something that must happen counts as not happening
SECCOMP_FILTER = 2


def frames_of(name):
    """[bytes] of a sample."""
    packets = subprocess.run([PROGRAM, "packets", os.path.join(SAMPLES, name), "--no-analysis", "-w", "-"], check=False,
                             capture_output=True)
    if packets.returncode != 0:
        raise AssertionError(packets.stderr.decode())
    data, frames, at = packets.stdout, [], 0
    while at < len(data):  # pcapng of our own: little-endian enhanced packet blocks
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 6:
            captured = struct.unpack_from("<I", data, at + 20)[0]
            frames.append(data[at + 28:at + 28 + captured])
        at += size
    return frames


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen")


def threads_of(process):
    """The status lines of each thread: [{name: value}]."""
    threads = []
    for task in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{task}/status", encoding="ascii") as file:
                threads.append(dict(line.strip().split(":", 1) for line in file if ":" in line))
        except FileNotFoundError:
            pass
    return threads


class Capture:
    """`roceanalyze capture -i right`, its errors read line by line."""

    def __init__(self, *words, **more):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([PROGRAM, "capture", "-i", "right", *words], stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, **more)

    def said(self, pattern=""):
        self.errors.seek(0)
        return re.search(pattern, self.errors.read())

    def all_errors(self):
        self.errors.seek(0)
        return self.errors.read()

    def wait_said(self, pattern):
        def condition():
            if self.process.poll() is not None and not self.said(pattern):
                raise AssertionError(f"ended with {self.process.returncode}: {self.all_errors()}")
            return self.said(pattern)
        return wait_for(pattern, condition)

    def finish(self, number=signal.SIGINT):
        self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, output, self.all_errors()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        self.errors.close()


class Network(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.frames = frames_of(LOSS)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.sender = namespace.Sender("left")
        self.sender.__enter__()
        self.addCleanup(self.sender.__exit__)

    def capture(self, *words, **more):
        capture = Capture(*words, **more)
        self.addCleanup(capture.kill)
        return capture

    def send(self, count=None):
        for frame in self.frames[:count]:
            self.sender.send(frame)

    def confined(self, process):
        """Once it has taken from itself what it does not need."""
        def condition():
            threads = threads_of(process)
            return threads and all(int(t["Seccomp"]) == SECCOMP_FILTER for t in threads)
        wait_for("the sandbox", condition)
        return threads_of(process)

    def scrape(self, url):
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            text = answer.read().decode()
        values = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                values[name] = float(value)
        return text, values


class Monitor(Network):
    def test_all_of_it_at_once_confined(self):
        """Rings, zstd, metrics, log, summaries, USR1 and HUP, with nothing but what the sandbox leaves."""
        ring = os.path.join(self.folder, "ring.pcapng.zst")
        capture = self.capture("-w", ring, "-b", "filesize:500", "-b", "files:3", "--metrics", "0", "--syslog",
                               "--every", "200ms", "--json", "--jobs", "3", "--policy", "nvidia", "-f", "greater 1")
        url = capture.wait_said(r"metrics at (http://127\.0\.0\.1:\d+/metrics)").group(1)
        threads = self.confined(capture.process.pid)
        for thread in threads:
            for key in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
                self.assertEqual(int(thread[key], 16), 0, thread)
            self.assertEqual(thread["NoNewPrivs"].strip(), "1")
        before = len(threads)
        self.send()
        wait_for("the metrics", lambda: self.scrape(url)[1]['roceanalyze_packets_total{device="right"}'] > 3000)
        capture.process.send_signal(signal.SIGHUP)
        capture.process.send_signal(signal.SIGUSR1)
        wait_for("a next file", lambda: len(os.listdir(self.folder)) > 1)
        self.send()
        after = threads_of(capture.process.pid)
        self.assertGreaterEqual(len(after), before - 1)
        for thread in after:  # those that came later too
            self.assertEqual(int(thread["Seccomp"]), SECCOMP_FILTER)
        status, output, errors = capture.finish()
        self.assertEqual(status, 0, errors)
        objects = [json.loads(line) for line in output.splitlines()]
        final = objects[-1]
        self.assertTrue(final["final"])
        self.assertEqual(final["capture"]["packets"] + final["capture"]["dropped"], self.sender.sent)
        summaries = [each for each in objects if each.get("kind") == "summary"]
        self.assertTrue(summaries)
        self.assertTrue(any(not each["final"] and "flows" in each for each in objects), "no report for USR1")
        found = [each for each in objects if each.get("kind") == "finding"]
        self.assertTrue(found)
        for each in found:
            self.assertEqual((each["final"], each["news"] in ("new", "more severe", "more often")), (False, True))
            self.assertEqual(each["finding"].keys(), final["findings"][0].keys())
            self.assertGreater(each["elapsed_ns"], 0)
        self.assertLessEqual({each["id"] for each in final["findings"] if each["severity"] == "error"},
                             {each["finding"]["id"] for each in found})
        totals = [each["total"]["packets"] for each in summaries]
        self.assertEqual(totals, sorted(totals))
        for name in os.listdir(self.folder):
            done = subprocess.run([PROGRAM, "report", "--json", os.path.join(self.folder, name)], check=False,
                                  capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_way_to_capture_works_confined(self):
        path = os.path.join(self.folder, "way")
        ways = (("--no-icrc", "-c", "150"), ("-i", "any"), ("-Y", "infiniband.bth.opcode == 10", "--jobs", "2"),
                ("-w", path + "1.pcapng", "--capture-only"), ("-w", path + "2.pcapng.zst", "-b", "packets:50"),
                ("-w", path + "3.pcapng", "--trigger", "retransmission", "--before", "1s", "--after", "1ms"),
                ("-w", path + "4.pcapng", "-a", "duration:1"), ("-w", "-"), ("--syslog", "-B", "1", "-s", "96", "-p"),
                ("--every", "100ms", "--fail-on", "error"), ("--policy", "nvidia", "--link-speed", "100G"))
        for way in ways:
            with self.subTest(" ".join(way)):
                device = () if "-i" in way else ("-i", "right")
                errors = tempfile.TemporaryFile("w+")
                process = subprocess.Popen([PROGRAM, "capture", *device, *way], stdout=subprocess.DEVNULL, stderr=errors)
                self.addCleanup(lambda ended=process: ended.poll() is None and (ended.kill(), ended.wait()))
                self.confined(process.pid)
                self.send(1500)
                time.sleep(0.3)
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                status = process.wait(timeout=PATIENCE)
                errors.seek(0)
                said = errors.read()
                self.assertIn(status, (0, 1) if "--fail-on" in way else (0,), said)
                self.assertNotIn("not permitted", said)
                errors.close()
        self.assertGreater(len(os.listdir(self.folder)), 5)

    def test_metrics_say_what_the_report_says(self):
        capture = self.capture("--metrics", "0", "--json")
        url = capture.wait_said(r"metrics at (\S+)").group(1)
        self.send()
        capture.wait_said(r"\d\d:\d\d:\d\d  DEGRADED packets lost upstream of the capture point \(loss_before_capture, ")
        name = 'roceanalyze_packets_total{device="right"}'
        wait_for("all packets", lambda: self.scrape(url)[1][name] == self.sender.sent)
        text, values = self.scrape(url)
        if shutil.which("promtool"):
            checked = subprocess.run(["promtool", "check", "metrics"], input=text, check=False, text=True,
                                     capture_output=True)
            ours = [line for line in (checked.stdout + checked.stderr).splitlines() if not line.startswith("exposer_")]
            self.assertEqual(ours, [])
        status, output, errors = capture.finish()
        self.assertEqual(status, 0, errors)
        report = json.loads(output)
        def metric(name, **labels):
            return sum(value for key, value in values.items() if key.startswith("roceanalyze_" + name + "{")
                       and all(f'{k}="{v}"' in key for k, v in labels.items()))
        self.assertEqual(metric("packets_total"), report["capture"]["packets"])
        self.assertEqual(metric("wire_bytes_total"), report["capture"]["bytes"])
        self.assertEqual(metric("dropped_packets_total"), report["capture"]["dropped"])
        self.assertEqual(metric("roce_packets_total"), report["roce"]["packets"])
        self.assertEqual(metric("roce_wire_bytes_total"), report["roce"]["bytes"])
        for opcode, packets in report["roce"]["opcodes"].items():
            self.assertEqual(metric("opcode_packets_total", opcode=opcode), packets)
        for kind, packets in report["other_traffic"].items():
            self.assertEqual(metric("other_packets_total", kind=kind), packets)
        for status_name in ("match", "mismatch", "not_checkable"):
            self.assertEqual(metric("icrc_packets_total", status=status_name), report["roce"]["icrc"][status_name])
        connections = report["connections"]
        self.assertEqual(metric("retransmitted_packets_total"), sum(c["retransmitted"]["packets"] for c in connections))
        self.assertEqual(metric("lost_packets_total"), sum(sum(c["lost"].values()) for c in connections))
        self.assertEqual(metric("connections"), len(connections))
        self.assertEqual(metric("findings"), len(report["findings"]))
        for finding in report["findings"]:
            self.assertGreaterEqual(metric("findings_reported_total", id=finding["id"]), 1)

    def test_a_prometheus_scrapes_it(self):
        if shutil.which("prometheus") is None:
            self.skipTest("there is no prometheus here")
        capture = self.capture("--metrics", "0")
        port = capture.wait_said(r"metrics at http://127\.0\.0\.1:(\d+)/").group(1)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            own = free.getsockname()[1]
        config = os.path.join(self.folder, "prometheus.yml")
        rules = os.path.join(os.path.dirname(SAMPLES), "docs", "prometheus", "roceanalyze.rules.yml")
        with open(config, "w", encoding="ascii") as file:
            json.dump({"global": {"scrape_interval": "200ms", "scrape_timeout": "200ms", "evaluation_interval": "200ms"},
                       "rule_files": [rules],
                       "scrape_configs": [{"job_name": "roceanalyze",
                                           "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}]}, file)
        server = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
                                   f"--web.listen-address=127.0.0.1:{own}", "--log.level=error"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)

        def ask(what):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{own}/api/v1/{what}", timeout=PATIENCE) as answer:
                    return json.load(answer)["data"]
            except OSError:
                return None

        def value(expression):
            data = ask("query?" + urllib.parse.urlencode({"query": expression}))
            return float(data["result"][0]["value"][1]) if data and data["result"] else None
        wait_for("a scrape", lambda: value('up{job="roceanalyze"}') == 1)
        self.send()
        wait_for("all packets", lambda: value("roceanalyze_packets_total") == self.sender.sent)
        self.assertGreater(value("sum(roceanalyze_lost_packets_total)"), 0)
        self.assertEqual(value('sum(roceanalyze_findings{severity="error"}) > bool 0'), 1)
        wait_for("an alert", lambda: value('count(ALERTS{alertname="RoceErrorFinding", alertstate="firing"})'))
        types = {each["type"] for name, entries in ask("metadata").items() if name.startswith("roceanalyze_")
                 for each in entries}
        self.assertEqual(types, {"counter", "gauge"})

    def test_an_address_that_is_taken_is_an_error(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            capture = self.capture("--metrics", str(taken.getsockname()[1]))
            self.assertEqual(capture.process.wait(timeout=PATIENCE), 3)
        self.assertIn("another process is listening there", capture.all_errors())
        capture = self.capture("--metrics", "nowhere")
        self.assertEqual(capture.process.wait(timeout=PATIENCE), 2)

    def other_user(self):
        """nobody, where somebody else can be become."""
        if os.geteuid() != 0 or not os.access("/proc/self/setgroups", os.R_OK):
            self.skipTest("only root can become another user")
        with open("/proc/self/setgroups", encoding="ascii") as file:
            if file.read().strip() != "allow":
                self.skipTest("no other users in this user namespace")
        return pwd.getpwnam("nobody")

    def owners(self):
        return {name: os.stat(os.path.join(self.folder, name)).st_uid for name in os.listdir(self.folder)}

    def test_another_user_from_the_first_packet_on(self):
        nobody = self.other_user()
        os.chmod(self.folder, 0o777)
        path = os.path.join(self.folder, "a.pcapng")
        capture = self.capture("-Z", "nobody", "-w", path, "-b", "packets:500")
        for thread in self.confined(capture.process.pid):
            self.assertEqual(thread["Uid"].split(), [str(nobody.pw_uid)] * 4)
            self.assertEqual(thread["Gid"].split(), [str(nobody.pw_gid)] * 4)
            self.assertNotIn("0", thread["Groups"].split())
        self.send()
        status, output, errors = capture.finish()
        self.assertEqual(status, 0, errors)
        self.assertIn("Verdict", output)
        self.assertGreater(len(self.owners()), 3)
        self.assertEqual(set(self.owners().values()), {nobody.pw_uid})

        os.chmod(self.folder, 0o755)
        refused = self.capture("-Z", "nobody", "-w", path, "-b", "packets:500")
        self.assertEqual(refused.process.wait(timeout=PATIENCE), 3)
        self.assertIn("no further file can be created in this folder", refused.all_errors())
        unknown = self.capture("-Z", "no such user")
        self.assertEqual(unknown.process.wait(timeout=PATIENCE), 3)
        self.assertIn("getent passwd", unknown.all_errors())

    def test_another_user_in_a_folder_like_tmp(self):
        """Where everybody may make files and nobody may remove or, with fs.protected_regular, overwrite others'."""
        nobody = self.other_user()
        os.chmod(self.folder, 0o1777)
        ring = self.capture("-Z", "nobody", "-w", os.path.join(self.folder, "r.pcapng"), "-b", "packets:500", "-b", "files:2")
        self.confined(ring.process.pid)
        self.send()
        status, _, errors = ring.finish()
        self.assertEqual(status, 0, errors)
        self.assertNotIn("cannot be removed", errors)
        self.assertEqual(len(self.owners()), 2, "the first file stayed")
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))

        def once(path, owner):
            capture = self.capture("-Z", "nobody", "-w", path, "--force")
            self.confined(capture.process.pid)
            self.send(10)
            status, _, errors = capture.finish()
            self.assertEqual(status, 0, errors)
            self.assertEqual(os.stat(path).st_uid, owner)
            self.assertGreater(os.path.getsize(path), 1000)
        path = os.path.join(self.folder, "a.pcapng")
        once(path, nobody.pw_uid)
        once(path, nobody.pw_uid)  # again, over one's own
        os.unlink(path)
        with open(path, "wb"):  # root's of before: root wants it to be written
            pass
        once(path, 0)
        os.chmod(self.folder, 0o700)
        once(os.path.join(self.folder, "b.pcapng"), 0)

    def test_without_a_sandbox_there_is_none(self):
        capture = self.capture("--no-sandbox", "--metrics", "0")
        capture.wait_said("metrics at")
        wait_for("the drop", lambda: all(int(t["CapEff"], 16) == 0 for t in threads_of(capture.process.pid)))
        for thread in threads_of(capture.process.pid):
            self.assertEqual(int(thread["Seccomp"]), 0)
        status, _, errors = capture.finish()
        self.assertEqual(status, 0, errors)

    def system_log(self):
        """A socket where the system log would listen."""
        if os.path.exists("/dev/log"):
            self.skipTest("this machine has a system log, which a test should not disturb")
        log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(log.close)
        try:
            log.bind("/dev/log")
        except OSError as error:
            self.skipTest(f"/dev/log cannot be made here: {error}")
        self.addCleanup(os.unlink, "/dev/log")
        log.settimeout(PATIENCE)
        return log

    def test_a_stalled_system_log_holds_nothing_up(self):
        log = self.system_log()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other, self.assertRaises(BlockingIOError):
            other.setblocking(False)
            while True:
                other.sendto(b"full", "/dev/log")
        path = os.path.join(self.folder, "a.pcapng")
        capture = self.capture("--syslog", "-w", path)
        self.confined(capture.process.pid)
        self.send()
        wait_for("the packets", lambda: os.path.getsize(path) > 500 * len(self.frames))
        status, output, errors = capture.finish()
        self.assertEqual(status, 0, errors)
        self.assertIn(f"recorded: {self.sender.sent} packets", errors)
        self.assertIn("Verdict", output)
        self.assertRegex(errors, r"--syslog: [3-9] messages were lost because the system log did not accept them")
        log.close()

    def stalled_pipe(self):
        """The writing end of a pipe that is full and that nobody reads."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_blocking(writer, False)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        os.set_blocking(writer, True)
        return reader, writer

    def test_an_output_that_nobody_reads_holds_nothing_up(self):
        """Neither summaries, reports and findings to a pipe nor a terminal that was stopped."""
        for stream in ("stdout", "stderr"):
            with self.subTest(stream):
                reader, writer = self.stalled_pipe()
                path = os.path.join(self.folder, stream + ".pcapng")
                other = tempfile.TemporaryFile("w+")
                self.addCleanup(other.close)
                words = [PROGRAM, "capture", "-i", "right", "-w", path, "-b", "packets:100000", "--every", "50ms"]
                process = subprocess.Popen(words, **{"stdout": other, "stderr": other, stream: writer})
                os.close(writer)
                self.addCleanup(lambda ended=process: ended.poll() is None and (ended.kill(), ended.wait()))
                self.confined(process.pid)
                sent = self.sender.sent

                def recorded():
                    names = [name for name in os.listdir(self.folder) if name.startswith(stream)]
                    return sum(os.path.getsize(os.path.join(self.folder, name)) for name in names), len(names)
                process.send_signal(signal.SIGUSR1)
                for files in (2, 3):
                    before = recorded()[0]
                    self.send()
                    wait_for("the packets", lambda: recorded()[0] > before + 900 * len(self.frames))
                    process.send_signal(signal.SIGHUP)
                    wait_for("the next file", lambda: recorded()[1] == files)
                process.send_signal(signal.SIGINT)
                time.sleep(0.5)
                # From here on it waits for its reader, as every program does.
                os.set_blocking(reader, False)
                text = b""
                while process.poll() is None:
                    try:
                        text += os.read(reader, 65536)
                    except BlockingIOError:
                        time.sleep(0.01)
                other.seek(0)
                said = other.read() + text.decode(errors="replace")
                self.assertEqual(process.returncode, 0, said)
                self.assertIn("Verdict", said)
                self.assertRegex(said, rf"recorded: {self.sender.sent - sent} packets")

    def test_clients_that_ask_or_read_nothing_hold_nothing_up(self):
        capture = self.capture("--metrics", "0")
        port = int(capture.wait_said(r"metrics at http://127\.0\.0\.1:(\d+)/").group(1))
        self.confined(capture.process.pid)
        clients = []
        for asked in (b"", b"GET /metrics HTTP/1.1\r\n", b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 1000) * 8:
            client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            self.addCleanup(client.close)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            client.setblocking(False)
            if asked:
                client.send(asked)
            clients.append(client)
        begun = time.monotonic()
        self.scrape(f"http://127.0.0.1:{port}/metrics")
        self.assertLess(time.monotonic() - begun, 1)
        self.send()
        capture.wait_said(r"DEGRADED packets lost upstream of the capture point")
        status, output, errors = capture.finish()
        self.assertEqual(status, 0, errors)
        self.assertIn(f"{self.sender.sent} packets", output)

    def test_the_system_log_hears_of_findings(self):
        log = self.system_log()
        capture = self.capture("--syslog")
        self.confined(capture.process.pid)
        self.send()
        lines = []
        while not any("finding=loss_before_capture" in line for line in lines):
            lines.append(log.recv(65536).decode())
        self.assertRegex(lines[0], r"^<30>.* roceanalyze\[\d+\]: capture=started device=right file=")
        finding = next(line for line in lines if "finding=loss_before_capture" in line)
        self.assertRegex(finding, r"^<27>.* roceanalyze\[\d+\]: finding=loss_before_capture severity=error device=right ")
        status, _, errors = capture.finish()
        self.assertEqual(status, 0, errors)
        while not any("capture=ended" in line for line in lines):
            lines.append(log.recv(65536).decode())
        self.assertRegex(lines[-1], rf"capture=ended device=right diagnosis=loss severity=degraded .* packets={self.sender.sent} ")


class Screen(Network):
    """On a terminal: what it shows, and that it is given back."""

    ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"

    def terminal(self, *words, size=(24, 90)):
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminal can be made here (is /dev/pts mounted?): {error}")
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self.before = termios.tcgetattr(theirs)
        process = subprocess.Popen([PROGRAM, "capture", "-i", "right", *words], stdin=theirs, stdout=theirs, stderr=theirs,
                                   start_new_session=True, env={**os.environ, "TERM": "xterm"},
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.ours, self.theirs, self.text = ours, theirs, ""
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, theirs)
        return process

    def read(self):
        while select.select([self.ours], [], [], 0)[0]:
            self.text += os.read(self.ours, 65536).decode(errors="replace")
        return self.text

    def last_screen(self):
        return self.read().split("\x1b[H")[-1]

    def given_back(self):
        self.assertEqual(termios.tcgetattr(self.theirs)[3], self.before[3])
        self.assertIn(self.LEAVE, self.text)
        self.assertEqual(self.text.count(self.ENTER), self.text.count(self.LEAVE))
        self.assertIn("\x1b[?25h", self.text.rsplit(self.LEAVE, 1)[0])

    def test_it_shows_the_verdict_and_leaves_the_report(self):
        process = self.terminal()
        wait_for("the screen", lambda: "no RoCE packets yet" in self.read())
        self.send()
        wait_for("the verdict", lambda: re.search(r"10\.77\.0\.2 loses", self.last_screen()))
        wait_for("the finding", lambda: "loss_before_capture" in self.last_screen())
        for line in re.split(r"[\r\n]+", re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", self.last_screen())):
            self.assertLess(len(line), 90)
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 5, 40, 0, 0))
        wait_for("its new size", lambda: self.last_screen().count("\r\n") == 4)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, self.read())
        self.read()
        self.given_back()
        self.assertIn("Verdict", self.text.rsplit(self.LEAVE, 1)[1])

    def test_the_terminal_is_given_back_however_it_ends(self):
        for numbers in ((signal.SIGABRT,), (signal.SIGSEGV,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)):
            process = self.terminal("--no-icrc")
            wait_for("the screen", lambda: "Verdict" in self.read())
            for number in numbers:
                process.send_signal(number)
            process.wait(timeout=PATIENCE)
            self.read()
            self.given_back()

    def test_suspended_it_gives_the_terminal_back_for_a_while(self):
        process = self.terminal()
        wait_for("the screen", lambda: "Verdict" in self.read())
        process.send_signal(signal.SIGTSTP)
        wait_for("the end of the screen", lambda: self.LEAVE in self.read())
        self.assertEqual(termios.tcgetattr(self.theirs)[3], self.before[3])
        self.text = ""
        process.send_signal(signal.SIGCONT)
        wait_for("the screen", lambda: self.ENTER in self.read() and "Verdict" in self.text)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE)
        self.read()
        self.given_back()

    def test_a_stopped_terminal_holds_nothing_up(self):
        path = os.path.join(self.folder, "a.pcapng")
        process = self.terminal("-w", path)
        wait_for("the screen", lambda: "Verdict" in self.read())
        termios.tcflow(self.theirs, termios.TCOOFF)  # as Ctrl-S
        before = os.path.getsize(path)
        self.send()
        wait_for("the packets", lambda: os.path.getsize(path) > before + 900 * len(self.frames))
        process.send_signal(signal.SIGHUP)
        wait_for("the next file", lambda: len(os.listdir(self.folder)) == 2)
        termios.tcflow(self.theirs, termios.TCOON)
        wait_for("the verdict", lambda: re.search(r"10\.77\.0\.2 loses", self.last_screen()))
        process.send_signal(signal.SIGINT)
        wait_for("the end", lambda: self.read() is not None and process.poll() is not None)
        self.assertEqual(process.returncode, 0, self.read())
        self.read()
        self.given_back()

    def test_no_screen_where_lines_are_wanted(self):
        for words in (("--plain",), ("--every", "1s"), ("--json",)):
            process = self.terminal(*words)
            self.send(100)
            wait_for("its rights to go", lambda: all(int(t["Seccomp"]) for t in threads_of(process.pid)))
            process.send_signal(signal.SIGINT)
            process.wait(timeout=PATIENCE)
            self.assertNotIn(self.ENTER, self.read())
            self.assertEqual(process.returncode, 0, self.text)


if __name__ == "__main__":
    if "sanitizers" in subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout:
        namespace.skip("a build with sanitizers is not confined")
    namespace.enter_namespace()
    namespace.make_pair()
    namespace.command("ip", "link", "set", "dev", "lo", "up")
    unittest.main()

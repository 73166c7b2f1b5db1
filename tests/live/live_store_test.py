#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A live capture with --store: its rows are those of the file that it writes beside, in a store or in a spool that is
shipped later; nothing is doubled, whatever is killed. Usage: live_store_test.py LIVE_DUMP ROCEANALYZE SAMPLES"""

import errno
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fleet"))
import clickhouse
import namespace
from namespace import Sender
from frames import read_capture

_, PROGRAM, SAMPLES = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
LOSSY = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
PATIENCE = 60
SUMS = ("SELECT src, dst, dst_qp, SUM(packets), SUM(bytes), SUM(retransmitted), SUM(lost_at_least), SUM(naks), SUM(acks) FROM intervals"
        " GROUP BY src, dst, dst_qp ORDER BY src")


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False, timeout=PATIENCE)


class LiveStore(unittest.TestCase):
    def setUp(self):
        namespace.make_pair()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.store = os.path.join(self.folder, "fleet.store")

    def tearDown(self):
        subprocess.run(["ip", "link", "del", "left"], stderr=subprocess.DEVNULL, check=False)

    def rows(self, sql, store=None):
        base = sqlite3.connect(store or self.store)
        try:
            return base.execute(sql).fetchall()
        finally:
            base.close()

    def begin(self, *options):
        written = os.path.join(self.folder, "all.pcapng")
        process = subprocess.Popen([PROGRAM, "capture", "-i", "right", "-w", written, "--json", "--store-every", "1s", *options], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + PATIENCE
        while not os.path.exists(written) or os.path.getsize(written) == 0:
            self.assertTrue(process.poll() is None and time.monotonic() < end, "it does not begin")
            time.sleep(0.02)
        return process, written

    def send(self, seconds):
        plain = os.path.join(self.folder, "lossy.pcap")
        subprocess.run(["zstd", "-dqf", LOSSY, "-o", plain], check=True)
        frames = read_capture(plain)
        with Sender() as sender:
            for i, (data, _, _) in enumerate(frames):
                sender.send(data)
                if i % 100 == 99:
                    time.sleep(seconds * 100 / len(frames))
        return len(frames)

    def finish(self, process):
        process.send_signal(signal.SIGINT)
        output, messages = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, messages)
        return json.loads(output), messages

    def same_as_file(self, written, store=None):
        """A capture has more than one interval, and all of them have what the file has."""
        whole = os.path.join(self.folder, "whole.store")
        self.assertEqual(run("export", written, "-o", whole).returncode, 0)
        self.assertEqual(self.rows(SUMS, store), self.rows(SUMS, whole))
        self.assertEqual(self.rows("SELECT SUM(packets), SUM(dropped) FROM heartbeats", store),
                         self.rows("SELECT SUM(packets), SUM(dropped) FROM heartbeats", whole))
        self.assertGreater(self.rows("SELECT COUNT(DISTINCT time) FROM intervals WHERE packets > 0", store)[0][0], 1)

    def test_rows_are_those_of_the_file(self):
        process, written = self.begin("--store", self.store, "--ship-every", "1s", "--host", "h", "--address", "10.77.0.2")
        sent = self.send(3)
        report, messages = self.finish(process)
        self.assertEqual(report["capture"]["packets"], sent, messages)
        self.same_as_file(written)
        self.assertEqual(glob.glob(self.store + ".spool/*.batch"), [])
        self.assertEqual(self.rows("SELECT DISTINCT host, place FROM intervals WHERE src = '10.77.0.2'"), [("h", "sender")])
        self.assertEqual(self.rows("SELECT point, interval_ms FROM runs"), [("live", 1000)])
        for error, in self.rows("SELECT clock_error_ns FROM heartbeats"):
            self.assertTrue(error == -1 or error > 0, error)  # by the state of this host's clock
        batches, missing = self.rows("SELECT COUNT(*), MAX(seq) + 1 - COUNT(DISTINCT seq) FROM heartbeats")[0]
        self.assertEqual(missing, 0)
        self.assertGreater(batches, 2)

    def test_packets_that_turn_out_to_be_copies(self):
        """What was told of them is taken back: the rows' sums are those of the file, and of the report."""
        process, written = self.begin("--store", self.store, "--ship-every", "1s")
        sent = self.send(3) + self.send(3)
        report, messages = self.finish(process)
        self.assertEqual(report["capture"]["packets"], sent, messages)
        self.assertGreater(self.rows("SELECT COUNT(*) FROM intervals WHERE packets < 0")[0][0], 0)
        self.same_as_file(written)
        self.assertEqual(self.rows("SELECT SUM(packets), SUM(bytes) FROM pairs"), self.rows("SELECT SUM(packets), SUM(bytes) FROM intervals"))
        self.assertEqual(self.rows("SELECT SUM(roce_packets) FROM heartbeats"), self.rows("SELECT SUM(packets) FROM intervals"))

    def test_two_hosts_and_what_was_lost_between(self):
        """Both ends of one lossy flow, each captured live with its own clock of intervals, into one store."""
        frames = []
        for side, name in (("left", "ca"), ("left2", "cb")):
            plain = os.path.join(self.folder, name + ".pcap")
            subprocess.run(["zstd", "-dqf", LOSSY.replace(".cb.", f".{name}."), "-o", plain], check=True)
            sent = read_capture(plain)
            frames += [(when - sent[0][2], side, data) for data, _, when in sent]
        namespace.make_pair("left2", "right2")
        self.addCleanup(subprocess.run, ["ip", "link", "del", "left2"], stderr=subprocess.DEVNULL, check=False)
        captures = []
        spool = os.path.join(self.folder, "b")
        for device, host, address, target in (("right", "a", "10.77.0.1", self.store), ("right2", "b", "10.77.0.2", spool + "/")):
            written = os.path.join(self.folder, host + ".pcapng")
            captures.append(subprocess.Popen([PROGRAM, "capture", "-i", device, "-w", written, "--json", "--store", target,
                                              "--store-every", "1s", "--host", host, "--address", address], text=True,
                                             stdout=subprocess.PIPE, stderr=subprocess.PIPE))
            end = time.monotonic() + PATIENCE
            while not os.path.exists(written) or os.path.getsize(written) == 0:
                self.assertTrue(captures[-1].poll() is None and time.monotonic() < end, "it does not begin")
                time.sleep(0.02)
        slower = 5  # so that there are several intervals
        with Sender("left") as left, Sender("left2") as left2:
            began = time.monotonic_ns()
            for when, side, data in sorted(frames, key=lambda each: each[0]):
                rest = began + slower * when - time.monotonic_ns()
                if rest > 0:
                    time.sleep(rest / 1e9)
                (left if side == "left" else left2).send(data)
        for process in captures:
            self.finish(process)
        self.assertEqual(run("ship", spool, "--to", self.store, "--once").returncode, 0)
        loss, = json.loads(run("fleet", "loss", "--from", self.store, "--json").stdout)["rows"]
        # The truth between the same two marks, by what the files have.
        marks = self.rows("SELECT a.mark_psn FROM intervals a JOIN intervals b ON a.flow_key = b.flow_key AND a.mark_psn = b.mark_psn"
                          " WHERE a.host = 'a' AND b.host = 'b' AND a.mark_ns > 0 AND b.mark_ns > 0 ORDER BY a.mark_ns")
        self.assertEqual(len(marks), loss["marks"])

        def before(name, psn):
            """Requests before the first of that PSN, or of a later one."""
            shown = run("packets", os.path.join(self.folder, name), "-Y", "ip.src == 10.77.0.1 && infiniband", "-T", "fields", "-e",
                        "infiniband.bth.psn").stdout.split()
            return next(i for i, each in enumerate(shown) if int(each) >= psn)

        (first,), (last,) = marks[0], marks[-1]
        truth = before("a.pcapng", last) - before("a.pcapng", first) - (before("b.pcapng", last) - before("b.pcapng", first))
        self.assertEqual((loss["lost"], loss["directed"], loss["from_host"]), (truth, "yes", "a"))
        self.assertGreater(truth, 15)

    def test_a_spool_is_shipped_once(self):
        spool = os.path.join(self.folder, "spool")
        process, written = self.begin("--store", spool + "/", "--ship-every", "1s")
        self.send(3)
        self.finish(process)
        batches = sorted(glob.glob(spool + "/*.batch"))
        self.assertGreater(len(batches), 2)
        copies = os.path.join(self.folder, "copies")
        shutil.copytree(spool, copies)
        # One that is none, and one that was cut.
        with open(os.path.join(spool, "1-1.batch"), "wb") as file:
            file.write(b"nothing of ours\n")
        with open(batches[0], "rb") as file:
            cut = file.read()[:-10]
        with open(os.path.join(spool, "1-2.batch"), "wb") as file:
            file.write(cut)
        done = run("ship", spool, "--to", self.store, "--once")
        self.assertEqual(done.returncode, 3)
        self.assertIn("rejected", done.stderr)
        self.assertEqual(sorted(os.listdir(spool + "/rejected")), ["1-1.batch", "1-2.batch"])
        self.assertEqual(glob.glob(spool + "/*.batch"), [])
        self.same_as_file(written)
        before = self.rows("SELECT * FROM intervals")
        self.assertEqual(run("ship", copies, "--to", self.store, "--once").returncode, 0)  # sent again
        self.assertEqual(self.rows("SELECT * FROM intervals"), before)

    def test_killed_while_shipping(self):
        """kill -9 at any time: each batch is there once."""
        spool = os.path.join(self.folder, "spool")
        process, written = self.begin("--store", spool + "/", "--ship-every", "1s")
        self.send(3)
        self.finish(process)
        for delay in (0, 0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.03, 0.05):
            shipping = subprocess.Popen([PROGRAM, "ship", spool, "--to", self.store], stderr=subprocess.DEVNULL)
            time.sleep(delay)
            shipping.kill()
            shipping.wait()
        self.assertEqual(run("ship", spool, "--to", self.store, "--once").returncode, 0)
        self.same_as_file(written)

    def test_a_capture_that_is_killed_leaves_whole_batches(self):
        process, _ = self.begin("--store", self.store, "--ship-every", "1s")
        self.send(3)
        process.kill()
        process.communicate()
        end = time.monotonic() + PATIENCE
        while glob.glob(self.store + ".spool/*.batch") and time.monotonic() < end:
            time.sleep(0.05)
        self.assertGreater(self.rows("SELECT SUM(packets) FROM intervals")[0][0], 0)
        self.assertEqual(self.rows("SELECT COUNT(*), MAX(seq) + 1 FROM heartbeats")[0][0], self.rows("SELECT MAX(seq) + 1 FROM heartbeats")[0][0])

    def test_a_full_spool_is_said(self):
        spool = os.path.join(self.folder, "spool")
        process, _ = self.begin("--store", spool + "/", "--ship-every", "1s", "--spool-limit", "20K")
        self.send(4)
        _, messages = self.finish(process)
        self.assertIn("did not fit and are lost", messages)
        self.assertEqual(run("ship", spool, "--to", self.store, "--once").returncode, 0)
        self.assertGreater(self.rows("SELECT MAX(batches_lost) FROM heartbeats")[0][0], 0)
        self.assertGreater(json.loads(run("fleet", "hosts", "--from", self.store, "--json").stdout)["rows"][0]["batches"], 0)

    def test_a_full_disk_is_said(self):
        """The capture goes on; what it could not write is counted, all else is there once, and so is what comes when there is room."""
        spool = os.path.join(self.folder, "spool")
        os.mkdir(spool)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", spool], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", spool], check=False)
        process, written = self.begin("--store", spool + "/", "--ship-every", "1s", "--address", "10.77.0.2")
        sent = self.send(2)
        with open(spool + "/something else", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError as error:
                self.assertEqual(error.errno, errno.ENOSPC)
        sent += self.send(4)
        os.remove(spool + "/something else")
        sent += self.send(2)
        report, messages = self.finish(process)
        self.assertEqual(report["capture"]["packets"], sent)
        said = [line for line in messages.splitlines() if "No space left" in line]
        self.assertEqual(len(said), 1, messages)
        number = int(re.search(r"(\d+) batches of rows did not fit and are lost", messages)[1])
        self.assertGreater(number, 0)
        self.assertEqual(glob.glob(spool + "/*.new"), [])
        self.assertEqual(run("ship", spool, "--to", self.store, "--once").returncode, 0)
        self.assertEqual(self.rows("SELECT MAX(seq) + 1 - COUNT(DISTINCT seq), COUNT(*) - COUNT(DISTINCT seq), MAX(batches_lost) FROM heartbeats"),
                         [(number, 0, number)])
        host, = json.loads(run("fleet", "hosts", "--from", self.store, "--json").stdout)["rows"]
        self.assertEqual(host["missing"], number)

    @unittest.skipIf(clickhouse.SERVER is None, clickhouse.WHY_SKIPPED)
    def test_into_clickhouse(self):
        """Another process ships; the server dies three times in between, and what waits meanwhile comes later."""
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        server = clickhouse.Server(os.path.join(self.folder, "server"), users=run("store", "schema", "--users", "xml").stdout)
        self.addCleanup(server.end)
        server.start()
        self.assertEqual(run("store", "init", server.address).returncode, 0)
        spool = os.path.join(self.folder, "spool")
        password = os.path.join(self.folder, "password")
        with open(password, "w", encoding="utf-8") as file:
            file.write(clickhouse.PASSWORD)
        os.chmod(password, 0o600)
        process, written = self.begin("--store", server.address.replace("//", "//roce_writer@"), "--spool", spool, "--ship-every", "1s",
                                      "--password-file", password)

        def die():
            for alive, away in ((1.1, 0.4), (1.3, 0.9), (0.8, 0.2)):
                time.sleep(alive)
                server.end(signal.SIGKILL)
                time.sleep(away)
                server.start()

        dying = threading.Thread(target=die)
        dying.start()
        sent = self.send(4) + self.send(2)  # the second time they are taken for copies
        dying.join()
        report, messages = self.finish(process)
        self.assertEqual(report["capture"]["packets"], sent, messages)
        done = run("ship", spool, "--to", server.address, "--once")  # what waited for the server at the end
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(glob.glob(spool + "/*.batch"), [])
        whole = os.path.join(self.folder, "whole.store")
        self.assertEqual(run("export", written, "-o", whole).returncode, 0)
        sums = "SELECT SUM(packets), SUM(bytes), SUM(retransmitted) FROM {}intervals"
        self.assertEqual(tuple(map(int, server.ask(sums.format("roce.")).split())), self.rows(sums.format(""), whole)[0])
        self.assertEqual(server.ask("SELECT max(seq) + 1 - uniqExact(seq), count() - uniqExact(seq) FROM roce.heartbeats").split(), ["0", "0"])
        self.assertEqual(server.number("SELECT count() - uniqExact((run, seq, row)) FROM roce.intervals"), 0)

    def test_only_one_ships(self):
        spool = os.path.join(self.folder, "spool")
        os.mkdir(spool)
        first = subprocess.Popen([PROGRAM, "ship", spool, "--to", self.store])
        end = time.monotonic() + PATIENCE
        while not os.path.exists(spool + "/lock") and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.1)
        second = run("ship", spool, "--to", self.store, "--once")
        self.assertEqual(second.returncode, 3)
        self.assertIn("another process ships this spool", second.stderr)
        first.send_signal(signal.SIGTERM)
        self.assertEqual(first.wait(timeout=PATIENCE), 0)


if __name__ == "__main__":
    namespace.enter_namespace()
    unittest.main()

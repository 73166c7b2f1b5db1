#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong between a spool and a ClickHouse: nothing is lost, nothing doubled, each thing is said, and nobody learns a
password. Usage: fleet_faults_test.py ROCEANALYZE SAMPLES"""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import clickhouse
import generator
from shipping import PROGRAM, SAMPLES, Shipping, run


class Faults(Shipping, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prepare()
        cls.server = clickhouse.Server(cls.home + "/single", tls=shutil.which("openssl") is not None,
                                       users=run("store", "schema", "--users", "xml")[1])
        cls.server.start()
        cls.target = cls.server.address

    @classmethod
    def tearDownClass(cls):
        cls.server.end()
        cls.folder.cleanup()

    def setUp(self):
        self.server.ask("DROP DATABASE IF EXISTS roce")
        self.assertEqual(run("store", "init", self.target)[0], 0)
        self.fill()

    def test_a_batch_that_is_sent_twice(self):
        self.ship()
        self.all_once()
        shutil.copytree(self.home + "/all", self.spool, dirs_exist_ok=True)
        self.ship()
        self.all_once()

    def test_a_part_of_a_batch_is_completed(self):
        """As a client leaves it that was killed between two tables."""
        for path in glob.glob(self.spool + "/*.batch"):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            head, text = text.split("\n", 1)
            table, rows, size, columns = text.split("\n", 1)[0].split("\t")
            block = text.split("\n", 1)[1][:int(size)]
            self.assertEqual((head.split("\t")[0], table), ("roceanalyze-batch", "intervals"))
            self.server.ask(f"INSERT INTO roce.intervals ({columns}) FORMAT TabSeparated\n{block}")
            break
        self.ship()
        self.all_once()

    def test_a_client_that_is_killed(self):
        for delay in (0.01, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3):
            shipping = subprocess.Popen([PROGRAM, "ship", self.spool, "--to", self.target], stderr=subprocess.DEVNULL)
            time.sleep(delay)
            shipping.kill()
            shipping.wait()
        self.ship()
        self.all_once()

    def test_a_server_that_is_killed(self):
        """It ships on when the server is back, and says once that it was away."""
        shipping = self.ship_on()
        for delay in (0.1, 0.4):
            time.sleep(delay)
            self.server.end(signal.SIGKILL)
            time.sleep(2)
            self.server.start()
        words = self.ends(shipping)
        self.all_once()
        self.assertIn(self.target, words)
        self.assertLess(len(words.splitlines()), 8, words)

    def test_a_server_that_is_away_for_long(self):
        """Captures go on: their batches wait, and go when it is back. It says once that it is away, however long (here for
        four of its attempts)."""
        self.server.end()
        self.addCleanup(lambda: self.server.process or self.server.start())
        batches = sorted(glob.glob(self.spool + "/*.batch"))
        late = {path: path + ".later" for path in batches[len(batches) // 2:]}
        for path, later in late.items():
            os.rename(path, later)
        shipping = self.ship_on()
        for path, later in late.items():
            time.sleep(15 / len(late))
            os.rename(later, path)
        self.assertEqual(self.waiting(), self.truth.batches)
        self.server.start()
        words = self.ends(shipping)
        self.all_once()
        self.assertEqual(len(words.splitlines()), 1, words)
        self.assertIn(self.target, words)

    def test_a_server_that_is_away(self):
        self.server.end()
        status, _, err = run("ship", self.spool, "--to", self.target, "--once")
        self.assertEqual(status, 3)
        self.assertIn(self.target, err)
        self.assertEqual(self.waiting(), self.truth.batches)
        status, _, err = run("fleet", "overview", "--from", self.target)
        self.assertEqual(status, 3)
        self.server.start()
        self.ship()
        self.all_once()

    def test_a_batch_that_is_none(self):
        path = sorted(glob.glob(self.spool + "/*.batch"))[0]
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("\tRC\t", "\tRC\tRC\t", 1).replace(f"\t{text.splitlines()[1].split(chr(9))[2]}\t",
                                                                      f"\t{int(text.splitlines()[1].split(chr(9))[2]) + 3}\t", 1))
        for _ in range(2):  # the second time with what was behind it
            status, _, err = run("ship", self.spool, "--to", self.target, "--once")
        self.assertIn(status, (0, 3), err)
        self.assertEqual(os.listdir(self.spool + "/rejected"), [os.path.basename(path)])
        self.assertEqual(self.waiting(), 0)
        self.assertEqual(self.server.number("SELECT count() FROM roce.heartbeats"), self.truth.batches - 1)

    def test_clocks_that_are_seconds_apart(self):
        """No mark is taken for another one: nothing is claimed."""
        shutil.rmtree(self.spool)
        generator.generate(self.spool, hosts=4, flows=1, skew_ns=5_000_000_000, seed=3)
        self.ship()
        rows = json.loads(run("fleet", "loss", "--from", self.target, "--json")[1])["rows"]
        for row in rows:
            self.assertLess(abs(row["from_ns"] - row["to_ns"]), 10**12)
            self.assertGreaterEqual(row["lost"], 0)
        text = run("fleet", "flow", "10.0.0.1", "10.0.0.2", "100", "--from", self.target)[1]
        self.assertTrue("clocks within 1 s" in " ".join(text.split()) or any(r["src"] == "10.0.0.1" for r in rows), text)

    def test_hosts_that_begin_anew(self):
        shutil.rmtree(self.spool)
        truth = generator.generate(self.spool, hosts=12, flows=2, restarts=True, seed=4)
        self.ship()
        got = {}
        for row in json.loads(run("fleet", "loss", "--from", self.target, "--json", "--top", "1000")[1])["rows"]:
            got[row["src"], row["dst"]] = got.get((row["src"], row["dst"]), 0) + row["lost"]
        self.assertEqual(got, truth.loss)

    # --- who may what -----------------------------------------------------------------------------------

    def as_user(self, user):
        return self.target.replace("//", f"//{user}@")

    def test_rights(self):
        secret = {"ROCEANALYZE_PASSWORD": clickhouse.PASSWORD}
        status, _, err = run("ship", self.spool, "--to", self.as_user("roce_reader"), "--once", **secret)
        self.assertEqual(status, 3)
        self.assertEqual(self.server.number("SELECT count() FROM roce.intervals"), 0)
        self.assertIn("readonly", err)
        path = os.path.join(self.home, "password")
        with open(path, "w", encoding="utf-8") as file:
            file.write(clickhouse.PASSWORD + "\n")
        status, _, err = run("ship", self.spool, "--to", self.as_user("roce_writer"), "--password-file", path, "--once")
        self.assertEqual(status, 0, err)
        self.all_once()
        self.assertEqual(run("fleet", "overview", "--from", self.as_user("roce_reader"), **secret)[0], 0)
        for user in ("roce_writer", "roce_reader"):
            status, _, err = run("store", "prune", self.as_user(user), "--keep", "90m", **secret)
            self.assertEqual(status, 3, (user, err))

    def test_nobody_learns_a_password(self):
        for words in (["store", "status", self.target.replace("//", "//default:hush-hush@")],
                      ["ship", self.spool, "--to", self.target.replace("//", "//default:hush-hush@"), "--once"]):
            status, out, err = run(*words)
            self.assertEqual(status, 3)
            self.assertNotIn("hush-hush", out + err)
            self.assertIn("ROCEANALYZE_PASSWORD", err)
        status, out, err = run("store", "status", self.as_user("roce_reader"), ROCEANALYZE_PASSWORD="hush-hush")
        self.assertEqual(status, 3)
        self.assertNotIn("hush-hush", out + err)
        shipping = subprocess.Popen([PROGRAM, "ship", self.spool, "--to", self.as_user("roce_writer")], stderr=subprocess.DEVNULL,
                                    env={**os.environ, "ROCEANALYZE_PASSWORD": clickhouse.PASSWORD})
        end = time.monotonic() + 60
        while self.waiting() and time.monotonic() < end:
            with open(f"/proc/{shipping.pid}/cmdline", encoding="utf-8") as file:
                self.assertNotIn(clickhouse.PASSWORD, file.read())
            time.sleep(0.05)
        shipping.terminate()
        shipping.wait(timeout=60)
        for name in ("server.log", "error.log"):
            with open(f"{self.server.home}/{name}", encoding="utf-8", errors="replace") as file:
                log = file.read()
            self.assertNotIn("hush-hush", log)
            self.assertNotIn(clickhouse.PASSWORD, log)

    @unittest.skipUnless(shutil.which("openssl"), "openssl is missing")
    def test_tls(self):
        target = f"clickhouses://127.0.0.1:{self.server.https}/roce"
        status, _, err = run("store", "status", target)
        self.assertEqual(status, 3)
        self.assertRegex(err, "(?i)certificate")
        status, _, err = run("ship", self.spool, "--to", target, "--ca", self.server.home + "/cert.pem", "--once")
        self.assertEqual(status, 0, err)
        self.all_once()

    def test_what_is_no_store(self):
        self.server.ask("DROP DATABASE roce")
        for words in (["fleet", "overview", "--from", self.target], ["ship", self.spool, "--to", self.target, "--once"],
                      ["export", SAMPLES + "/03_rping.pcap", "-o", self.target]):
            status, _, err = run(*words)
            self.assertEqual(status, 3, words)
            self.assertIn("store init", err)


if __name__ == "__main__":
    if clickhouse.SERVER is None:
        print(clickhouse.WHY_SKIPPED)
        sys.exit(clickhouse.SKIPPED)
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many hosts in stores of both engines: every question has the same answer from SQLite, one ClickHouse and a cluster of them, and
it is what the generator knows. Usage: fleet_engines_test.py ROCEANALYZE SAMPLES"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
import unittest

import clickhouse
import generator

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
QUESTIONS = ("overview", "top", "loss", "clocks", "pairs", "incidents", "findings", "diagnoses", "marks", "hosts", "changes", "drops",
             "storm", "latency", "heat")


def run(*words, expected=0):
    done = subprocess.run([PROGRAM, *words], capture_output=True, check=False, timeout=300)
    assert done.returncode == expected, (words, done.returncode, done.stderr.decode())
    return done.stdout.decode()


class Engines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = clickhouse.folder()
        home = cls.folder.name
        cls.server = clickhouse.Server(home + "/single")
        cls.server.start()
        cls.stores = {"sqlite": home + "/fleet.store", "clickhouse": cls.server.address}
        cls.cluster = None
        if clickhouse.ZOOKEEPER:
            cls.cluster = clickhouse.Cluster(home + "/cluster")
            cls.cluster.start()
            cls.stores["cluster"] = cls.cluster.address
        else:
            print("without a cluster: " + clickhouse.WHY_NO_CLUSTER)
        cls.truth = generator.generate(home + "/spool", hosts=int(os.environ.get("ROCE_FLEET_HOSTS", "50")))
        for name, target in cls.stores.items():
            run("store", "init", target)
            shutil.copytree(home + "/spool", f"{home}/{name}.spool")
            run("ship", f"{home}/{name}.spool", "--to", target, "--once")
            for end, address in (("ca", "10.77.0.1"), ("cb", "10.77.0.2")):
                run("export", f"{SAMPLES}/04_write_loss1.{end}.pcap.zst", "-o", target, "--host", f"x'{end}\t\\", "--address", address)

    @classmethod
    def tearDownClass(cls):
        cls.server.end()
        if cls.cluster:
            cls.cluster.end()
        cls.folder.cleanup()

    def ask(self, store, *words):
        return run("fleet", *words, "--from", self.stores[store], "--json")

    def test_same_answers(self):
        questions = [(name,) for name in QUESTIONS] + [("top", "--top", "1000"), ("loss", "--top", "1000"), ("pairs", "--top", "2000"),
                                                       ("clocks", "--top", "2000"), ("latency", "--top", "2000")]
        questions += [("changes", "--since", "30s"), ("changes", "--since", "20s", "--against", "1m"), ("pairs", "--since", "30000d", "--until", "1m"),
                      ("overview", "--until", "1m")]
        questions += [("flow", "10.0.0.1", "10.0.0.2", "100"), ("connection", "10.77.0.1", "0x47", "10.77.0.2", "0x47"),
                      ("where", "10.0.0.1", "10.0.0.2"), ("where", "10.77.0.1", "10.77.0.2")]
        incidents = json.loads(self.ask("sqlite", "incidents"))["rows"]
        questions.append(("evidence", str(incidents[0]["incident"])))
        for words in questions:
            ours = self.ask("sqlite", *words)
            self.assertIn('"rows":', ours)
            for store in self.stores:
                self.assertEqual(self.ask(store, *words), ours, (store, words))

    def test_answers_are_true(self):
        for store in self.stores:
            row, = json.loads(self.ask(store, "overview"))["rows"]
            self.assertEqual((row["captures"], row["flows"]), (self.truth.runs + 2, self.truth.flows + 2), store)
            self.assertEqual(row["packets"], self.truth.packets + 3669 + 82)
            self.assertEqual(row["lost_at_least"], self.truth.lost + 46)
            losses = json.loads(self.ask(store, "loss", "--top", "100000"))["rows"]
            got = {(r["src"], r["dst"]): r["lost"] for r in losses if not r["src"].startswith("10.77")}
            self.assertEqual(got, self.truth.loss)
            for r in losses:
                if not r["src"].startswith("10.77"):
                    self.assertEqual((self.truth.host_of[r["src"]], self.truth.host_of[r["dst"]], r["directed"]),
                                     (r["from_host"], r["to_host"], "yes"))
            for r in json.loads(self.ask(store, "clocks", "--top", "100000"))["rows"]:
                if r["both_ways"] == "no" and r["host"] in self.truth.skew:
                    apart = self.truth.skew[r["other"]] - self.truth.skew[r["host"]]
                    self.assertLessEqual(abs(r["offset_ns"] - apart), 2000)

    def test_a_capture_is_added_once(self):
        for store, target in self.stores.items():
            before = self.ask(store, "hosts", "--top", "1000")
            done = subprocess.run([PROGRAM, "export", f"{SAMPLES}/04_write_loss1.ca.pcap.zst", "-o", target], capture_output=True, text=True,
                                  check=False, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("has this capture already", done.stderr)
            self.assertEqual(self.ask(store, "hosts", "--top", "1000"), before)

    def test_copies(self):
        """From a file to a server and back: the same answers, and nothing twice."""
        home = self.folder.name
        there, back = self.stores["clickhouse"].replace("/roce", "/copied"), home + "/back.store"
        run("store", "init", there)
        try:
            for source, target in ((self.stores["sqlite"], there), (there, back)):
                done = run("store", "copy", source, target)
                self.assertIn(f"in {self.truth.batches + 2} batches copied to", done)
                self.assertIn(f"in 0 batches copied to {target}, {self.truth.batches + 2} batches were there", run("store", "copy", source, target))
                for question in QUESTIONS:
                    words = ("fleet", question, "--top", "1000", "--json", "--from")
                    self.assertEqual(run(*words, target), run(*words, self.stores["sqlite"]), (question, target))
            ours, theirs = (sqlite3.connect(path) for path in (self.stores["sqlite"], back))
            for table, in ours.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('schema', 'batches')").fetchall():
                every = f"SELECT * FROM {table} ORDER BY " + ("address" if table == "nodes" else "run, seq, row")
                self.assertEqual(theirs.execute(every).fetchall(), ours.execute(every).fetchall(), table)
        finally:
            self.server.ask("DROP DATABASE copied")

    def test_a_copy_goes_on_where_it_was_killed(self):
        target = self.folder.name + "/partly.store"
        copying = subprocess.Popen([PROGRAM, "store", "copy", self.stores["clickhouse"], target], stdout=subprocess.DEVNULL)
        time.sleep(0.05)
        copying.kill()
        copying.wait()
        run("store", "copy", self.stores["clickhouse"], target)
        self.assertEqual(run("fleet", "hosts", "--top", "1000", "--json", "--from", target), self.ask("sqlite", "hosts", "--top", "1000"))

    def test_status_and_migrate(self):
        for store, target in self.stores.items():
            rows = {t["name"]: t["rows"] for t in json.loads(run("store", "status", target, "--json"))["tables"]}
            self.assertEqual((rows["pairs"], rows["heartbeats"]), (self.truth.rows + 4, self.truth.batches + 2), store)
            self.assertIn("nothing to do", run("store", "migrate", target))

    def test_counts_of_an_older_version_become_signed(self):
        for table in ("intervals", "pairs", "heartbeats"):
            self.server.ask(f"ALTER TABLE roce.{table} MODIFY COLUMN packets UInt64")
        before = self.ask("clickhouse", "overview")
        changed = run("store", "migrate", self.stores["clickhouse"])
        self.assertEqual(changed.count("MODIFY COLUMN packets Int64"), 3, changed)
        self.assertEqual(self.ask("clickhouse", "overview"), before)
        self.assertIn("nothing to do", run("store", "migrate", self.stores["clickhouse"]))

    def test_a_lost_column_comes_back(self):
        self.server.ask("ALTER TABLE roce.drops DROP COLUMN span_ms")
        self.assertIn("ADD COLUMN span_ms UInt32", run("store", "migrate", self.stores["clickhouse"]))
        self.assertIn("nothing to do", run("store", "migrate", self.stores["clickhouse"]))


if __name__ == "__main__":
    if clickhouse.SERVER is None:
        print(clickhouse.WHY_SKIPPED)
        sys.exit(clickhouse.SKIPPED)
    unittest.main()

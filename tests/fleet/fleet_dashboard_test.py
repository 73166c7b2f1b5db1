#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Grafana dashboard of a store: each panel's SQL is run as Grafana sends it, by the user that may only read, and says what the
generator knows; tables are the questions of `fleet`; names are text, whatever is in them.
Usage: fleet_dashboard_test.py ROCEANALYZE SAMPLES [--update]: puts the statements of `fleet` into the dashboard."""

import json
import os
import re
import subprocess
import sys
import unittest
import urllib.error

import clickhouse
import generator

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
DASHBOARD = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "grafana", "roceanalyze-fleet.json")
RANGE = ("time >= toDateTime(${__from:date:seconds}) AND time < toDateTime(${__to:date:seconds}) AND "
         "(0 IN (${host:csv}) OR sipHash64(host) IN (${host:csv}))")
HOSTILE = "x'\t\\'); DROP TABLE pairs; --<b>\"${host}\u202e"
INTERVALS = 30
END = generator.START + generator.INTERVAL * INTERVALS


def run(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, (words, done.returncode, done.stderr.decode())
    return done.stdout.decode()


def read():
    with open(DASHBOARD, encoding="utf-8") as file:
        return json.load(file)


def statement(question):
    sql = run("fleet", "sql", question, "--engine", "clickhouse").rstrip().rstrip(";")
    return sql.replace("time >= CAST(0 AS DateTime)", RANGE)


def update():
    board = read()
    for panel in board["panels"]:
        for target in panel["targets"]:
            if target["refId"] != "A":
                target["rawSql"] = statement(target["refId"])
    with open(DASHBOARD, "w", encoding="utf-8") as file:
        file.write(json.dumps(board, indent=1) + "\n")


class Dashboard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = clickhouse.folder()
        home = cls.folder.name
        cls.server = clickhouse.Server(home + "/server", users=run("store", "schema", "--users", "xml"))
        cls.server.start()
        run("store", "init", cls.server.address)
        cls.truth = generator.generate(home + "/spool", hosts=40, intervals=INTERVALS, per_pair=6)
        run("ship", home + "/spool", "--to", cls.server.address, "--once")
        run("export", f"{SAMPLES}/04_write_loss1.cb.pcap.zst", "-o", cls.server.address, "--host", HOSTILE, "--address", "10.77.0.2")
        cls.sample_time = cls.server.number("SELECT toUInt32(min(time)) FROM roce.heartbeats WHERE host NOT LIKE 'host%'")
        cls.panels = {panel["title"]: panel for panel in read()["panels"]}

    @classmethod
    def tearDownClass(cls):
        cls.server.end()
        cls.folder.cleanup()

    def rows(self, sql, hosts=("0",), since=generator.START, until=END, step_ms=60_000):
        """As the plug-in sends it: variables are replaced by text."""
        for name, value in (("${__from:date:seconds}", since), ("${__to:date:seconds}", until), ("${host:csv}", ",".join(hosts)),
                            ("$__interval_ms", step_ms)):
            sql = sql.replace(name, str(value))
        self.assertNotIn("$", sql)
        answer = json.loads(self.server.ask(sql + " FORMAT JSON", database="roce", user="roce_reader", password=clickhouse.PASSWORD,
                                            output_format_json_quote_64bit_integers=0))
        return [[column["name"], column["type"]] for column in answer["meta"]], answer["data"]

    def panel(self, title, **more):
        target, = self.panels[title]["targets"]
        return self.rows(target["rawSql"], **more)[1]

    def test_tables_are_the_questions_of_fleet(self):
        questions = {target["refId"]: target["rawSql"] for panel in self.panels.values() for target in panel["targets"] if target["refId"] != "A"}
        self.assertGreater(len(questions), 8)
        for question, sql in questions.items():
            self.assertEqual(sql, statement(question), f"{question}: run this test with --update")

    def test_every_panel_answers(self):
        """One column of times first, then numbers, for a time series; one number for a stat; rows for a table."""
        for title, panel in self.panels.items():
            with self.subTest(title):
                target, = panel["targets"]
                columns, rows = self.rows(target["rawSql"])
                self.assertGreater(len(rows), 0)
                if panel["type"] == "table":
                    self.assertGreater(len(columns), 3)
                    continue
                if panel["type"] == "timeseries":
                    self.assertEqual(columns.pop(0), ["t", "DateTime"])
                    self.assertGreaterEqual(len(rows), 1)
                    times = [row["t"] for row in rows]
                    self.assertEqual(times, sorted(set(times)))
                else:
                    self.assertEqual((len(rows), len(columns)), (1, 1))
                for name, kind in columns:
                    self.assertRegex(kind, "^(Float64|U?Int[0-9]+)$", name)
                # Grafana asks for longer steps on a narrow panel, and for times of which there is nothing.
                self.rows(target["rawSql"], step_ms=3_600_000)
                self.rows(target["rawSql"], since=1, until=2)

    def test_panels_say_what_is_true(self):
        truth = self.truth
        self.assertEqual(self.panel("Hosts"), [{"hosts": 40}])
        self.assertEqual(self.panel("Silent hosts"), [{"silent": 0}])
        self.assertEqual(self.panel("Silent hosts", until=END + 1000), [{"silent": 40}])
        self.assertEqual(self.panel("Lost packets, at least"), [{"lost": truth.lost}])
        self.assertAlmostEqual(self.panel("Repeats per million packets")[0]["per_million"], 1e6 * truth.lost / truth.packets)
        self.assertEqual(self.panel("Diagnoses, fatal or degraded"), [{"told": len(truth.diagnosed)}])
        self.assertEqual(self.panel("Dropped by captures"), [{"drops": 0}])
        lost = sum(row["lost"] for row in self.panel("Lost and repeated")) * 60
        self.assertAlmostEqual(lost, truth.lost, places=3)
        wire = sum(row["wire"] for row in self.panel("Traffic")) * 60 / 8
        self.assertAlmostEqual(wire / (truth.packets * 1086), 1)
        self.assertEqual(sum(row["losses"] for row in self.panel("Incidents")), len(truth.incidents))
        self.assertAlmostEqual(max(row["longest"] for row in self.panel("Longest latency")), 3 * max(truth.latency.values()) / 1e9)
        paused = sum(row["paused"] for row in self.panel("Paused")) * 60
        self.assertAlmostEqual(paused, sum(1_000_000 + i for i in range(0, 40, 10)) / 1e9)
        for row in self.panel("Latency, 99th percentile"):
            self.assertAlmostEqual(row["p99"], 4352e-9)
            self.assertAlmostEqual(row["longest_s"], 3 * truth.latency[row["src"]] / 1e9)
        got = {row["a"] if "a" in row else row["host"]: row for row in self.panel("Hosts that mark otherwise than the policy")}
        self.assertEqual({host: row["wrong"] for host, row in got.items()}, truth.wrong)

    def test_one_host_is_selected(self):
        variable, = [each for each in read()["templating"]["list"] if each["name"] == "host"]
        numbers = {row["host"]: row["number"] for row in self.rows(variable["query"])[1]}
        self.assertEqual(sorted(numbers), sorted(self.truth.host_of.values()))
        self.assertEqual(self.panel("Hosts", hosts=(numbers["host003"], numbers["host007"])), [{"hosts": 2}])
        self.assertEqual({row["host"] for row in self.panel("Captures", hosts=(numbers["host003"],))}, {"host003"})
        seen = self.panel("Pairs of hosts", hosts=(numbers["host003"],))
        self.assertEqual({"host003" in (row["a_host"], row["b_host"]) for row in seen}, {True})

    def test_a_hostile_name_is_text(self):
        variable, = [each for each in read()["templating"]["list"] if each["name"] == "host"]
        span = {"since": self.sample_time - 10, "until": self.sample_time + 1000}
        (row,) = self.rows(variable["query"], **span)[1]
        self.assertEqual(row["host"], HOSTILE)
        self.assertRegex(row["number"], "^[0-9]+$")
        for panel in self.panels.values():
            self.rows(panel["targets"][0]["rawSql"], hosts=(row["number"],), **span)
        capture, = self.panel("Captures", hosts=(row["number"],), **span)
        self.assertEqual(capture["host"], HOSTILE)
        for panel in self.panels.values():  # nothing makes HTML or links of cells
            self.assertNotRegex(json.dumps(panel), "(?i)markdown|html|json-view|\"links\"")

    def test_the_reader_changes_nothing(self):
        for sql in ("DROP TABLE pairs", "INSERT INTO pairs (host) VALUES ('x')", "CREATE TABLE t (x UInt8) ENGINE = Memory"):
            with self.assertRaises(AssertionError):
                self.server.ask(sql, database="roce", user="roce_reader", password=clickhouse.PASSWORD)

    def test_panels_lie_side_by_side(self):
        taken = set()
        self.assertEqual(len({panel["id"] for panel in self.panels.values()}), len(read()["panels"]))
        for panel in self.panels.values():
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(taken & cells, panel["title"])
            taken |= cells


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
        sys.exit(0)
    if clickhouse.SERVER is None:
        print(clickhouse.WHY_SKIPPED)
        sys.exit(clickhouse.SKIPPED)
    unittest.main()

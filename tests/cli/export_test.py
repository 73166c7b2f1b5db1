#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command `export`: each format read back by somebody else's reader (csv, json, sqlite3, promtool, influxd),
figures against the tables' own commands, nothing half written, nothing written over.
Usage: export_test.py ROCEANALYZE SAMPLES"""

import csv
import functools
import glob
import io
import json
import os
import re
import resource
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

PROGRAM, SAMPLES = sys.argv.pop(1), os.path.abspath(sys.argv.pop(1))
LOSSY = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
NAMES = ("03_rping.pcap", "04_write_loss1.cb.pcap.zst", "06_mix_4qp.pcap.zst", "07_ce_netem10.cb.pcap.zst", "11_three_hosts.pcap.zst",
         "13_dumpcap_2if_loss.pcapng.zst")
TABLES = ["diagnoses", "connections", "incidents", "hosts", "flows", "pairs", "paths", "findings", "series", "markings", "pauses", "dcbx",
          "mrc_streams", "mrc_paths", "mrc_losses", "shells", "mirrors", "diagnostics"]
OWN_COMMAND = ("connections", "incidents", "flows", "pairs", "paths", "markings", "pauses", "dcbx")


def run(*words, **options):
    options.setdefault("capture_output", True)
    return subprocess.run([PROGRAM, *words], check=False, timeout=300, **options)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def csv_rows(data):
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def report(path):
    return json.loads(run("report", "--json", path).stdout)


ALL_SAMPLES = sorted(glob.glob(os.path.join(SAMPLES, "*.pcap*")))
POINT = re.compile(r'^(\w+)((?:,\w+=(?:[^ ,=\\]|\\.)+)*) ((?:\w+=(?:-?\d+i|-?[\d.e+-]+|true|false|"(?:[^"\\]|\\.)*")(?:,|(?= )))+) (\d+)$')
FIELD = re.compile(r'(\w+)=(?:(-?\d+i)|(-?[\d.e+-]+)|("(?:[^"\\]|\\.)*"))')


@functools.cache
def exported(path, form):
    """What `export` prints, of a sample; damaged ones have the status 3."""
    done = run("export", path, "--to", "-", "--format", form)
    assert done.returncode in (0, 3), (path, done.stderr)
    return done.stdout


class Influxd:
    """The server, on ports of its own of the loopback, with nothing in it."""

    def __init__(self, folder):
        ports = []
        for _ in range(2):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                ports.append(free.getsockname()[1])
        self.url = f"http://127.0.0.1:{ports[0]}"
        with open(os.path.join(folder, "influxd.conf"), "w", encoding="utf-8") as file:
            file.write(f"""reporting-disabled = true
bind-address = "127.0.0.1:{ports[1]}"
[meta]
dir = "{folder}/meta"
[data]
dir = "{folder}/data"
wal-dir = "{folder}/wal"
max-series-per-database = 0
[http]
bind-address = "127.0.0.1:{ports[0]}"
log-enabled = false
[monitor]
store-enabled = false
""")
        self.process = subprocess.Popen(["influxd", "-config", file.name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "HOME": folder})

    def stop(self):
        self.process.terminate()
        self.process.wait(30)

    def send(self, path, data=None, **words):
        request = urllib.request.Request(f"{self.url}/{path}?{urllib.parse.urlencode(words)}", data=data)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()

    def wait(self):
        for _ in range(300):
            try:
                if self.send("ping")[0] == 204:
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("influxd does not answer")

    def number(self, query):
        return json.loads(self.send("query", db="roce", q=query)[1])["results"][0].get("series", [{"values": [[0, 0]]}])[0]["values"][0][1]


class Export(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def export(self, source, name, *words):
        target = self.path(name)
        done = run("export", source, "--to", target, *words)
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
        return target

    def test_csv_is_what_the_tables_own_commands_print(self):
        for name in NAMES:
            source = os.path.join(SAMPLES, name)
            target = self.export(source, name + "/")
            self.assertEqual(sorted(os.listdir(target)), sorted(table + ".csv" for table in TABLES))
            for table in OWN_COMMAND:
                with open(os.path.join(target, table + ".csv"), "rb") as file:
                    self.assertEqual(file.read(), run(table, "--csv", source).stdout, (name, table))

    def test_csv_of_findings_and_series_is_the_report(self):
        for name in NAMES:
            source = os.path.join(SAMPLES, name)
            target, wanted = self.export(source, name + ".d/"), report(source)
            rows_of = lambda table: csv_rows(read(os.path.join(target, table + ".csv")))
            findings = rows_of("findings")
            self.assertEqual(len(findings), len(wanted["findings"]))
            for row, finding in zip(findings, wanted["findings"]):
                for key in ("id", "severity", "title", "subject", "explanation", "advice"):
                    self.assertEqual(row[key], finding[key])
                self.assertEqual(int(row["count"]), finding["count"])
                self.assertEqual([int(n) for n in row["packets"].split()], finding["packets"])
                self.assertEqual([int(n) for n in row["connections"].split()], finding["connections"])
                self.assertEqual(row["first_time"], str(finding["first_time"] if finding["first_time"] is not None else ""))
                self.assertAlmostEqual(float(row["confidence"]), finding["confidence"], 3)
            diagnoses = rows_of("diagnoses")
            self.assertEqual(len(diagnoses), len(wanted["diagnoses"]))
            for row, diagnosis in zip(diagnoses, wanted["diagnoses"]):
                for key in ("severity", "cause", "sentence", "would_decide"):
                    self.assertEqual(row[key], diagnosis[key] or "")
                for key, place in (("level", "level"), ("sender", "from"), ("receiver", "to"), ("host", "host"), ("seen", "seen")):
                    self.assertEqual(row[key], diagnosis["place"][place] or "")
                for key in ("at_least", "at_most", "since", "until"):
                    self.assertEqual(row[key], "" if diagnosis[key] is None else str(diagnosis[key]))
                for key in ("repeated_packets", "stalled_ns", "failed"):
                    self.assertEqual(int(row[key]), diagnosis["cost"][key])
            series = rows_of("series")
            for key in ("packets", "bytes", "goodput_bytes", "retransmitted", "lost", "ce", "cnps", "in_flight_max"):
                self.assertEqual([int(row[key]) for row in series], wanted["series"][key], key)
            times = [int(row["time"]) for row in series]
            self.assertEqual(times[0], wanted["series"]["start"])
            self.assertEqual({b - a for a, b in zip(times, times[1:])}, {wanted["series"]["bucket_ns"]} if len(times) > 1 else set())
            self.assertEqual({row["id"]: int(row["count"]) for row in rows_of("diagnostics")},
                             {d["id"]: d["count"] for d in wanted["diagnostics"]})

    def test_names_from_the_wire_are_no_formulas(self):
        parts = ((1, b"\x04\x02\0\0\0\0\x01"), (2, b"\x05+1-1"), (3, b"\0x"), (5, b'=cmd|"/c calc"!A1'), (0, b""))
        lldp = b"".join((kind << 9 | len(value)).to_bytes(2, "big") + value for kind, value in parts)
        frame = bytes.fromhex("0180c200000e 020000000001 88cc") + lldp
        source = self.path("lldp.pcap")
        with open(source, "wb") as file:
            for words in ((0xA1B2C3D4, 0x00040002, 0, 0, 65535, 1), (1700000000, 0, len(frame), len(frame))):
                file.write(b"".join(word.to_bytes(4, "little") for word in words))
            file.write(frame)
        target = read(os.path.join(self.export(source, "lldp/"), "dcbx.csv"))
        self.assertEqual(target, run("dcbx", "--csv", source).stdout)
        row = csv_rows(target)[0]
        self.assertEqual((row["system"], row["port_id"]), ("'=cmd|\"/c calc\"!A1", "'+1-1"))

    def test_sqlite_is_what_csv_is(self):
        for name in NAMES:
            source = os.path.join(SAMPLES, name)
            folder, database = self.export(source, name + ".csvs/"), self.export(source, name + ".sqlite")
            with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
                self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                self.assertEqual(dict(connection.execute("SELECT * FROM about"))["schema"], "roceanalyze-export/1")
                for table in TABLES:
                    got = connection.execute(f"SELECT * FROM {table}")
                    columns = [head[0] for head in got.description]
                    rows = csv_rows(read(os.path.join(folder, table + ".csv")))
                    self.assertEqual(columns, [r[0] for r in connection.execute(
                        "SELECT column_name FROM columns WHERE table_name = ?", (table,))])
                    shown = got.fetchall()
                    self.assertEqual(len(shown), len(rows))
                    for cells, row in zip(shown, rows):
                        for column, cell in zip(columns, cells):
                            if isinstance(cell, float):
                                self.assertAlmostEqual(cell, float(row[column]))
                            else:
                                self.assertEqual("" if cell is None else str(cell), row[column], (table, column))
            connection.close()

    def test_sqlite_has_numbers(self):
        with sqlite3.connect(self.export(LOSSY, "a.db")) as connection:
            wanted = report(LOSSY)
            packets, kinds = connection.execute("SELECT sum(packets), group_concat(DISTINCT typeof(packets)) FROM flows").fetchone()
            self.assertEqual((packets, kinds), (sum(flow["packets"] for flow in wanted["flows"]), "integer"))
            lost = connection.execute("SELECT id FROM connections WHERE lost > 0 ORDER BY lost DESC").fetchall()
            self.assertEqual([row[0] for row in lost], [c["id"] for c in wanted["connections"] if sum(c["lost"].values())])
        connection.close()

    def test_sqlite_has_types_by_column_and_texts_as_they_are(self):
        odd = self.path("C:\\a'b\"c\n\x01\udcff.pcap")
        shutil.copy(os.path.join(SAMPLES, "03_rping.pcap"), odd)
        wanted = {"text": "TEXT", "integer": "INTEGER", "real": "REAL"}
        used = set()
        for number, source in enumerate([odd, *(os.path.join(SAMPLES, name) for name in NAMES)]):
            with sqlite3.connect(self.export(source, f"{number}.db")) as connection:
                for table in TABLES:
                    for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({table})"):
                        found = {row[0] for row in connection.execute(f"SELECT DISTINCT typeof({column}) FROM {table}")} - {"null"}
                        self.assertLessEqual({wanted[name] for name in found}, {kind}, (source, table, column))
                        used.add((table, column, kind))
                if source == odd:
                    self.assertEqual(connection.execute("SELECT value FROM about WHERE name = 'capture'").fetchone()[0],
                                     "C:\\a'b\"c\n\ufffd\ufffd.pcap")
            connection.close()
        for row in (("connections", "confidence", "REAL"), ("pauses", "duty", "REAL"), ("findings", "severity", "TEXT"),
                    ("connections", "a_qp", "INTEGER"), ("dcbx", "pfc_max_classes", "INTEGER")):
            self.assertIn(row, used)

    def test_json_is_the_report(self):
        with open(self.export(LOSSY, "a.json"), "rb") as file:
            self.assertEqual(file.read(), run("report", "--json", LOSSY).stdout)

    def test_perfetto_has_the_course_of_the_report(self):
        target = self.export(LOSSY, "a.perfetto")
        text = read(target).decode()
        trace = json.loads(text, parse_float=str)  # a double does not hold nanoseconds since the epoch
        wanted = report(LOSSY)
        events = trace["traceEvents"]
        ns = lambda event: int(event["ts"].replace(".", ""))
        # Slices: each begins and ends once, in that order; incidents are those of the report.
        for kind, names in (("incident", wanted["incidents"]), ("diagnosis", wanted["diagnoses"])):
            begins = {e["id"]: e for e in events if e.get("cat") == kind and e["ph"] == "b"}
            ends = {e["id"]: e for e in events if e.get("cat") == kind and e["ph"] == "e"}
            self.assertEqual(len(begins), len(names), kind)
            self.assertEqual(begins.keys(), ends.keys())
            for i, begin in begins.items():
                self.assertLessEqual(ns(begin), ns(ends[i]))
        self.assertEqual([e["name"] for e in events if e.get("cat") == "diagnosis" and e["ph"] == "b"],
                         [d["sentence"] for d in wanted["diagnoses"]])
        # Counters hold their value to the next: their integral is what was sent, lost and repeated.
        series = wanted["series"]
        width = series["bucket_ns"]
        for key, counter, unit in (("lost", "lost per", "packets"), ("retransmitted", "retransmitted per", "packets"),
                                   ("bytes", "on the wire", "bit/s"), ("goodput_bytes", "goodput", "bit/s")):
            steps = [(ns(e), float(e["args"][unit])) for e in events if e["ph"] == "C" and e["name"].startswith(counter)]
            self.assertEqual(steps[0][0], series["start"])
            self.assertEqual(steps[-1], (series["start"] + width * len(series["bytes"]), 0.0))
            whole = sum(value * (after - at) for (at, value), (after, _) in zip(steps, steps[1:]))
            self.assertAlmostEqual(whole / (8e9 if unit == "bit/s" else width), sum(series[key]), delta=1e-6 * sum(series[key]))
        hosts = {e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertEqual(hosts, {"fabric", "10.77.0.1", "10.77.0.2"})
        # Once more over itself, but not over another file.
        self.assertEqual(run("export", LOSSY, "-o", target).returncode, 0)

    def test_perfetto_is_json_of_every_sample(self):
        for path in ALL_SAMPLES:
            trace = json.loads(exported(path, "perfetto"))
            for event in trace["traceEvents"]:
                self.assertIn(event["ph"], "MCbei", path)
                self.assertEqual("ts" in event, event["ph"] != "M", path)

    def test_ndjson_has_a_row_a_line(self):
        with open(self.export(LOSSY, "a.ndjson"), encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        wanted = report(LOSSY)
        self.assertEqual([row["id"] for row in rows if row["table"] == "flows"], [flow["id"] for flow in wanted["flows"]])
        self.assertEqual([row["packets"] for row in rows if row["table"] == "series"], wanted["series"]["packets"])
        self.assertEqual({row["table"] for row in rows} - set(TABLES), set())

    def test_openmetrics_is_taken_by_prometheus(self):
        target = self.export(LOSSY, "a.om")
        with open(target, encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.endswith("# EOF\n"))
        wanted = report(LOSSY)
        values = [float(v) for v in re.findall(r"^roceanalyze_series_retransmitted\{[^}]*\} (\S+) \S+$", text, re.MULTILINE)]
        self.assertEqual(values, wanted["series"]["retransmitted"])
        errors = re.search(r'^roceanalyze_findings\{.*severity="error"\} (\d+)', text, re.MULTILINE)
        self.assertEqual(int(errors[1]), sum(f["severity"] == "error" for f in wanted["findings"]))
        # Prometheus keeps milliseconds: of a short capture intervals are put together.
        short = os.path.join(SAMPLES, "02_write_bw_64k.pcap.zst")
        fine = report(short)["series"]
        self.assertLess(fine["bucket_ns"], 1_000_000)
        points = re.findall(r"^roceanalyze_series_packets\{[^}]*\} (\S+) (\S+)$", exported(short, "openmetrics").decode(), re.MULTILINE)
        self.assertEqual(sum(int(value) for value, _ in points), sum(fine["packets"]))
        stamps = [int(float(stamp) * 1000) for _, stamp in points]
        self.assertEqual(len(set(stamps)), len(stamps))
        if shutil.which("promtool") is None:
            self.skipTest("no promtool here")
        os.makedirs(self.path("tsdb/wal"))
        done = subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", target, self.path("tsdb")], timeout=120,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        dump = subprocess.run(["promtool", "tsdb", "dump", self.path("tsdb")], timeout=120, capture_output=True, text=True, check=True).stdout
        got = sum(float(line.rsplit("} ", 1)[1].split()[0]) for line in dump.splitlines() if "roceanalyze_series_packets" in line)
        self.assertEqual(got, sum(wanted["series"]["packets"]))

    def test_line_protocol_is_as_specified(self):
        odd = self.path("a b,c=d.pcap.zst")
        shutil.copy(LOSSY, odd)
        wanted = report(odd)
        with open(self.export(odd, "a.lp"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        counts = {}
        for line in lines:
            match = POINT.match(line)
            self.assertTrue(match, line)
            counts[match[1]] = counts.get(match[1], 0) + 1
            self.assertIn(r"capture=a\ b\,c\=d.pcap.zst", match[2])
        self.assertEqual(counts, {"roceanalyze_series": len(wanted["series"]["packets"]), "roceanalyze_connections": len(wanted["connections"]),
                                  "roceanalyze_findings": len(wanted["findings"]), "roceanalyze_diagnoses": len(wanted["diagnoses"]),
                                  "roceanalyze_capture": 1})

    def test_a_field_has_one_type_in_all_captures(self):
        types, series = {}, {}
        for path in ALL_SAMPLES:
            points = {}
            for line in exported(path, "influx").decode().splitlines():
                match = POINT.match(line)
                self.assertTrue(match, (path, line))
                tags = re.findall(r",(\w+)=((?:[^ ,=\\]|\\.)+)", match[2])
                series.setdefault(match[1], set()).add(frozenset(tags))
                place = (match[1], match[2], match[4])
                self.assertNotIn(place, points, f"{path}: one point would replace the other")
                points[place] = line
                for name, whole, fraction, text in FIELD.findall(match[3]):
                    kind = "integer" if whole else "float" if fraction else "string"
                    self.assertEqual(types.setdefault((match[1], name), kind), kind, (path, match[1], name, whole, fraction, text))
                    self.assertNotIn(name, [tag for tag, _ in tags])
        self.assertEqual(types["roceanalyze_connections", "confidence"], "float")
        self.assertEqual(types["roceanalyze_connections", "a_qp"], "integer")
        self.assertEqual(types["roceanalyze_findings", "subject"], "string")
        for measurement, wanted in (("series", set()), ("connections", {"a", "b", "service", "upper", "version", "state"}),
                                    ("findings", {"id", "severity"}), ("diagnoses", {"cause", "severity", "seen"})):
            found = {tag for tags in series["roceanalyze_" + measurement] for tag, _ in tags}
            self.assertEqual(found, wanted | {"capture"})

    def test_every_row_is_a_point(self):
        for path in ALL_SAMPLES:
            wanted = json.loads(exported(path, "json"))
            counts = {"connections": len(wanted["connections"]), "findings": len(wanted["findings"]), "series": len(wanted["series"]["packets"]),
                      "diagnoses": len(wanted["diagnoses"])}
            if wanted["capture"]["first_time"] is None:
                counts = dict.fromkeys(counts, 0)
            lines = exported(path, "influx").decode().splitlines()
            got = {name: sum(line.startswith(f"roceanalyze_{name},") for line in lines) for name in counts}
            self.assertEqual(got, counts, path)

    def test_influxd_refuses_nothing(self):
        if shutil.which("influxd") is None:
            self.skipTest("no influxd here (Debian: influxdb)")
        server = Influxd(self.folder)
        self.addCleanup(server.stop)
        server.wait()
        self.assertEqual(server.send("query", b"", q="CREATE DATABASE roce")[0], 200)
        rows = dict.fromkeys(("connections", "findings", "series", "diagnoses"), 0)
        for path in ALL_SAMPLES:
            lines = exported(path, "influx")
            for name in rows:
                rows[name] += lines.count(f"\nroceanalyze_{name},".encode()) + lines.startswith(f"roceanalyze_{name},".encode())
            if lines:
                self.assertEqual(server.send("write", lines, db="roce", precision="ns"), (204, ""), path)
        for name, field in (("connections", "id"), ("findings", "count"), ("series", "packets"), ("diagnoses", "sentence")):
            self.assertEqual(server.number(f'SELECT count("{field}") FROM roceanalyze_{name}'), rows[name], name)
        self.assertGreater(rows["connections"], 100)
        odd = self.path('back\\ "a\\')
        shutil.copy(LOSSY, odd)
        done = run("export", odd, "--to", "-", "--format", "influx")
        self.assertEqual(server.send("write", done.stdout, db="roce", precision="ns"), (204, ""))
        answer = json.loads(server.send("query", db="roce", q='SHOW TAG VALUES FROM roceanalyze_series WITH KEY = "capture"')[1])
        self.assertIn(["capture", 'back/ "a/'], answer["results"][0]["series"][0]["values"])

    def test_points_of_one_time_stay_apart(self):
        # Every packet at one time: so are the last ones of all connections between two hosts.
        with open(os.path.join(SAMPLES, "06_mix_4qp.pcap.zst"), "rb") as file:
            data = bytearray(subprocess.run(["zstd", "-dc"], stdin=file, capture_output=True, check=True).stdout)
        first, at = bytes(data[24:32]), 24
        while at < len(data):
            data[at : at + 8] = first
            at += 16 + int.from_bytes(data[at + 8 : at + 12], "little")
        source = self.path("at_once.pcap")
        with open(source, "wb") as file:
            file.write(data)
        lines = run("export", source, "--to", "-", "--format", "influx").stdout.decode().splitlines()
        places = {(match[1], match[2], match[4]) for match in map(POINT.match, lines)}
        self.assertEqual(len(places), len(lines))
        self.assertEqual(sum(line.startswith("roceanalyze_connections") for line in lines), len(report(source)["connections"]))

    def test_promtool_takes_all_captures(self):
        if shutil.which("promtool") is None:
            self.skipTest("no promtool here (Debian: prometheus)")
        for path in ALL_SAMPLES:
            checked = subprocess.run(["promtool", "check", "metrics"], input=exported(path, "prometheus"), timeout=120,
                                     capture_output=True, check=False)
            self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, b"", b""), path)
        odd = self.path('a "b" \\n.pcap')
        shutil.copy(os.path.join(SAMPLES, "03_rping.pcap"), odd)
        for number, path in enumerate([*ALL_SAMPLES, odd]):
            wanted = json.loads(exported(path, "json"))
            if wanted["capture"]["first_time"] is None:
                continue
            folder, text = self.path(f"tsdb{number}"), self.path(f"{number}.om")
            os.makedirs(folder + "/wal")
            with open(text, "wb") as file:
                file.write(exported(path, "openmetrics"))
            done = subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", text, folder], timeout=120,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, (path, done.stderr + done.stdout))
            dump = subprocess.run(["promtool", "tsdb", "dump", folder], timeout=120, capture_output=True, text=True, check=True).stdout
            got = [float(line.rsplit("} ", 1)[1].split()[0]) for line in dump.splitlines() if '"roceanalyze_series_packets"' in line]
            # Of a short capture intervals are put together, until they are a millisecond long.
            together = 1
            while together * wanted["series"]["bucket_ns"] < 1_000_000:
                together *= 2
            packets = wanted["series"]["packets"]
            self.assertEqual(got, [sum(packets[at:at + together]) for at in range(0, len(packets), together)], path)
        self.assertIn(r'capture="a \"b\" \\n.pcap"', dump)

    def test_chosen_tables_and_standard_output(self):
        target = self.export(LOSSY, "some/", "--table", "series", "--table", "flows")
        self.assertEqual(sorted(os.listdir(target)), ["flows.csv", "series.csv"])
        done = run("export", LOSSY, "--to", "-", "--format", "ndjson", "--table", "hosts")
        self.assertEqual({json.loads(line)["table"] for line in done.stdout.splitlines()}, {"hosts"})
        with open(self.path("piped.sqlite"), "wb") as file:
            self.assertEqual(run("export", LOSSY, "--to", "-", "--format", "sqlite", capture_output=False, stdout=file).returncode, 0)
        with sqlite3.connect(self.path("piped.sqlite")) as connection:
            self.assertGreater(connection.execute("SELECT count(*) FROM flows").fetchone()[0], 0)
        connection.close()

    def test_wrong_usage_says_what_would_do(self):
        for words, text in ((["--to", self.path("a.xlsx")], "ndjson"), (["--to", self.path("a.csv")], "folder"), ([], "--output"),
                            (["--to", "-"], "--format"), (["--to", "-", "--format", "csv"], "folder"),
                            (["--to", self.path("a.json"), "--format", "xml"], "no format 'xml'"),
                            (["--to", self.path("a/"), "--table", "flow"], "no table 'flow'")):
            done = run("export", LOSSY, *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(text, done.stderr.decode())
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_capture_is_never_written_over(self):
        source = self.path("capture.db")
        shutil.copy(LOSSY, source)
        os.symlink(source, self.path("link.db"))
        os.link(source, self.path("hard.db"))
        before = read(source)
        for name in ("capture.db", "link.db", "hard.db"):
            done = run("export", source, "--to", self.path(name))
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"reads the file itself", done.stderr)
        os.mkdir(self.path("folder"))
        shutil.copy(LOSSY, self.path("folder/flows.csv"))
        self.assertEqual(run("export", self.path("folder/flows.csv"), "--to", self.path("folder")).returncode, 2)
        self.assertEqual(read(source), before)
        self.assertEqual(os.listdir(self.path("folder")), ["flows.csv"])

    def test_what_was_there_stays_until_all_is_written(self):
        for name in ("a.sqlite", "a.json"):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("old")
            os.chmod(self.path(name), 0o600)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        for name in ("a.sqlite", "a.json", "new.ndjson", "folder/"):
            done = run("export", LOSSY, "--to", self.path(name), "--force", preexec_fn=limit)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"File too large", done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.json", "a.sqlite"])
        folder = self.export(LOSSY, "folder", "--format", "csv")
        with open(os.path.join(folder, "series.csv"), "w", encoding="utf-8") as file:
            file.write("old")
        self.assertEqual(run("export", LOSSY, "--to", folder, "--force", preexec_fn=limit).returncode, 3)
        self.assertEqual(sorted(os.listdir(folder)), sorted(table + ".csv" for table in TABLES))
        self.assertEqual(read(os.path.join(folder, "series.csv")), b"old")
        self.export(LOSSY, "folder", "--force")
        self.assertEqual(sorted(os.listdir(folder)), sorted(table + ".csv" for table in TABLES))
        self.assertNotEqual(read(os.path.join(folder, "series.csv")), b"old")
        self.assertEqual(read(self.path("a.json")).decode(), "old")
        self.export(LOSSY, "a.json", "--force")
        self.assertEqual(os.stat(self.path("a.json")).st_mode & 0o777, 0o600)

    def test_places_that_cannot_be_written(self):
        for target in (self.path("nowhere/a.json"), self.path("nowhere/at/all/")):
            done = run("export", LOSSY, "--to", target)
            self.assertEqual(done.returncode, 3)
            self.assertIn(b"No such file", done.stderr)
        with open("/dev/full", "wb") as full:
            done = run("export", LOSSY, "--to", "-", "--format", "json", capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"No space left", done.stderr)

    def test_captures_without_packets_times_or_end(self):
        with open(os.path.join(SAMPLES, "03_rping.pcap"), "rb") as file:
            data = file.read()
        untimed = bytearray(data)
        at = 24
        while at < len(data):
            size = int.from_bytes(data[at + 8 : at + 12], "little")
            untimed[at : at + 8] = bytes(8)
            at += 16 + size
        for name, content, status in (("empty", data[:24], 0), ("cut", data[:5000], 0), ("untimed", bytes(untimed), 0)):
            source = self.path(name + ".pcap")
            with open(source, "wb") as file:
                file.write(content)
            for ending in (".sqlite", ".om", ".lp", ".ndjson", ".json", "/"):
                done = run("export", source, "--to", self.path(name + ending))
                self.assertIn(done.returncode, (status, 3), done.stderr)
                self.assertTrue(os.path.exists(self.path(name + ending)))
            self.assertTrue(read(self.path(name + ".om")).decode().endswith("# EOF\n"))
        self.assertEqual(csv_rows(read(self.path("untimed/series.csv"))), [])
        self.assertEqual(read(self.path("untimed.lp")).decode(), "")


if __name__ == "__main__":
    unittest.main()

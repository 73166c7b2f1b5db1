#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands `store` and `fleet`, and `export` to a store: both ends of one lossy flow in one file, what was lost
between them, nothing doubled, names of captures as text. Usage: fleet_test.py ROCEANALYZE SAMPLES"""

import csv
import io
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
SENDER, RECEIVER = "10.77.0.1", "10.77.0.2"
QUESTIONS = ("overview", "top", "loss", "clocks", "pairs", "incidents", "findings", "diagnoses", "marks", "hosts", "changes", "drops",
             "storm", "latency", "heat")


def sample(name):
    return os.path.join(SAMPLES, name)


def run(*words, **options):
    """Exit status, output and messages."""
    options.setdefault("env", {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "120"})
    done = subprocess.run([PROGRAM, *words], check=False, timeout=120, capture_output=True, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Fleet(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.store = os.path.join(self.folder, "fleet.store")

    def export(self, name, host, address, *more):
        status, out, err = run("export", sample(name), "-o", self.store, "--host", host, "--address", address, *more)
        self.assertEqual((status, out), (0, ""), err)
        return err

    def both_ends(self, name):
        self.export(f"{name}.ca.pcap.zst", "a", SENDER)
        self.export(f"{name}.cb.pcap.zst", "b", RECEIVER)

    def ask(self, *words):
        status, out, err = run("fleet", *words, "--from", self.store, "--json")
        self.assertEqual((status, err), (0, ""), words)
        return json.loads(out)

    def rows(self, sql):
        base = sqlite3.connect(self.store)
        try:
            return base.execute(sql).fetchall()
        finally:
            base.close()

    def dump(self):
        tables = [name for name, in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'") if name != "schema"]
        return {table: self.rows(f"SELECT * FROM {table}") for table in tables}

    # --- both ends ------------------------------------------------------------------------------------

    def test_both_ends_and_what_was_lost_between(self):
        """The drop counter of the switch between them showed 46 (samples/README.md)."""
        self.both_ends("04_write_loss1")
        answer = self.ask("connection", SENDER, "0x47", RECEIVER, "71")
        ends = {(row["host"], row["place"]): row for row in answer["rows"]}
        self.assertEqual(set(ends), {("a", "sender"), ("b", "receiver"), ("b", "sender"), ("a", "receiver")})
        self.assertEqual((ends["a", "sender"]["packets"], ends["b", "receiver"]["packets"]), (3669, 3623))
        self.assertEqual(ends["b", "receiver"]["lost_before"], 46)
        self.assertEqual((ends["a", "sender"]["lost_at_least"], ends["a", "sender"]["lost_at_most"]), (22, 1749))
        loss, = answer["loss"]
        self.assertEqual((loss["lost"], loss["directed"], loss["from_host"], loss["to_host"], loss["of"]), (46, "yes", "a", "b", "requests"))
        self.assertEqual(loss["sent"] - loss["received"], 46)
        self.assertEqual(len(answer["incidents"]), 20)
        by_flow = self.ask("flow", SENDER, RECEIVER, "0x47")
        self.assertEqual({row["host"] for row in by_flow["rows"]}, {"a", "b"})
        self.assertEqual(by_flow["loss"], answer["loss"])
        self.assertEqual(self.ask("connection", str(by_flow_key(self.rows)))["rows"], answer["rows"])
        text = run("fleet", "flow", SENDER, RECEIVER, "71", "--from", self.store)[1]
        self.assertIn("46 of 3616 packets (requests) were lost from a to b, exactly", " ".join(text.split()))
        self.assertRegex(text, r"packets +3669 +3623")

    def test_what_came_late_is_no_loss(self):
        """Packets overtake each other between the two points; none is lost."""
        self.both_ends("04_write_reorder")
        row, = self.ask("loss")["rows"]
        self.assertEqual((row["lost"], row["lost_at_least"], row["sent"]), (0, 0, row["received"]), row)
        self.assertGreater(row["lost_at_most"], 0)  # the packets that came late
        os.remove(self.store)
        self.both_ends("04_write_jitter")  # most come late: nothing is claimed
        for row in self.ask("loss")["rows"]:
            self.assertEqual((row["lost"], row["lost_at_least"]), (0, 0), row)

    def test_what_arrives_damaged_is_lost(self):
        self.both_ends("04_write_corrupt")
        row, = self.ask("loss")["rows"]
        self.assertEqual((row["lost"], row["lost_at_least"], row["lost_at_most"]), (29, 29, 29))

    def test_lost_answers_are_no_lost_requests(self):
        self.both_ends("04_write_ackloss10")
        self.assertEqual([row["lost"] for row in self.ask("loss")["rows"]], [0])

    def test_which_end_is_nearer_is_not_guessed(self):
        for name, host in (("ca", "a"), ("cb", "b")):
            run("export", sample(f"04_write_loss1.{name}.pcap.zst"), "-o", self.store, "--host", host)
        loss, = self.ask("loss")["rows"]
        self.assertEqual((abs(loss["lost"]), loss["directed"]), (46, "no"))
        self.assertNotIn("exactly", run("fleet", "flow", SENDER, RECEIVER, "71", "--from", self.store)[1])

    # --- once ------------------------------------------------------------------------------------------

    def test_a_capture_is_added_once(self):
        self.both_ends("04_write_loss1")
        before = self.dump()
        copy = os.path.join(self.folder, "other name.pcap.zst")
        shutil.copy(sample("04_write_loss1.ca.pcap.zst"), copy)
        status, out, err = run("export", copy, "-o", self.store, "--host", "c")
        self.assertEqual((status, out), (0, ""))
        self.assertIn("has this capture already", err)
        self.assertEqual(self.dump(), before)
        run_number = self.rows("SELECT DISTINCT run FROM runs WHERE host = 'a'")[0][0]
        self.assertEqual(run("store", "prune", self.store, "--run", str(run_number))[0], 0)
        self.export("04_write_loss1.ca.pcap.zst", "a", SENDER)
        after = self.dump()
        for table, rows in before.items():
            self.assertEqual(sorted(map(repr, after[table])), sorted(map(repr, rows)), table)

    def test_made_again_it_is_the_same(self):
        self.both_ends("04_write_loss1")
        first = self.dump()
        os.remove(self.store)
        self.export("04_write_loss1.ca.pcap.zst", "a", SENDER, "--jobs", "1")
        self.export("04_write_loss1.cb.pcap.zst", "b", RECEIVER, "--jobs", "3")
        self.assertEqual(self.dump(), first)

    # --- all samples -----------------------------------------------------------------------------------

    def test_figures_are_those_of_the_report(self):
        for name in ("06_mix_4qp.pcap.zst", "11_three_hosts.pcap.zst", "13_dumpcap_2if_loss.pcapng.zst", "03_rping.pcap"):
            with self.subTest(name):
                if os.path.exists(self.store):
                    os.remove(self.store)
                self.assertEqual(run("export", sample(name), "-o", self.store)[0], 0)
                flows = json.loads(run("flows", "--json", sample(name))[1])["flows"]
                got = self.rows("SELECT src, dst, dst_qp, SUM(packets), SUM(bytes), SUM(retransmitted), SUM(lost_before), SUM(lost_after),"
                                " SUM(out_of_order) FROM intervals GROUP BY flow_key, epoch HAVING SUM(packets) > 0")
                want = [(f["src"], f["dst"], f["dst_qp"], f["packets"], f["bytes"], f["retransmitted"]["packets"],
                         f["lost"]["before_capture"], f["lost"]["after_capture"], f["out_of_order"]) for f in flows]
                self.assertEqual(sorted(got), sorted(want))
                incidents = json.loads(run("incidents", "--json", sample(name))[1])["incidents"]
                self.assertEqual(sorted(self.rows("SELECT number, lost_at_least, lost_at_most, what FROM incidents")),
                                 sorted((i["id"], i["lost"]["at_least"], i["lost"]["at_most"], i["what"]) for i in incidents))
                self.assertEqual(self.rows("SELECT DISTINCT host FROM heartbeats"), [(name.split(".")[0],)])
                for question in QUESTIONS:
                    self.assertIn("rows", self.ask(question))

    def test_evidence_leads_to_the_packets(self):
        self.both_ends("04_write_loss1")
        worst = self.ask("incidents")["rows"][0]
        row, = self.ask("evidence", str(worst["incident"]))["rows"]
        self.assertTrue(os.path.isfile(row["file"]))
        text = run("fleet", "evidence", str(worst["incident"]), "--from", self.store)[1]
        command = [line for line in text.splitlines() if line.startswith("  roceanalyze ")][0].split(maxsplit=1)[1]
        shown = subprocess.run(f"{PROGRAM} {command}", shell=True, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(int(shown.stdout.split(maxsplit=1)[0]), row["first_packet"])

    # --- forms ------------------------------------------------------------------------------------------

    def test_text_csv_and_sql_say_the_same(self):
        self.both_ends("04_write_loss1")
        for question in QUESTIONS:
            rows = self.ask(question)["rows"]
            table = list(csv.DictReader(io.StringIO(run("fleet", question, "--from", self.store, "--csv")[1], newline="")))
            self.assertEqual(len(table), len(rows), question)
            for ours, theirs in zip(table, rows):
                for key, value in theirs.items():
                    if not isinstance(value, float):
                        self.assertEqual(ours[key], str(value), (question, key))
            sql = run("fleet", "sql", question)[1]
            if question not in ("latency", "clocks"):  # whose answers are made of the statement's rows
                self.assertEqual([[v for v in row.values()] for row in rows], [list(row) for row in self.rows(sql)], question)

    def test_which_time(self):
        """Capture a: yesterday, and half an hour ago, with as many packets more as there were; capture b: two hours ago."""
        self.both_ends("04_write_loss1")
        now, minute, day = int(time.time()), 60, 86_400
        base = sqlite3.connect(self.store)
        try:
            for table in ("intervals", "pairs", "heartbeats"):
                base.execute(f"UPDATE {table} SET time = ? WHERE host = 'a'", (now - 30 * minute,))
                base.execute(f"UPDATE {table} SET time = ? WHERE host = 'b'", (now - 120 * minute,))
            columns = [name for _, name, *_ in base.execute("PRAGMA table_info(pairs)").fetchall()]
            shown = {"time": f"time - {day}", "row": "row + 1000", "packets": "packets / 3"}
            base.execute(f"INSERT INTO pairs SELECT {', '.join(shown.get(name, name) for name in columns)} FROM pairs WHERE host = 'a'")
            base.commit()
        finally:
            base.close()

        def hosts(*words):
            return {row["host"] for row in self.ask("where", SENDER, RECEIVER, *words)["rows"]}

        self.assertEqual(hosts("--since", "3h"), {"a", "b"})
        self.assertEqual(hosts("--since", "1h"), {"a"})
        self.assertEqual(hosts("--until", "1h"), {"b"})
        self.assertEqual(hosts("--since", "150m", "--until", "90m"), {"b"})
        self.assertEqual(hosts("--since", "90m", "--until", "1h"), set())
        self.assertEqual([row["host"] for row in self.ask("hosts", "--since", "3h", "--until", "1h")["rows"]], ["b"])
        changes = {row["src"]: (row["packets_before"], row["packets"]) for row in self.ask("changes", "--against", "24h")["rows"]}
        self.assertEqual(changes[SENDER], (3669 // 3, 3669))
        changes = {row["src"]: (row["packets_before"], row["packets"]) for row in self.ask("changes", "--since", "2h")["rows"]}
        self.assertEqual(changes[SENDER], (0, 3669))  # b was there in the last two hours, too, with 3623
        changes = {row["src"]: (row["packets_before"], row["packets"]) for row in self.ask("changes", "--until", "1h", "--against", "22h")["rows"]}
        self.assertEqual(changes[SENDER], (3669 // 3, 3623))
        for words in (("overview", "--since", "1h", "--until", "2h"), ("top", "--against", "24h"), ("changes", "--since", "2h", "--against", "1h")):
            self.assertEqual(run("fleet", *words, "--from", self.store)[0], 2, words)

    def test_which_switch_is_at_the_link(self):
        """By LLDP: what forwards and is not the host itself; of several none."""
        raw = subprocess.run(["zstd", "-dqc", sample("04_write_loss1.ca.pcap.zst")], check=True, capture_output=True).stdout
        order = "<" if raw[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
        own = switch = b""
        at = 24
        while not (own and switch):  # the host's address, and the one that it sends to
            size = struct.unpack(order + "I", raw[at + 8:at + 12])[0]
            frame = raw[at + 16:at + 16 + size]
            if frame[26:30] == bytes((10, 77, 0, 1)):
                own, switch = frame[6:12], b"\x02\x00\x00\x00\x00\x99"
            at += 16 + size
        bridge, router, station = 1 << 2, 1 << 4, 1 << 7
        ours, forwarding, other = (own, b"h2", b"eth0", router), (switch, b"tor\t3'", b"Ethernet1/7", bridge), (b"\x02" * 6, b"b", b"eth0", station)
        second = (b"\x06" * 6, b"tor4", b"Ethernet1/7", bridge | router)
        for announced, wanted in (((), ("", "")), ((ours, other), ("", "")), ((ours, other, forwarding), ("tor\t3'", "Ethernet1/7")),
                                  ((forwarding, second), ("", "")), (((switch, b"a", b"p1", bridge),), ("", "")),
                                  (((switch, b"", b"p1", bridge),), ("02:00:00:00:00:99", "p1"))):
            source = os.path.join(self.folder, "lldp.pcap")
            with open(source, "wb") as file:
                file.write(raw[:24])
                for mac, name, port, enabled in announced:
                    tlvs = ((1, b"\x04" + mac), (2, b"\x05" + port), (3, b"\x00\x78"), *([(5, name)] if name else []),
                            (7, struct.pack("!HH", 0x94, enabled)), (0, b""))
                    frame = b"\x01\x80\xc2\x00\x00\x0e" + mac + b"\x88\xcc" + b"".join(
                        struct.pack("!H", kind << 9 | len(value)) + value for kind, value in tlvs)
                    file.write(raw[24:32] + struct.pack(order + "II", len(frame), len(frame)) + frame)
                for mac in (own, switch):  # priority 3 is paused, by both ends of the link
                    frame = b"\x01\x80\xc2\x00\x00\x01" + mac + b"\x88\x08\x01\x01" + struct.pack("!9H", 8, *[0xffff] * 8) + bytes(26)
                    file.write(raw[24:32] + struct.pack(order + "II", len(frame), len(frame)) + frame)
                file.write(raw[24:])
            if os.path.exists(self.store):
                os.remove(self.store)
            self.assertEqual(run("export", source, "-o", self.store, "--host", "a", "--rack", "r", "--address", SENDER)[0], 0)
            self.assertEqual(self.rows("SELECT address, host, rack, tor, tor_port FROM nodes"), [(SENDER, "a", "r", *wanted)], announced)
            pauses = {row[0].replace(":", ""): row[1:] for row in self.rows("SELECT port, peer, switch, switch_port FROM pauses WHERE kind = 'pfc'")}
            self.assertEqual(pauses[own.hex()], (SENDER, "", ""), announced)
            if forwarding in announced:
                self.assertEqual(pauses[switch.hex()], ("", "tor\t3'", "Ethernet1/7"), announced)

    def test_names_are_text(self):
        hostile = "x'; DROP TABLE intervals; --\x1b[31m"
        self.export("04_write_loss1.ca.pcap.zst", hostile, SENDER, "--label", "a=b'c", "--site", hostile, "--rack", hostile)
        self.assertGreater(self.rows("SELECT COUNT(*) FROM intervals")[0][0], 0)
        self.assertEqual(self.rows("SELECT value FROM facts WHERE kind = 'label'"), [("b'c",)])
        for question in QUESTIONS:
            out = run("fleet", question, "--from", self.store)[1]
            self.assertNotIn("\x1b", out, question)
        self.assertNotIn("\x1b", run("fleet", "flow", SENDER, RECEIVER, "71", "--from", self.store)[1])

    # --- wrong usage -------------------------------------------------------------------------------------

    def test_what_is_no_store_is_left_alone(self):
        other = os.path.join(self.folder, "other.db")
        base = sqlite3.connect(other)
        base.execute("CREATE TABLE theirs (a)")
        base.commit()
        base.close()
        for words in (["store", "init", other], ["store", "status", other], ["fleet", "overview", "--from", other],
                      ["export", sample("03_rping.pcap"), "-o", other, "--format", "store"], ["store", "status", self.store]):
            status, out, err = run(*words)
            self.assertEqual((status, out), (3, ""), (words, err))
        self.assertFalse(os.path.exists(self.store))

    def test_wrong_usage(self):
        self.assertEqual(run("store", "init", self.store)[0], 0)
        for words, expected in ((["fleet", "nonsense", "--from", self.store], "overview"), (["fleet", "top"], "--from TARGET"),
                                (["fleet", "where", SENDER, "--from", self.store], "ADDRESS ADDRESS"),
                                (["fleet", "connection", SENDER, "x", RECEIVER, "1", "--from", self.store], "ADDRESS QP"),
                                (["export", sample("03_rping.pcap"), "-o", self.store, "-Y", "frame"], "whole captures"),
                                (["export", sample("03_rping.pcap"), "-o", self.folder + "/a.json", "--host", "x"], "NAME.store"),
                                (["store", "prune", self.store], "--keep"), (["store", "prune", self.store, "--keep", "x"], "--keep")):
            status, out, err = run(*words)
            self.assertEqual((status, out), (2, ""), (words, err))
            self.assertIn(expected, err, words)
        status, _, err = run("export", "-", "-o", self.store, stdin=subprocess.DEVNULL)
        self.assertEqual(status, 3)
        self.assertIn("save it to a file first", err)
        status, _, err = run("export", self.folder + "/missing.pcap", "-o", self.store)
        self.assertEqual(status, 3)

    def test_capture_says_what_it_needs(self):
        for words, expected in ((["--host", "x"], "need --store"), (["--store", self.store, "--capture-only", "-w", "x"], "--capture-only"),
                                (["--store", self.store, "--store-every", "10ms"], "whole seconds"),
                                (["--store", self.store, "--spool-limit", "1X"], "not a size")):
            status, out, err = run("capture", "-i", "lo", *words)
            self.assertEqual((status, out), (2, ""), (words, err))
            self.assertIn(expected, err, words)
        self.assertEqual(run("ship", self.folder + "/none", "--to", self.store, "--once")[0], 3)
        self.assertFalse(os.path.exists(self.store + ".spool"))

    def test_status_and_migrate(self):
        self.assertIn("made, version 2", run("store", "init", self.store)[1])
        self.assertIn("is a store already", run("store", "init", self.store)[1])
        self.assertIn("nothing to do", run("store", "migrate", self.store)[1])
        self.export("04_write_loss1.ca.pcap.zst", "a", SENDER)
        status = json.loads(run("store", "status", self.store, "--json")[1])
        self.assertEqual({t["name"]: t["rows"] for t in status["tables"]}["heartbeats"], 1)
        self.assertIn("intervals", run("store", "status", self.store)[1])
        self.assertIn("ENGINE = Distributed", run("store", "schema", "--engine", "cluster")[1])


def by_flow_key(rows):
    return rows("SELECT conn_key FROM intervals WHERE conn_key > 0 LIMIT 1")[0][0]


if __name__ == "__main__":
    unittest.main()

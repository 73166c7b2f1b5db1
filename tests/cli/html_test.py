#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report --html: read by an XML parser and by one of HTML, its figures against --json and --csv, hostile
names, bounds. Usage: html_test.py ROCEANALYZE SAMPLES"""

import csv
import html.parser
import io
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import erspan_mirror  # noqa: E402
from erspan_mirror import variants  # noqa: E402

PROGRAM, SAMPLES = sys.argv.pop(1), os.path.abspath(sys.argv.pop(1))
NAMES = sorted(name for name in os.listdir(SAMPLES) if ".pcap" in name)
HTML, SVG = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/2000/svg}"
# Whatever a browser would run or fetch.
ACTIVE = {"script", "iframe", "object", "embed", "link", "img", "base", "form", "input", "audio", "video", "source", "foreignObject"}
HOSTILE = ["<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "'; </style></title><b>", "\x1b[31mred\x07", "a&amp;b&lt;",
           "\u202egnp.exe\u2066", "\ufffe\uffff\x85\x9b", "]]>--><!--"]
KINDS = {"fatal": "error", "degraded": "warning", "odd": "notice"}  # diagnoses and findings


def run(*words):
    return subprocess.run([PROGRAM, *words], check=False, timeout=300, capture_output=True)


def page(*words):
    done = run("report", "--html", *words)
    assert done.returncode in (0, 3), done.stderr
    return done.stdout


class Reader(html.parser.HTMLParser):
    """Start and end tags in balance, and which there are."""

    VOID = {"meta", "br", "path", "line", "img"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.open = set(), [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in self.VOID, tag
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag


def parsed(data):
    text = data.decode("utf-8")
    assert text.startswith("<!DOCTYPE html>\n"), text[:80]
    return ElementTree.fromstring(text), Reader(text)


def table(root, name):
    """{column: value for machines} of each row of the section's table, in its order."""
    section = root.find(f".//{HTML}section[@id='{name}']")
    if section is None:
        return []
    columns = [th.get("data-column") for th in section.findall(f".//{HTML}thead//{HTML}th")]
    return [dict(zip(columns, ((td.get("data-value") or "".join(td.itertext())) for td in tr)))
            for tr in section.findall(f".//{HTML}tbody/{HTML}tr")]


def csv_rows(command, *words):
    return list(csv.DictReader(io.StringIO(run(command, "--csv", *words).stdout.decode(), newline="")))


def block(kind, body):
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def option(code, text):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return struct.pack("<HH", code, len(data)) + data + b"\0" * (-len(data) % 4)


def hostile_capture(path, text):
    """The packets of a sample in a pcapng whose every text is that one."""
    with open(os.path.join(SAMPLES, "03_rping.pcap"), "rb") as file:
        data = file.read()
    nano = data[:4] == b"\x4d\x3c\xb2\xa1"
    end = option(0, b"")
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + option(1, text) + option(2, text) + option(3, text)
                + option(4, text) + end)
    out += block(1, struct.pack("<HHI", 1, 0, 0) + option(2, text) + option(3, text) + option(9, b"\x09" if nano else b"\x06")
                 + option(11, b"\0" + (text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))) + end)
    at = 24
    while at < len(data):
        seconds, part, captured, wire = struct.unpack_from("<IIII", data, at)
        stamp = seconds * (10**9 if nano else 10**6) + part
        packet = data[at + 16 : at + 16 + captured]
        out += block(6, struct.pack("<IIIII", 0, stamp >> 32, stamp & 0xFFFFFFFF, captured, wire) + packet)
        at += 16 + captured
    with open(path, "wb") as file:
        file.write(out)


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_every_sample_is_well_formed_and_loads_nothing(self):
        for name in NAMES:
            with self.subTest(name):
                root, reader = parsed(page(os.path.join(SAMPLES, name)))
                self.assertEqual(reader.open, [])
                self.assertFalse(reader.tags & ACTIVE)
                for key, value in reader.attributes:
                    self.assertFalse(key.startswith("on"), key)
                    if key in ("href", "src"):
                        self.assertTrue(value.startswith("#"), value)
                targets = {value for key, value in reader.attributes if key == "href"}
                self.assertLessEqual({t[1:] for t in targets}, {e.get("id") for e in root.iter()})
                ids = [e.get("id") for e in root.iter() if e.get("id")]
                self.assertEqual(len(ids), len(set(ids)))

    def test_figures_are_those_of_json(self):
        for name in NAMES[::3]:
            with self.subTest(name):
                path = os.path.join(SAMPLES, name)
                root, _ = parsed(page(path))
                report = json.loads(run("report", "--json", path).stdout)
                values = {th.text: td.get("data-value") for th, td in root.findall(f".//{HTML}table[@class='facts']//{HTML}tr")}
                self.assertEqual(int(values["Packets"]), report["capture"]["packets"])
                self.assertEqual(int(values["RoCE"]), report["roce"]["packets"])
                articles = root.findall(f".//{HTML}section[@id='findings']/{HTML}article")
                self.assertEqual(len(articles), min(100, len(report["findings"])))
                told = {each["number"]: KINDS[diagnosis["severity"]] for diagnosis in reversed(report["diagnoses"])
                        for each in diagnosis["findings"]}
                for number, (article, finding) in enumerate(zip(articles, report["findings"])):
                    said = "".join(article.itertext())
                    own = finding["severity"]
                    self.assertEqual(article.get("class"), own if own == "info" else told.get(number, own))
                    for text in (finding["title"], finding["subject"], finding["explanation"], finding["id"]):
                        self.assertIn(text, said)
                    for packet in finding["packets"]:
                        self.assertRegex(said, rf"\b{packet}\b")
                for key in ("connections", "flows"):
                    self.assertEqual([int(row["id"]) for row in table(root, key)], [row["id"] for row in report[key]])
                connections = {row["id"]: row for row in report["connections"]}
                for row in table(root, "connections"):
                    wanted = connections[int(row["id"])]
                    self.assertEqual(int(row["packets"]), wanted["packets"])
                    self.assertEqual(int(row.get("retransmitted") or 0), wanted["retransmitted"]["packets"])
                    self.assertEqual(int(row.get("lost") or 0), sum(wanted["lost"].values()))

    def test_begins_with_the_worst_diagnosis(self):
        """In large type above all others, and a block each with what the text report says; their evidence is folded."""
        for name in ["04_write_loss1.cb.pcap.zst", "06_badrkey_write.pcap", "03_rping.pcap", *NAMES[::4]]:
            with self.subTest(name):
                path = os.path.join(SAMPLES, name)
                root, _ = parsed(page(path))
                report = json.loads(run("report", "--json", path).stdout)
                diagnoses = report["diagnoses"]
                blocks = root.findall(f".//{HTML}section[@id='diagnoses']/{HTML}article")
                self.assertEqual(len(blocks), len(diagnoses))
                limits = re.compile("INCOMPLETE|LIMITED")  # what the capture can bear is said before
                first = [p for p in root.find(f".//{HTML}header") if not limits.match("".join(p.itertext()))][0]
                if not diagnoses:
                    self.assertEqual(first.tag, f"{HTML}h1")
                    continue
                self.assertEqual(first.get("class"), f"verdict {KINDS[diagnoses[0]['severity']]} worst")
                self.assertTrue("".join(first.itertext()).endswith(diagnoses[0]["sentence"]))
                evidence = {f["number"] for d in diagnoses for f in d["findings"]}
                for block, diagnosis in zip(blocks, diagnoses):
                    said = "".join(block.itertext())
                    self.assertEqual(block.get("class"), KINDS[diagnosis["severity"]])
                    for text in (diagnosis["sentence"], diagnosis["would_decide"] or "", *diagnosis["facts"],
                                 *diagnosis["alternatives"]):
                        self.assertIn(text, said)
                    for packet in diagnosis["packets"]:
                        self.assertRegex(said, rf"\b{packet}\b")
                    for command in diagnosis["commands"]:
                        self.assertIn(command.replace("FILE", path), [code.text for code in block.iter(f"{HTML}code")])
                    targets = {a.get("href") for a in block.iter(f"{HTML}a")}
                    firsts = {f["id"]: f["number"] for f in reversed(diagnosis["findings"])}
                    self.assertEqual(targets, {f"#finding-{n + 1}" for n in firsts.values()})
                articles = root.findall(f".//{HTML}section[@id='findings']/{HTML}article")
                folded = {i for i, article in enumerate(articles) if article.find(f"{HTML}details") is not None}
                self.assertEqual(folded, evidence)
                for details in root.iter(f"{HTML}details"):
                    self.assertIsNone(details.get("open"))
                    # Not where a link leads to, but around it: then a browser opens it.
                    self.assertIsNone(details.get("id"))
                    self.assertTrue(details.find(f"{HTML}div").get("id").startswith("finding-"))

    def test_tables_are_those_of_csv(self):
        path = os.path.join(SAMPLES, "06_mix_4qp.pcap.zst")
        root, _ = parsed(page(path))
        for section in ("connections", "flows", "paths", "markings"):
            rows = csv_rows(section, path)
            got = table(root, section)
            self.assertEqual(len(got), len(rows))
            for shown, wanted in zip(got, rows):
                for column, value in shown.items():
                    self.assertEqual(value or "0", wanted[column] or "0", (section, column))

    def test_shells_and_mirrors_are_those_of_json(self):
        with tempfile.TemporaryDirectory() as folder:
            records = variants.read(os.path.join(SAMPLES, "02_atomic_cas.pcap"))
            for section, made in (("shells", erspan_mirror.hide(records, 0.05, 1)), ("mirrors", erspan_mirror.mirror(records, 2, 0.05, 1))):
                path = os.path.join(folder, section + ".pcap")
                variants.write(path, made[0])
                root, _ = parsed(page(path))
                wanted = json.loads(run("report", "--json", path).stdout)[section]
                got = table(root, section)
                self.assertEqual(len(got), 1)
                self.assertEqual(len(wanted), 1)
                self.assertGreater(made[1], 0)
                self.assertEqual(int(got[0]["missing"]), made[1])
                for column in ("name", "src", "dst", "packets", "bytes", "missing", "gaps"):
                    self.assertEqual(got[0][column], str(wanted[0][column]), column)
                self.assertIsNone(root.find(f".//{HTML}section[@id='{'mirrors' if section == 'shells' else 'shells'}']"))

    def test_hosts_sum_up_connections(self):
        path = os.path.join(SAMPLES, "11_three_hosts.pcap.zst")
        root, _ = parsed(page(path))
        report = json.loads(run("report", "--json", path).stdout)
        wanted = {}
        for connection in report["connections"]:
            for name, side in zip("ab", connection["sides"]):
                address = connection[name]["address"]
                wanted[address] = wanted.get(address, 0) + side["packets"]
        self.assertEqual({row["address"]: int(row["packets"]) for row in table(root, "hosts")}, wanted)

    def test_hostile_names_are_text(self):
        for number, text in enumerate([*HOSTILE, b"\xff\xfe\x80 no UTF-8 \xc3"]):
            with self.subTest(text):
                path = os.path.join(self.folder, f"{number} <i>&\"'.pcapng")
                hostile_capture(path, text)
                data = page(path)
                root, reader = parsed(data)
                self.assertEqual(reader.open, [])
                self.assertFalse(reader.tags & ACTIVE)
                self.assertNotIn("b", reader.tags)
                self.assertNotIn("i", reader.tags)
                shown = "".join(root.itertext())
                self.assertNotRegex(shown, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
                self.assertIn(os.path.basename(path), shown)
                if isinstance(text, str) and text.isprintable():
                    self.assertGreaterEqual(shown.count(text), 4, text)

    def test_filters_and_standard_input_are_text(self):
        with open(os.path.join(SAMPLES, "03_rping.pcap"), "rb") as file:
            done = subprocess.run([PROGRAM, "report", "--html", "-", "-Y", "frame.number < 40 && ip.ttl > 1"], stdin=file, timeout=60,
                                  capture_output=True, check=True)
        root, _ = parsed(done.stdout)
        shown = "".join(root.itertext())
        self.assertIn("frame.number < 40 && ip.ttl > 1", shown)
        self.assertIn("standard input", shown)

    def test_commands_can_be_copied(self):
        path = os.path.join(self.folder, "it's a capture.pcap.zst")
        os.symlink(os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst"), path)
        root, _ = parsed(page(path))
        commands = [code.text for code in root.findall(f".//{HTML}pre/{HTML}code")]
        self.assertTrue(commands)
        for command in commands:
            words = subprocess.run(["/bin/sh", "-c", f"roceanalyze() {{ \"$PROGRAM\" \"$@\"; }}; {command} | wc -l"], check=True, timeout=60,
                                   env=os.environ | {"PROGRAM": PROGRAM}, capture_output=True)
            self.assertGreater(int(words.stdout), 0, command)

    def test_policy_and_what_it_did_not_judge(self):
        path = os.path.join(SAMPLES, "07_ce_netem10.cb.pcap.zst")
        root, _ = parsed(page(path, "--policy", "nvidia"))
        report = json.loads(run("report", "--json", "--policy", "nvidia", path).stdout)
        items = ["".join(li.itertext()) for li in root.findall(f".//{HTML}section[@id='findings']//{HTML}li")]
        self.assertEqual(items, report["not_judged"])
        self.assertTrue(items)
        violated = [row for row in table(root, "markings") if row.get("verdict") == "violation"]
        self.assertEqual(len(violated), sum(row["verdict"] == "violation" for row in report["markings"]))

    def test_timeline_stays_inside(self):
        for name in ("04_write_loss1.cb.pcap.zst", "03_cmtime.pcap"):
            root, _ = parsed(page(os.path.join(SAMPLES, name)))
            svg = root.find(f".//{SVG}svg")
            width, height = (float(n) for n in svg.get("viewBox").split()[2:])
            for line in svg.iter(f"{SVG}line"):
                for key in ("x1", "x2"):
                    self.assertTrue(0 <= float(line.get(key)) <= width)
                for key in ("y1", "y2"):
                    self.assertTrue(0 <= float(line.get(key)) <= height)
            self.assertTrue([p for p in svg.iter(f"{SVG}path") if p.get("class") == "throughput"])

    def test_wide_tables_scroll_in_themselves(self):
        """The page is never wider than the window: a table scrolls in its frame, and long names are broken outside of
        tables."""
        for name in NAMES[:3] + ["04_write_loss1.ca.pcap.zst"]:
            root, _ = parsed(page(os.path.join(SAMPLES, name)))
            framed = root.findall(f".//{HTML}div[@class='table']/{HTML}table")
            self.assertEqual(len(framed), len(root.findall(f".//{HTML}table")), name)
            style = root.find(f".//{HTML}style").text.split("@media print")[0]
            self.assertRegex(style, r"\n\.table \{[^}]*overflow-x: auto;")
            self.assertRegex(style, r"\nbody \{[^}]*overflow-wrap: anywhere;")

    def test_rows_are_bounded(self):
        # 300 connections: the sick and large ones are listed, all are counted.
        path = os.path.join(self.folder, "many.pcap")
        generate = os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "tests", "support", "roce_generate")
        subprocess.run([generate, "--packets", "20000", "--qps", "300", path], check=True, timeout=120, capture_output=True)
        report = json.loads(run("report", "--json", path).stdout)
        self.assertGreater(len(report["flows"]), 250)
        root, _ = parsed(page(path))
        self.assertEqual(len(table(root, "flows")), 200)
        self.assertIn(f"of {len(report['flows'])} flows", "".join(root.find(f".//{HTML}section[@id='flows']").itertext()))
        root, _ = parsed(page(path, "--top", "0"))
        self.assertEqual(len(table(root, "flows")), len(report["flows"]))
        root, _ = parsed(page(path, "--top", "7"))
        self.assertEqual(len(table(root, "connections")), min(7, len(report["connections"])))

    def test_nothing_to_report_and_damaged_files(self):
        empty = os.path.join(self.folder, "empty.pcap")
        with open(os.path.join(SAMPLES, "03_rping.pcap"), "rb") as file:
            data = file.read()
        with open(empty, "wb") as file:
            file.write(data[:24])
        root, _ = parsed(page(empty))
        self.assertIn("nothing to judge", "".join(root.itertext()))
        cut = os.path.join(self.folder, "cut.pcap")
        with open(cut, "wb") as file:
            file.write(data[:5000])
        root, _ = parsed(page(cut))
        verdict = next(p for p in root.iter(f"{HTML}p") if "verdict" in p.get("class", ""))
        self.assertEqual(verdict.get("class"), "verdict notice")
        self.assertIn("INCOMPLETE: part of the capture could not be read or judged (an input could not be read to its end, a file ends inside a record)",
                      "".join(verdict.itertext()))
        self.assertIn("cut_short", "".join(root.find(f".//{HTML}section[@id='doubts']").itertext()))

    def test_usage_and_a_full_disk(self):
        path = os.path.join(SAMPLES, "03_rping.pcap")
        self.assertEqual(run("report", "--html", "--json", path).returncode, 2)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "report", "--html", path], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"No space left", done.stderr)

    def test_threads_do_not_change_it(self):
        path = os.path.join(SAMPLES, "04_write_loss1.ca.pcap.zst")
        self.assertEqual(page(path, "--jobs", "1"), page(path, "--jobs", "3"))


if __name__ == "__main__":
    unittest.main()

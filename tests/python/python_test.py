#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""import roceanalyze, against the program: the figures of all samples, packets, errors, lifetimes and threads.
Usage: python_test.py PROGRAM SAMPLES; PYTHONPATH and ROCEANALYZE_LIBRARY say where the module and its library are."""

import contextlib
import gc
import glob
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

PROGRAM, SAMPLES = sys.argv[1:3]
del sys.argv[1:3]

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
import roceanalyze  # noqa: E402
import synthetic  # noqa: E402
from roceanalyze import _library  # noqa: E402

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli", "library", "roceanalyze.h")
CAPTURES = sorted(path for path in glob.glob(os.path.join(SAMPLES, "*")) if not path.endswith((".md", ".json")))
LOSSES = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")


def program(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, check=False).stdout.decode()


def quiet_report(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", roceanalyze.IncompleteWarning)
        return roceanalyze.report(path, **options)


class Figures(unittest.TestCase):
    maxDiff = None

    def test_reports_are_those_of_the_program(self):
        self.assertGreater(len(CAPTURES), 20)
        for path in CAPTURES:
            with self.subTest(path):
                report = quiet_report(path)
                self.assertEqual(report.json(), program("report", "--json", path))
                document = report.document()
                for name in ("connections", "flows"):
                    rows = list(report[name].dicts())
                    self.assertEqual(len(rows), len(document[name]))
                    for row, there in zip(rows, document[name]):
                        self.assertEqual((row["id"], row["packets"], row["bytes"]),
                                         (there["id"], there["packets"], there["bytes"]))
                self.assertEqual(report.findings.rows, len(document["findings"]))
                self.assertEqual(report.incidents.rows, len(document["incidents"]))

    def test_packets_are_those_of_the_program(self):
        fields = ["frame.number", "infiniband.bth.psn", "roce.src", "roce.connection", "roce.flow", "roce.upper",
                  "roce.icrc.status", "roce.analysis.lost", "roce.analysis.retransmission.cause"]
        for path in CAPTURES:
            with self.subTest(path), warnings.catch_warnings():
                warnings.simplefilter("ignore", roceanalyze.IncompleteWarning)
                words = [word for field in fields for word in ("-e", field)]
                lines = program("packets", path, "-T", "fields", *words).splitlines()
                mine = []
                for batch in roceanalyze.packets(path, fields, batch=1000):
                    mine += ["\t".join("" if value is None else str(value) for value in row) for row in batch.tuples()]
                ids = {str(number) for number in quiet_report(path).flows["id"]}
                there = [as_numbers(line, ids) for line in lines]
                self.assertEqual(len(mine), len(there))
                self.assertEqual([pair for pair in zip(mine, there) if pair[0] != pair[1]][:5], [])

    def test_all_fields_of_trailers_and_exports_are_those_of_the_program(self):
        """What only the time of the capture or packets before tell: trailers, and records by their templates."""
        fields = sorted(roceanalyze.fields())
        words = [word for field in fields for word in ("-e", field)]
        found = set()
        with tempfile.TemporaryDirectory() as folder:
            synthetic.write_all(folder)
            for path in sorted(glob.glob(os.path.join(folder, "*.pcap"))):
                lines = program("packets", path, "-T", "fields", "-E", "aggregator=;", *words).split("\n")[:-1]
                batch = next(roceanalyze.packets(path, fields, batch=len(lines)))
                self.assertEqual(batch.rows, len(lines))
                there = zip(*(line.split("\t") for line in lines))
                for name, values in zip(fields, there):
                    column = batch[name]
                    pairs = [as_printed(*row) for row in zip(values, column.known, column.tolist())]
                    self.assertEqual([pair for pair in pairs if pair[0] != pair[1]][:5], [], (path, name))
                    if any(column.known):
                        found.add(name)
            self.assertGreater(sum(batch.rows for batch in roceanalyze.packets(
                os.path.join(folder, "synthetic_trailers.pcap"), ["frame.number"], filter="metamako")), 0)
        self.assertLess({"metamako", "exablaze", "cflow.srcaddr", "infiniband.bth.psn"}, found)

    def test_tables_are_those_of_csv(self):
        report = roceanalyze.report(LOSSES)
        lines = program("connections", "--csv", LOSSES).splitlines()
        self.assertEqual(report.connections.columns, lines[0].split(","))
        values = ["" if value is None else str(value) for value in next(report.connections.tuples())]
        self.assertEqual(values, lines[1].split(","))

    def test_lists_of_captures_and_options(self):
        report = roceanalyze.report([LOSSES], filter="roce.analysis.lost", jobs=1, no_icrc=True, policy=None)
        rows = list(roceanalyze.packets(LOSSES, ["frame.number"], filter="roce.analysis.lost").tuples())
        self.assertEqual(report.connections["packets"].tolist(), [len(rows)])
        self.assertEqual(report.json(), program("report", "--json", "--no-icrc", "-Y", "roce.analysis.lost", LOSSES))

    def test_a_frame(self):
        frame = bytes.fromhex("525400000a01525400000b01080045000030672240004011befe0a4d00020a4d0001d3b112b7001c0000"
                              "1100ffff0000004700c735a11f000001b66c8c70")
        found = roceanalyze.dissect(frame)
        self.assertEqual((found["infiniband.bth.psn"], found["ip.src"], found["roce.icrc.status"]),
                         (13055393, "10.77.0.2", "match"))
        self.assertEqual(roceanalyze.dissect(frame[:40], wire=62)["roce.stop"], "cut by the capture")
        self.assertEqual(roceanalyze.dissect(b"")["frame.len"], 0)

    def test_frames_know_those_before(self):
        def ipfix(body):
            message = struct.pack(">HHIII", 10, 16 + len(body), 1_700_000_000, 0, 9) + body
            udp = struct.pack(">HHHH", 50000, 4739, 8 + len(message), 0) + message
            return bytes(12) + b"\x08\x00" + struct.pack(">BBHIBBH", 0x45, 0, 20 + len(udp), 0, 64, 17, 0) + bytes(8) + udp
        record = ipfix(struct.pack(">HHI", 256, 8, 7))
        self.assertNotIn("cflow.inputint", roceanalyze.dissect(record))
        dissector = roceanalyze.Dissector()
        dissector.next(ipfix(struct.pack(">HHHHHH", 2, 12, 256, 1, 10, 4)))
        self.assertEqual(dissector.next(record, time_ns=1)["cflow.inputint"], 7)
        with self.assertRaises(ValueError):
            dissector.next(record, time_ns=-1)

    def test_fields_are_listed(self):
        self.assertEqual(roceanalyze.fields()["infiniband.bth.psn"], "Packet Sequence Number")


def as_numbers(line, flows):
    """A line of `packets` as the columns have it: of several PSNs the first, and no flow that the report does not list: the
    program numbers one for a damaged packet that is of none."""
    values = line.split("\t")
    values[1] = values[1].split(",")[0]
    values[4] = values[4] if values[4] in flows else ""
    return "\t".join(values)


def as_printed(text, known, value):
    """What a column holds, of what `packets -T fields` prints with ; between values: texts as they are, of numbers how many and
    the first. Of numbers that are printed as words (headers, dates) only how many there are."""
    if not isinstance(value, int):
        return text.replace(";", ","), (value or "").replace(";", ",")
    first, *more = text.split(";")
    seconds, point, part = first.partition(".")
    try:
        number = int(seconds + part) if point else int(first, 0)
    except ValueError:
        number = value
    return (1 + len(more), number), (known, value)


class Columns(unittest.TestCase):
    def test_unknown_is_none_and_not_0(self):
        report = roceanalyze.report(LOSSES)
        row = next(report.connections.dicts())
        self.assertEqual(row["rnr_naks"], 0)
        self.assertIsNone(row["cm_service"])
        column = report.connections["cm_service"]
        self.assertEqual((column[0], column[-1], column.tolist(), list(column.known)), (None, None, [None], [0]))

    def test_views_are_not_copied_not_written_and_outlive_their_table(self):
        batch = next(roceanalyze.packets(LOSSES, ["frame.number", "roce.src"]))
        column = batch["frame.number"]
        view, texts = column.data, batch["roce.src"].text
        self.assertTrue(view.readonly and view.contiguous and view.format == "q" and view.itemsize == 8)
        with self.assertRaises(TypeError):
            view[0] = 5
        del batch, column
        gc.collect()
        filler = [bytes(1 << 20) for _ in range(64)]
        self.assertEqual((view[0], view[-1], len(view)), (1, 3744, 3744))
        self.assertTrue(bytes(texts).startswith(b"10.77.0.1\0") or bytes(texts[:1]) == b"\0")
        del filler

    def test_tables_outlive_their_report(self):
        column = roceanalyze.report(LOSSES).connections["lost"]
        gc.collect()
        self.assertEqual(column.tolist(), [46])

    def test_sequences(self):
        column = next(roceanalyze.packets(LOSSES, ["frame.number", "roce.src"]))["frame.number"]
        self.assertEqual((len(column), column[2], column[-1], column[1:3]), (3744, 3, 3744, [2, 3]))
        with self.assertRaises(IndexError):
            column[3744]
        self.assertIn(17, column)

    def test_empty_tables(self):
        report = roceanalyze.report(LOSSES)
        self.assertEqual((report.dcbx.rows, bool(report.dcbx), bool(report.connections)), (0, False, True))
        self.assertEqual(list(report.dcbx.dicts()), [])
        self.assertEqual([len(report.dcbx[name].data) for name in report.dcbx.columns if report.dcbx[name].dtype != "str"],
                         [0 for name in report.dcbx.columns if report.dcbx[name].dtype != "str"])

    def test_names_that_are_not_there(self):
        report = roceanalyze.report(LOSSES)
        with self.assertRaises(KeyError):
            _ = report["conections"]
        with self.assertRaises(AttributeError):
            _ = report.conections
        with self.assertRaises(KeyError):
            _ = report.connections["last"]

    def test_pandas(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed: to_pandas() is not tried")
        frame = roceanalyze.report(LOSSES).connections.to_pandas()
        self.assertEqual((len(frame), int(frame["lost"][0]), frame["a"][0]), (1, 46, "10.77.0.1"))


class Errors(unittest.TestCase):
    def test_inputs(self):
        with self.assertRaises(roceanalyze.InputError) as caught:
            roceanalyze.report("no/such/file.pcap")
        self.assertIsInstance(caught.exception, OSError)
        self.assertEqual(caught.exception.path, "no/such/file.pcap")
        self.assertIn("no/such/file.pcap", str(caught.exception))

    def test_misuse(self):
        for words, call in {
                "infiniband.bth.psn": lambda: roceanalyze.packets(LOSSES, ["infiniband.bth.psm"]),
                "no such option": lambda: roceanalyze.report(LOSSES, filtre="x"),
                "not a valid filter": lambda: roceanalyze.report(LOSSES, filter="roce.connection ="),
                "1 to 256": lambda: roceanalyze.report(LOSSES, jobs=0),
                "none given": lambda: roceanalyze.report([]),
                "1048576": lambda: next(roceanalyze.packets(LOSSES, batch=1 << 40)),
                "less than what was captured": lambda: roceanalyze.dissect(bytes(60), wire=59)}.items():
            with self.assertRaises(ValueError) as caught:
                call()
            self.assertIn(words, str(caught.exception))
        for call in (lambda: roceanalyze.packets(LOSSES, filter="roce.connection == 0\0 && x"),
                     lambda: roceanalyze.packets(LOSSES, ["frame.number\0x"]),
                     lambda: roceanalyze.report(LOSSES, policy="p\0x"),
                     lambda: roceanalyze.report(LOSSES, **{"jobs\0x": 1}),
                     lambda: roceanalyze.report(LOSSES).connections["lost\0x"],
                     lambda: roceanalyze.report(LOSSES + "\0x")):
            with self.assertRaisesRegex(ValueError, "embedded null byte"):
                call()
        for call in (lambda: roceanalyze.packets(LOSSES, batch=(1 << 64) + 1), lambda: roceanalyze.packets(LOSSES, batch=-1),
                     lambda: roceanalyze.dissect(bytes(60), wire=(1 << 64) + 60),
                     lambda: roceanalyze.dissect(bytes(60), link_type=(1 << 32) + 1)):
            with self.assertRaisesRegex(ValueError, "not a number from 0 to"):
                call()
        for wrong in (None, 5, [None]):
            with self.assertRaises(TypeError):
                roceanalyze.report(wrong)

    def test_names_of_policies_need_not_be_utf_8(self):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(os.fsencode(folder), b"\xff.toml")
            with open(name, "wb") as out:
                out.write(b"nonsense")
            for path in (name, os.fsdecode(name)):
                with self.assertRaisesRegex(roceanalyze.InputError, "toml"):
                    roceanalyze.report(LOSSES, policy=path)

    def test_what_is_incomplete_warns(self):
        with tempfile.TemporaryDirectory() as folder, open(LOSSES, "rb") as whole:
            cut = os.path.join(folder, "cut.pcap.zst")
            with open(cut, "wb") as out:
                out.write(whole.read()[:50_000])
            with self.assertWarnsRegex(roceanalyze.IncompleteWarning, "cut.pcap.zst"):
                report = roceanalyze.report(cut)
            self.assertIn("speaks for the rest only", report.incomplete)
            with self.assertWarnsRegex(roceanalyze.IncompleteWarning, "cut.pcap.zst"):
                count = sum(batch.rows for batch in roceanalyze.packets(cut))
            self.assertEqual(count, report.document()["capture"]["packets"])

    def test_signatures_are_those_of_the_header(self):
        with open(HEADER, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
        declared = {name: 0 if arguments.strip() == "void" else arguments.count(",") + 1
                    for name, arguments in re.findall(r"\broce_(\w+)\(([^)]*)\);", text)}
        signatures = {name: len(types) - 1 for name, types in _library._SIGNATURES.items()}
        self.assertEqual(signatures, {name: declared.get(name) for name in signatures})
        self.assertEqual(set(declared) - set(signatures), {"frame_count", "frame_number", "frame_text"})


class Interrupts(unittest.TestCase):
    def test_control_c_ends_an_analysis(self):
        self.interrupted(roceanalyze.report)
        self.assertEqual(roceanalyze.report(LOSSES).connections["lost"][0], 46)

    def test_control_c_ends_packets(self):
        """None of which matches, so that one call would read all of them."""
        self.interrupted(lambda pipe: next(roceanalyze.packets(pipe, ["frame.number"], filter="frame.len == 61")))
        packets = roceanalyze.packets(LOSSES, ["frame.number"], batch=100)
        self.assertEqual(next(packets).rows, 100)
        _library.library.roce_stop_request(packets._stop)
        with self.assertWarnsRegex(roceanalyze.IncompleteWarning, "reading was ended after 100 packets"):
            self.assertEqual(list(packets), [])

    def interrupted(self, read):
        """A pipe that would go on for ever: only the interrupt ends the reading."""
        record = struct.pack("<IIII", 1, 0, 60, 60) + bytes(60)
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe.pcap")
            os.mkfifo(pipe)

            def write():
                with open(pipe, "wb", buffering=0) as out, contextlib.suppress(BrokenPipeError):
                    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
                    for number in range(1 << 20):
                        if number == 100:
                            os.kill(os.getpid(), signal.SIGINT)
                        out.write(record * 100)

            writer = threading.Thread(target=write)
            writer.start()
            with self.assertRaises(KeyboardInterrupt):
                read(pipe)
            writer.join()


class Threads(unittest.TestCase):
    def test_one_iterator_for_several_threads(self):
        packets = roceanalyze.packets(LOSSES, batch=100)
        counts = []
        threads = [threading.Thread(target=lambda: counts.append(sum(batch.rows for batch in packets))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(counts), 3744)

    def test_reports_at_the_same_time(self):
        lost = []
        threads = [threading.Thread(target=lambda: lost.append(roceanalyze.report(LOSSES).connections["lost"][0]))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(lost, [46] * 4)


if __name__ == "__main__":
    unittest.main()

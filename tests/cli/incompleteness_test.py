#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Partial results never look whole: each command, with each kind of input that could not be read, kept or judged whole,
says so in its output, and its exit status is not 0. Usage: incompleteness_test.py ROCEANALYZE SAMPLES"""

import csv
import gzip
import io
import json
import os
import resource
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml
from concurrent.futures import ThreadPoolExecutor

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
RPING = os.path.join(SAMPLES, "03_rping.pcap")
POLICY = '[class.data]\ndscp = "0-63"\n'


def read(path):
    with open(path, "rb") as file:
        return file.read()


# --- what an output says --------------------------------------------------------------------------------------------
# Each returns whether the output claims to be whole; `kind` is the id of the diagnostic that it has to name.

def says_first(heading):
    """The first line of a text says it."""
    def look(out, _):
        first = out.decode().split("\n", 1)[0]
        return not first.startswith((heading + "INCOMPLETE: ", "INCOMPLETE  "))
    return look


def says_in_json(out, kind):
    told = json.loads(out)
    ids = [d["id"] for part in (told, told.get("a", {}), told.get("b", {})) for d in part.get("diagnostics", [])]
    if kind is None:
        return told["complete"] and not told["interrupted"]
    assert kind in ids, (kind, ids)
    assert told["interrupted"] == (kind in ("interrupted", "limited")), kind
    return told["complete"]


def says_in_html(out, kind):
    page = out.decode()
    assert kind is None or kind in page
    assert "INCOMPLETE" not in page or 'class="verdict good"' not in page
    return "<strong>INCOMPLETE: " not in page


def says_in_check(out, _):
    lines = out.decode().splitlines()
    ok = [line for line in lines if line.startswith("ok")]
    assert bool(ok) != lines[0].startswith("INCOMPLETE: "), lines
    return bool(ok)


def says_in_junit(out, _):
    suites = xml.fromstring(out)
    errors = suites.findall(".//error")
    assert int(suites.get("errors")) == len(errors)
    return not errors


def says_in_sqlite(out, kind):
    with tempfile.NamedTemporaryFile() as file:
        file.write(out)
        file.flush()
        base = sqlite3.connect(file.name)
        about = dict(base.execute("SELECT name, value FROM about"))
        ids = [row[0] for row in base.execute("SELECT id FROM diagnostics")]
        base.close()
    assert kind is None or kind in ids, (kind, ids)
    assert (about["interrupted"] == "1") == (kind in ("interrupted", "limited")), about
    return about["complete"] == "1"


def says_in_ndjson(out, kind):
    ids = [row["id"] for row in map(json.loads, out.splitlines()) if row["table"] == "diagnostics"]
    return kind not in ids


def says_in_openmetrics(out, _):
    values = [line.split()[1] for line in out.decode().splitlines() if line.startswith("roceanalyze_complete{")]
    assert values in (["0"], ["1"]), values
    return values == ["1"]


def says_in_influx(out, _):
    lines = [line for line in out.decode().splitlines() if line.startswith("roceanalyze_capture,")]
    assert len(lines) == 1, lines
    return " complete=true," in lines[0]


def says_in_a_folder(out, kind):
    return kind not in [row["id"] for row in csv.DictReader(io.StringIO(out.decode()))]


def says_in_a_policy(out, _):
    return not out.startswith(b"# INCOMPLETE: ")


# --- the commands: one row each -------------------------------------------------------------------------------------
# name: words (FILES: the inputs; POLICY, OUT: files of the test), what is read of OUT, what the output says; None where
# the format has no room for it: then a message on standard error and the status say it.
FILES = object()
COMMANDS = {
    "report": (["report", "--fail-on", "error", FILES], None, says_first("Verdict     ")),
    "report --json": (["report", "--json", FILES], None, says_in_json),
    "report --html": (["report", "--html", FILES], None, says_in_html),
    "flows": (["flows", FILES], None, None),
    "flows --csv": (["flows", "--csv", FILES], None, None),
    "flows --json": (["flows", "--json", FILES], None, says_in_json),
    "connections --json": (["connections", "--json", FILES], None, says_in_json),
    "incidents --json": (["incidents", "--json", FILES], None, says_in_json),
    "paths --json": (["paths", "--json", FILES], None, says_in_json),
    "pairs --json": (["pairs", "--json", FILES], None, says_in_json),
    "why --json": (["why", "--log", "/dev/null", "--json", FILES], None, says_in_json),
    "markings --json": (["markings", "--json", FILES], None, says_in_json),
    "pauses --json": (["pauses", "--json", FILES], None, says_in_json),
    "dcbx --json": (["dcbx", "--json", FILES], None, says_in_json),
    "check": (["check", "--policy", "POLICY", "--fail-on", "error", FILES], None, says_in_check),
    "check --json": (["check", "--policy", "POLICY", "--fail-on", "error", "--json", FILES], None, says_in_json),
    "check --junit": (["check", "--policy", "POLICY", "--fail-on", "error", "--junit", "-", FILES], None,
                      says_in_junit),
    "policy learn": (["policy", "learn", FILES], None, says_in_a_policy),
    "export json": (["export", "--to", "OUT.json", FILES], "OUT.json", says_in_json),
    "export sqlite": (["export", "--to", "OUT.sqlite", FILES], "OUT.sqlite", says_in_sqlite),
    "export ndjson": (["export", "--to", "OUT.ndjson", FILES], "OUT.ndjson", says_in_ndjson),
    "export openmetrics": (["export", "--to", "-", "--format", "openmetrics", FILES], None, says_in_openmetrics),
    "export influx": (["export", "--to", "-", "--format", "influx", FILES], None, says_in_influx),
    "export csv": (["export", "--to", "OUT/", FILES], "OUT/diagnostics.csv", says_in_a_folder),
    "packets": (["packets", FILES], None, None),
    "packets -T json": (["packets", "-T", "json", FILES], None, None),
    "packets -w": (["packets", "-w", "OUT.pcapng", FILES], "OUT.pcapng", None),
    "compare": (["compare", FILES, "OTHER"], None, says_first("Verdict     ")),
    "compare --json": (["compare", "--json", FILES, "OTHER"], None, says_in_json),
    "compare --csv": (["compare", "--csv", FILES, "OTHER"], None, None),
}


class Kind:
    """A kind of incompleteness: `files` for FILES, the id of its diagnostic, and how the process is run."""

    def __init__(self, diagnostic, files, *, commands=lambda name: True, words=(), run=None, status=3):
        self.diagnostic, self.files, self.commands = diagnostic, files, commands
        self.words, self.run, self.status = list(words), run or self.to_its_end, status

    @staticmethod
    def to_its_end(command, _files):
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)
        return done.returncode, done.stdout, done.stderr


class Interrupted(Kind):
    """The input is a FIFO whose writer goes on."""

    def __init__(self, number, commands=lambda name: True):
        super().__init__("interrupted", ["FIFO"], run=self.interrupt, commands=commands)
        self.number = number

    def interrupt(self, command, files):
        os.mkfifo(files[0])
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            with open(files[0], "wb") as writer:  # returns when it is being read
                writer.write(read(RPING))
                writer.flush()
                time.sleep(0.5)
                process.send_signal(self.number)
                out, err = process.communicate(timeout=60)
        return process.returncode, out, err


class Late(Kind):
    """The input is a FIFO whose writer goes on, and --max-time ends that."""

    def __init__(self):
        super().__init__("limited", ["FIFO"], words=["--max-time", "500ms"], run=self.wait)

    @staticmethod
    def wait(command, files):
        os.mkfifo(files[0])
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            with open(files[0], "wb") as writer:
                writer.write(read(RPING))
                writer.flush()
                out, err = process.communicate(timeout=60)
        return process.returncode, out, err


class FullDisk(Kind):
    """No file may become larger than some exports, so that the verdicts of a long capture find no room."""

    def __init__(self):
        super().__init__("verdicts_not_kept", ["LONG"], words=["-Y", "roce.connection"], run=self.limited,
                         commands=lambda name: "compare" not in name)  # it has no such filters

    @staticmethod
    def limited(command, _files):
        limit = 512 * 1024
        done = subprocess.run(command, capture_output=True, check=False, timeout=120,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        return done.returncode, done.stdout, done.stderr


class Shrinking(Kind):
    """A file becomes shorter while the merge waits for a pipe beside it."""

    def __init__(self):
        super().__init__("shrunk_while_read", ["SHRINKING", "FIFO"], run=self.shrink,
                         commands=lambda name: "compare" not in name)  # it takes one file of a point

    @staticmethod
    def shrink(command, files):
        with open(files[0], "wb") as file:
            file.write(long_capture(read(RPING)))
        os.mkfifo(files[1])
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            with open(files[1], "wb") as writer:
                writer.write(read(RPING)[:24] + next(records(read(RPING))))
                writer.flush()
                time.sleep(0.5)
                os.truncate(files[0], 2_000_000)
            out, err = process.communicate(timeout=60)
        return process.returncode, out, err


def records(data):
    """The records of a pcap file with their headers."""
    place = 24
    while place < len(data):
        size = 16 + struct.unpack_from("<I", data, place + 8)[0]
        yield data[place:place + size]
        place += size


def analyses(name):
    return not name.startswith(("packets", "compare"))


KINDS = {
    "whole": Kind(None, [RPING], status=0),
    "-c of all packets": Kind(None, [RPING], words=["-c", str(len(list(records(read(RPING)))))], status=0),
    "--max-time that is not reached": Kind(None, [RPING], words=["--max-time", "60"], status=0),
    "SIGINT": Interrupted(signal.SIGINT),
    "SIGTERM": Interrupted(signal.SIGTERM, commands=lambda name: name in ("check", "packets", "compare")),
    "SIGHUP": Interrupted(signal.SIGHUP, commands=lambda name: name in ("check", "packets", "compare")),
    # `packets -c N` prints the N packets that were asked for.
    "-c": Kind("limited", [RPING], words=["-c", "100"], commands=lambda name: not name.startswith("packets")),
    "-c in two passes": Kind("limited", [RPING], words=["--max-packets", "100", "-Y", "roce.connection == 0"],
                             commands=analyses),
    "--max-time": Late(),
    "cut short": Kind("cut_short", ["CUT"]),
    "a missing second file": Kind("input_failed", [RPING, "MISSING"], commands=lambda name: "compare" not in name),
    "a damaged second file": Kind("input_failed", [RPING, "DAMAGED"], commands=lambda name: "compare" not in name),
    "damaged compression": Kind("decompression_failed", ["BROKEN.gz"]),
    "packets of an unknown interface": Kind("unknown_interface", ["UNKNOWN"]),
    # `packets` prints what it reads, and does not judge it; `compare` has nothing of these packets to compare.
    "headers cut off": Kind("cut_before_bth", ["SHORT"], commands=analyses),
    "a full TMPDIR": FullDisk(),
    "a file that shrinks": Shrinking(),
}


def long_capture(data):
    """So many frames that their verdicts need a file, RoCE packets among each 16 384 of them. The rest is ARP."""
    block = list(records(data))
    arp = block[-1][:8] + struct.pack("<II", 60, 60) + b"\xff" * 6 + b"\x02" * 6 + b"\x08\x06" + bytes(46)
    return data[:24] + (b"".join(block) + arp * (16384 - len(block))) * 10


def unknown_interface(data):
    """As pcapng, the last packet of an interface that the file never describes."""
    def block(kind, body):
        body += b"\0" * (-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack("<HHI", struct.unpack_from("<I", data, 20)[0], 0, 0))
    packets = list(records(data))
    for place, record in enumerate(packets):
        seconds, fraction, size, wire = struct.unpack_from("<IIII", record)
        micros = seconds * 10**6 + (fraction // 1000 if data[:4] == b"\x4d\x3c\xb2\xa1" else fraction)
        interface = 7 if place == len(packets) - 1 else 0
        out += block(6, struct.pack("<IIIII", interface, micros >> 32, micros & 0xffffffff, size, wire) + record[16:])
    return out


def headers_cut_off(data):
    """The last RoCE packet captured up to its UDP header only."""
    packets = list(records(data))
    at = max(i for i, record in enumerate(packets) if record[16 + 36:16 + 38] == struct.pack(">H", 4791))
    record = bytearray(packets[at][:16 + 44])
    struct.pack_into("<I", record, 8, 44)
    packets[at] = bytes(record)
    return data[:24] + b"".join(packets)


class Incompleteness(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        data = read(RPING)
        cls.inputs = {"CUT": data[:5000], "DAMAGED": data[:24] + b"\xff" * 400,
                      "BROKEN.gz": gzip.compress(data)[:-400], "UNKNOWN": unknown_interface(data),
                      "SHORT": headers_cut_off(data), "LONG": long_capture(data)}
        for name, content in cls.inputs.items():
            with open(os.path.join(cls.holder.name, name), "wb") as file:
                file.write(content)
        with open(os.path.join(cls.holder.name, "policy.toml"), "w", encoding="ascii") as file:
            file.write(POLICY)

    def path_of(self, name, folder):
        shared = os.path.join(self.holder.name, name)
        return name if os.path.isabs(name) else shared if name in self.inputs else os.path.join(folder, name)

    def word_of(self, word, folder):
        fixed = {"POLICY": os.path.join(self.holder.name, "policy.toml"), "OTHER": RPING}
        return fixed.get(word) or word.replace("OUT", os.path.join(folder, "out"))

    def run_row(self, name, kind, folder):
        """(status, output, errors)"""
        words, read_from, _ = COMMANDS[name]
        files = [self.path_of(file, folder) for file in kind.files]
        command = [PROGRAM]
        for word in words:
            command += files if word is FILES else [self.word_of(word, folder)]
        status, out, err = kind.run(command + kind.words, files)
        if read_from is not None:
            path = os.path.join(folder, read_from.replace("OUT", "out"))
            self.assertTrue(os.path.exists(path), err)
            out = read(path)
        return status, out, err.decode()

    def check_row(self, name, kind_name):
        kind = KINDS[kind_name]
        with tempfile.TemporaryDirectory() as folder:
            status, out, err = self.run_row(name, kind, folder)
        says = COMMANDS[name][2]
        claims_whole = says is None or says(out, kind.diagnostic)
        if kind.diagnostic is None:
            self.assertEqual((status, claims_whole, err), (0, True, ""))
            return
        self.assertEqual(status, kind.status, err)
        self.assertNotEqual(err, "")
        if says is not None:
            self.assertFalse(claims_whole, out[:2000])

    def test_each_command_says_each_kind(self):
        rows = [(name, kind) for kind in KINDS for name in COMMANDS if KINDS[kind].commands(name)]
        with ThreadPoolExecutor(4) as pool:
            results = {row: pool.submit(self.check_row, *row) for row in rows}
            for row, result in results.items():
                with self.subTest(" | ".join(row)):
                    result.result()

    def test_whatever_the_limits_of_the_process_it_is_the_result_or_an_error(self):
        limits = [(resource.RLIMIT_NOFILE, n) for n in (4, 5, 6, 7, 8, 10, 14, 20)]
        limits += [(resource.RLIMIT_AS, n << 20) for n in (24, 32, 40, 48, 64, 80, 120, 200)]
        begun = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True)
        if "sanitizers" in begun.stdout:
            limits = [limit for limit in limits if limit[0] == resource.RLIMIT_NOFILE]

        def outcome(name, limit):
            def lower():
                if limit is not None:
                    resource.setrlimit(limit[0], (limit[1], limit[1]))
            folder = tempfile.mkdtemp(dir=self.holder.name)
            words, read_from, _ = COMMANDS[name]
            command = [PROGRAM]
            for word in words:
                command += [RPING] if word is FILES else [self.word_of(word, folder)]
            done = subprocess.run(command, capture_output=True, check=False, timeout=120, preexec_fn=lower)
            status, out, err = done.returncode, done.stdout, done.stderr
            path = read_from and os.path.join(folder, read_from.replace("OUT", "out"))
            if path:
                out = read(path) if os.path.exists(path) else None
            left = sorted(os.listdir(folder))
            return status, out, err, left

        for name in ("report", "report --json", "check --junit", "export json", "export csv", "packets", "packets -w", "compare"):
            whole = outcome(name, None)
            for limit in limits:
                with self.subTest(f"{name} | {limit}"):
                    status, out, err, left = outcome(name, limit)
                    if b"loading shared libraries" in err:
                        continue
                    if status == whole[0]:
                        self.assertEqual((out, left), (whole[1], whole[3]))
                    else:
                        self.assertEqual(status, 2 if b"--policy" in err else 3, err)
                        self.assertNotEqual(err, b"")
                        self.assertNotEqual(out, whole[1])
                        if COMMANDS[name][1] is not None:
                            self.assertEqual(left, [])

    def test_a_full_output_is_an_error(self):
        for name, (words, read_from, _) in COMMANDS.items():
            if read_from is not None:
                continue
            command = [PROGRAM]
            for word in words:
                command += [RPING] if word is FILES else [self.word_of(word, self.holder.name)]
            with self.subTest(name), open("/dev/full", "wb") as full:
                done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
                self.assertEqual(done.returncode, 3)
                self.assertIn(b"No space left", done.stderr)

    def test_what_has_no_room_for_it_says_it_on_standard_error(self):
        for name, (_, _, says) in COMMANDS.items():
            if says is not None:
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                err = self.run_row(name, KINDS["SIGINT"], folder)[2]
                self.assertIn("interrupted after ", err)


if __name__ == "__main__":
    unittest.main()

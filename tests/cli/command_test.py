#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands as a person or a script meets them: statuses, messages, damaged inputs, pipes.
Usage: command_test.py ROCEANALYZE SAMPLES"""

import csv
import gzip
import io
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, SAMPLES = sys.argv.pop(1), sys.argv.pop(1)
RPING = os.path.join(SAMPLES, "03_rping.pcap")
PCAP_HEADER, RECORD_HEADER = 24, 16


def run(*words, **options):
    options.setdefault("capture_output", True)
    return subprocess.run([PROGRAM, *words], check=False, timeout=60, **options)


def report(*words):
    done = run("report", "--json", *words)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr.decode()


def without_files(got):
    """All of a report but what names its input."""
    got = json.loads(json.dumps(got))
    for key in ("files", "interfaces"):
        del got["capture"][key]
    return got


def records(data):
    """Offsets of the records of a little-endian pcap."""
    at = PCAP_HEADER
    while at < len(data):
        yield at
        at += RECORD_HEADER + struct.unpack_from("<I", data, at + 8)[0]


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(RPING, "rb") as f:
            self.rping = f.read()

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    # --- usage -------------------------------------------------------------------------------

    def test_version_and_help(self):
        self.assertTrue(run("--version").stdout.startswith(b"roceanalyze "))
        for words in (["--help"], ["report", "--help"], ["flows", "--help"], ["packets", "--help"]):
            self.assertEqual(run(*words).returncode, 0, words)

    def test_wrong_usage_is_2_with_a_reason(self):
        cases = [
            ([], "FILE"),
            (["report"], "FILE"),
            (["flows", RPING, "--sort", "nonsense"], "no column 'nonsense'"),
            (["report", RPING, "--jobs", "0"], "--jobs"),
            (["report", RPING, "--from", "yesterday"], "not a time"),
            (["report", RPING, "-Y", "infiniband.bth.psm == 1"], "infiniband.bth.psn"),
            (["report", RPING, "-Y", "frame.number =="], "^"),
            (["report", RPING, "--frobnicate"], "--frobnicate"),
            (["check", RPING], "no policy given"),
            (["export", RPING], "--output is required"),
            (["capture", "-i", "lo", "-c", "0"], "'0' is not a whole number of at least 1"),  # as tcpdump and tshark
            (["capture", "-i", "lo", "-a", "packets:0"], "not a limit"),
            (["capture", "-i", "lo", "-w", "a.pcapng.gz"], "name it .zst"),
            (["packets", RPING, "-w", "a.pcapng.xz"], "name it .gz, .zst or .lz4"),
            (["packets", RPING, "-c", "0"], "'0' is not a whole number of at least 1"),
            (["connections", RPING, "--sort", "nonsense"], "no column 'nonsense'"),
        ]
        for words, expected in cases:
            done = run(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(expected, (done.stderr + done.stdout).decode(), words)

    # --- inputs that cannot be read ------------------------------------------------------------

    def test_inputs_that_cannot_be_read_are_3(self):
        cases = {
            os.path.join(self.folder, "absent.pcap"): "absent.pcap",
            self.folder: "directory",
            self.write("empty.pcap", b""): "empty",
            self.write("text.pcap", b"hello, this is no capture at all\n" * 9): "text.pcap",
            os.path.join(self.folder, "none_*.pcap"): "none_*",
        }
        for path, expected in cases.items():
            done = run("report", path)
            self.assertEqual(done.returncode, 3, path)
            message = done.stderr.decode()
            self.assertIn(expected, message)
            self.assertEqual(message.count("\n"), 1, message)

    def test_a_cut_file_is_reported_as_far_as_it_goes(self):
        offsets = list(records(self.rping))
        for lost in (1, 15, 16, 17, 60):
            cut_at = offsets[100] + lost
            status, got, message = report(self.write("cut.pcap", self.rping[:cut_at]))
            self.assertEqual(status, 3)
            self.assertEqual(got["capture"]["packets"], 100)
            self.assertIn("cut.pcap", message)
            self.assertIn(str(offsets[100]), message)
            self.assertIn("cut_short", [d["id"] for d in got["diagnostics"]])

    def test_a_lying_length_stops_there(self):
        offsets = list(records(self.rping))
        data = bytearray(self.rping)
        struct.pack_into("<I", data, offsets[50] + 8, 0x7FFFFFFF)
        status, got, message = report(self.write("lie.pcap", bytes(data)))
        self.assertEqual((status, got["capture"]["packets"]), (3, 50))
        self.assertIn(str(offsets[50]), message)

    def test_a_bad_file_beside_a_good_one(self):
        status, got, message = report(RPING, os.path.join(self.folder, "absent.pcap"))
        self.assertEqual(status, 3)
        self.assertEqual(got["capture"]["packets"], 125)
        self.assertIn("absent.pcap", message)

    # --- the same capture in other clothes -------------------------------------------------------

    def test_compression_pipes_and_pieces_change_nothing(self):
        plain = without_files(report(RPING)[1])
        packed = self.write("r.pcap.gz", gzip.compress(self.rping))
        self.assertEqual(without_files(report(packed)[1]), plain)
        for tool, ending in (("zstd", ".zst"), ("lz4", ".lz4")):
            if shutil.which(tool) is None:
                continue
            path = os.path.join(self.folder, "r.pcap" + ending)
            subprocess.run(f"{tool} -q -c < '{RPING}' > '{path}'", shell=True, check=True)
            self.assertEqual(without_files(report(path)[1]), plain, ending)
        for data in (self.rping, gzip.compress(self.rping)):
            done = run("report", "--json", "-", input=data)
            self.assertEqual(without_files(json.loads(done.stdout)), plain)
        half = list(records(self.rping))[60]
        pieces = [
            self.write("b.pcap", self.rping[:PCAP_HEADER] + self.rping[half:]),
            self.write("a.pcap", self.rping[:half]),
        ]
        self.assertEqual(without_files(report(*pieces)[1]), plain)
        ring = report(os.path.join(self.folder, "[ab].pcap"))[1]
        self.assertEqual(without_files(ring), plain)

    # --- output ----------------------------------------------------------------------------------

    def test_a_full_disk_is_3(self):
        with open("/dev/full", "wb") as full:
            for command in ("report", "flows"):
                done = run(command, RPING, stdout=full, stderr=subprocess.PIPE, capture_output=False)
                self.assertEqual(done.returncode, 3)
                self.assertIn(b"standard output", done.stderr)

    def test_a_reader_that_goes_away_is_no_error(self):
        script = f"'{PROGRAM}' report --json '{RPING}' | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, check=False, timeout=60)
        self.assertEqual((done.stdout, done.stderr), (b"0\n", b""))

    def test_lines_fit_the_terminal(self):
        names = ["04_write_loss1.ca.pcap.zst", "13_snap64.pcap", "03_ucmatose.pcap.zst", "04_write_corrupt.cb.pcap.zst"]
        for name in names:
            path = os.path.join(SAMPLES, name)
            if not os.path.exists(path):
                continue
            for columns in (80, 120, 200):
                text = run("report", name, cwd=SAMPLES, env={**os.environ, "COLUMNS": str(columns)}).stdout.decode()
                widest = max(map(len, text.splitlines()))
                self.assertLessEqual(widest, columns, f"{name} at {columns}")

    def test_no_escape_sequence_reaches_a_pipe_or_comes_from_a_file(self):
        self.assertNotIn(b"\x1b", run("report", RPING).stdout)
        self.assertIn(b"\x1b[", run("report", "--color", "always", RPING).stdout)
        evil = self.write("evil\x1b[31m.pcap", self.rping)
        self.assertNotIn(b"\x1b", run("report", evil).stdout)

    EVIL = b"\x1b[31mA\nB\rC\x07\x9b\xc2\x9bD\\'\"<&>"

    def evil_pcapng(self):
        """The sample with a name, a comment and facts that would break lines and paint terminals."""
        def option(code, data):
            return struct.pack("<HH", code, len(data)) + data + bytes(-len(data) % 4)

        def block(kind, body):
            return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
        data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
                     + b"".join(option(code, self.EVIL) for code in (1, 2, 3, 4)) + option(0, b""))
        data += block(1, struct.pack("<HHI", 1, 0, 0) + b"".join(option(code, self.EVIL) for code in (1, 2, 3, 12, 15))
                      + option(11, b"\0" + self.EVIL) + option(0, b""))
        for at in records(self.rping):
            size = struct.unpack_from("<I", self.rping, at + 8)[0]
            frame = self.rping[at + RECORD_HEADER:at + RECORD_HEADER + size]
            data += block(6, struct.pack("<IIIII", 0, 0, at, size, size) + frame + bytes(-size % 4)
                          + option(1, self.EVIL) + option(0, b""))
        return self.write(os.fsdecode(b"evil\n\x1b[31m.pcapng"), data)

    def assert_shown(self, data):
        for control in [bytes((c,)) for c in (*range(9), *range(11, 32), 0x7f)] + [b"\xc2\x9b"]:
            self.assertNotIn(control, data)

    def test_names_and_comments_break_no_line(self):
        path = self.evil_pcapng()
        for words in (["report"], ["report", "--json"], ["report", "--html"], ["packets"], ["packets", "-V"],
                      ["packets", "-T", "json"], ["packets", "-T", "fields", "-e", "frame.comment"], ["flows"],
                      ["check", "--policy", "nvidia"], ["compare", path]):
            with self.subTest(words):
                done = run(*words, path)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assert_shown(done.stdout)
                self.assert_shown(done.stderr)
        lines = run("packets", "-T", "fields", "-e", "frame.comment", path).stdout.splitlines()
        self.assertEqual(len(lines), 125)

    def test_a_message_is_a_line_whatever_is_named_in_it(self):
        name = os.path.join(self.folder, "none\n\x1b[31m\x9b")
        cases = ((3, ["report", name]), (3, ["packets", name]), (3, ["packets", RPING, "-w", name + "/x"]),
                 (3, ["capture", "-i", "none\n\x1b[31m\x9b"]), (3, ["host", "--root", name]), (2, ["report", RPING, "--" + name]),
                 (3, ["capture", "-i", "lo", "-w", name + "/x"]), (3, ["export", RPING, "--to", name + "/x.json"]),
                 (2, ["check", RPING, "--policy", name]), (3, ["check", RPING, "--policy", "nvidia", "--junit", name + "/x"]))
        for status, words in cases:
            with self.subTest(words):
                done = run(*words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assert_shown(done.stderr)
                lines = [line for line in done.stderr.splitlines() if not line.startswith(b"Run with --help")]
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertTrue(lines[0].startswith(b"roceanalyze: "), done.stderr)
                if words[0] != "capture":  # which needs rights, else it gets no further
                    self.assertIn(rb"none\n\x1b[31m\xc2\x9b", lines[0])

    def test_lines_of_our_own_are_lines(self):
        done = run("report", RPING, "-Y", "frame.number ==\n\x1b[31m")
        self.assertEqual(done.returncode, 2)
        self.assert_shown(done.stderr)
        self.assertGreater(done.stderr.count(b"\n"), 2)

    def test_standard_input_is_named_where_it_is_meant(self):
        done = run("report", "-", input=b"no capture at all " * 9)
        self.assertIn(b"standard input: ", done.stderr)
        done = run("capture", "-i", "-")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"-i needs a device; to read a capture from standard input: roceanalyze report -", done.stderr)

    # --- flows and selection -----------------------------------------------------------------------

    def test_flows_tables_agree(self):
        rows = list(csv.DictReader(io.StringIO(run("flows", "--csv", "--sort", "packets", RPING).stdout.decode())))
        listed = json.loads(run("flows", "--json", "--sort", "packets", RPING).stdout)["flows"]
        self.assertEqual([int(r["packets"]) for r in rows], [f["packets"] for f in listed])
        self.assertEqual([int(r["id"]) for r in rows], [f["id"] for f in listed])
        self.assertEqual(sorted(r["packets"] for r in rows), sorted(str(f["packets"]) for f in report(RPING)[1]["flows"]))
        top = run("flows", "--csv", "--top", "1", "--sort", "bytes", RPING).stdout.decode().splitlines()
        self.assertEqual(len(top), 2)

    def test_selection(self):
        count = lambda *words: report(RPING, *words)[1]["capture"]["packets"]
        self.assertEqual(count("-Y", "frame.number <= 10"), 10)
        self.assertEqual(count("-Y", "infiniband.aeth"), 60)
        self.assertEqual(count("-Y", "roce.flow == 2"), 60)
        self.assertEqual(count("-Y", "roce.flow == 2", "--jobs", "3"), 60)
        first = report(RPING)[1]["capture"]["first_time"]
        self.assertEqual(count("--to", f"{first // 10**9}.{first % 10**9:09d}"), 1)
        self.assertEqual(count("--from", "2100-01-01"), 0)
        self.assertEqual(report(RPING, "--no-icrc")[1]["roce"]["icrc"]["checked"], False)

    def test_a_selection_says_so_and_keeps_flow_numbers(self):
        text = run("report", RPING, "-Y", "infiniband.aeth").stdout.decode()
        self.assertIn("60 of 125 packets", text)
        text = run("report", RPING, "-Y", "frame.number == 0").stdout.decode()
        self.assertIn("none in the selection", text)
        self.assertEqual([f["id"] for f in report(RPING, "-Y", "roce.flow == 3")[1]["flows"]], [3])
        got = report(RPING, "-Y", "udp.dstport == 4791")[1]["capture"]
        self.assertEqual((got["filter"], got["packets_read"]), ("udp.dstport == 4791", 125))
        self.assertEqual(run("report", RPING, "--from", "+2", "--to", "+1").returncode, 2)

    # --- connections and what is said of packets -----------------------------------------------------

    def test_connection_tables_agree(self):
        path = os.path.join(SAMPLES, "06_mix_4qp.pcap.zst")
        rows = list(csv.DictReader(io.StringIO(run("connections", "--csv", "--sort", "packets", path).stdout.decode())))
        listed = json.loads(run("connections", "--json", "--sort", "packets", path).stdout)["connections"]
        self.assertEqual(len(rows), 4)
        for row, c in zip(rows, listed):
            self.assertEqual(int(row["id"]), c["id"])
            self.assertEqual((row["a"], int(row["a_qp"])), (c["a"]["address"], c["a"]["qp"]))
            self.assertEqual(int(row["retransmitted"]), c["retransmitted"]["packets"])
            self.assertEqual(int(row["lost"]), sum(c["lost"].values()))
            self.assertEqual(int(row["goodput_bps"]), c["goodput_bps"])
            self.assertEqual(row["state"], c["state"])
        self.assertEqual(listed, sorted(listed, key=lambda c: (-c["packets"], c["id"])))
        whole = report(path)[1]["connections"]
        self.assertEqual(sorted(listed, key=lambda c: c["id"]), whole)
        top = run("connections", "--top", "1", path).stdout.decode().splitlines()
        self.assertEqual(len(top), 2)

    def test_findings_make_a_status_only_when_asked(self):
        sick = os.path.join(SAMPLES, "06_badrkey_write.pcap")
        worst = report(sick)[1]["findings"][0]["severity"]
        self.assertEqual(worst, "error")
        self.assertEqual(run("report", sick).returncode, 0)
        for level in ("info", "notice", "warning", "error"):
            self.assertEqual(run("report", sick, "--fail-on", level).returncode, 1, level)
            self.assertEqual(run("report", "--json", sick, "--fail-on", level).returncode, 1, level)
        self.assertEqual(run("report", RPING, "--fail-on", "info").returncode, 0)
        # Of notices only, and degraded all the same.
        slow = os.path.join(SAMPLES, "01_rc_pingpong_s1.pcap")
        self.assertEqual(run("report", slow, "--fail-on", "warning").returncode, 1)
        self.assertEqual(run("report", slow, "--fail-on", "error").returncode, 0)
        checked = run("check", slow, "--policy", "nvidia")
        self.assertEqual(checked.returncode, 1)
        self.assertIn(b"failed: ", checked.stdout)
        self.assertEqual(run("report", sick, "--fail-on", "panic").returncode, 2)
        with open(sick, "rb") as f:
            data = f.read()
        cut = self.write("cut.pcap", data[:-5])
        self.assertEqual(run("report", cut, "--fail-on", "error").returncode, 3)

    def test_filters_on_the_analysis(self):
        lossy = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
        status, got, message = report(lossy, "-Y", "roce.analysis.retransmission")
        self.assertEqual((status, message), (0, ""))
        whole = report(lossy)[1]
        repeats = sum(f["retransmitted"]["packets"] for f in whole["flows"])
        self.assertGreater(repeats, 1000)
        self.assertEqual(got["capture"]["packets"], repeats)
        self.assertEqual(sum(f["packets"] for f in got["flows"]), repeats)
        lines = run("packets", lossy, "-Y", "roce.analysis.retransmission").stdout.decode().splitlines()
        self.assertEqual(len(lines), repeats)
        one = report(lossy, "-Y", "roce.connection == 0 && roce.direction == a_to_b", "--jobs", "1")[1]
        two = report(lossy, "-Y", "roce.connection == 0 && roce.direction == a_to_b", "--jobs", "2")[1]
        self.assertEqual(one, two)
        self.assertEqual([f["id"] for f in one["flows"]], [0])

    def test_a_report_of_a_pipe_cannot_be_filtered_by_what_a_second_reading_tells(self):
        done = run("report", "-", "-Y", "roce.analysis.retransmission", input=self.rping)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"save it to a file first", done.stderr)
        done = run("packets", "-", "-Y", "roce.connection == 0", input=self.rping)
        self.assertEqual(done.returncode, 0)
        # Of the first packets it cannot be said yet whom they belong to.
        self.assertIn(len(done.stdout.splitlines()), range(110, 121))

    def test_the_numbers_of_packets_are_those_of_the_report(self):
        for name in ("10_nvmeof_io.pcap.zst", "03_ucmatose.pcap.zst", "06_mix_4qp.pcap.zst", "13_merged_ends.pcapng.zst",
                     "13_dumpcap_2if_loss.pcapng.zst", "03_cmtime.pcap"):
            path = os.path.join(SAMPLES, name)
            flows = {f["id"]: f for f in report(path)[1]["flows"]}
            out = run("packets", path, "-T", "fields", "-e", "roce.flow", "-e", "roce.connection").stdout.decode()
            counts, connections = {}, {}
            for line in out.splitlines():
                flow, connection = line.split("\t")
                if flow:
                    counts[int(flow)] = counts.get(int(flow), 0) + 1
                    connections.setdefault(int(flow), set()).add(int(connection) if connection else None)
            self.assertEqual(counts, {id: f["packets"] + f["duplicate_captures"] for id, f in flows.items()}, name)
            self.assertEqual(connections, {id: {f["connection"]} for id, f in flows.items()}, name)

    def test_packets_cut_before_the_bth_are_not_denied(self):
        data = bytearray(self.rping[:PCAP_HEADER])
        for at in records(self.rping):
            record = bytearray(self.rping[at:at + RECORD_HEADER + 48])
            struct.pack_into("<I", record, 8, 48)
            data += record
        path = self.write("cut48.pcap", bytes(data))
        text = run("report", path).stdout.decode()
        self.assertIn("125 packets to UDP port 4791 truncated before the end of the BTH", text)
        self.assertNotIn("RDMA offload", text)
        self.assertIn("cut_before_bth", [d["id"] for d in report(path)[1]["diagnostics"]])

    def test_fields_before_the_file(self):
        done = run("packets", "-T", "fields", "-e", "frame.number", "-e", "udp.dstport", "-c", "2", RPING)
        self.assertEqual((done.returncode, done.stdout), (0, b"1\t4791\n2\t4791\n"))

    def test_closed_descriptors(self):
        script = f"'{PROGRAM}' report - <&- ; echo $?; '{PROGRAM}' packets '{RPING}' >&- ; echo $? >&2"
        done = subprocess.run(["bash", "-c", script], capture_output=True, check=False, timeout=60)
        self.assertEqual(done.stdout, b"3\n")
        self.assertTrue(done.stderr.endswith(b"3\n"), done.stderr)

    def interrupted(self, *signals, stdout=subprocess.PIPE):
        """Status, output and errors of a report whose file (a FIFO: one that takes long to read) goes on.
        Signals are (seconds after the one before, number)."""
        path = os.path.join(self.folder, f"slow{len(os.listdir(self.folder))}")
        os.mkfifo(path)
        process = subprocess.Popen([PROGRAM, "report", path], stdout=stdout, stderr=subprocess.PIPE)
        with open(path, "wb") as writer:  # returns when it is being read
            writer.write(self.rping)
            writer.flush()
            time.sleep(0.5)
            for seconds, number in signals:
                time.sleep(seconds)
                process.send_signal(number)
            out, err = process.communicate(timeout=30)
        return process.returncode, out, err

    def test_an_interrupt_still_reports(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                status, out, err = self.interrupted((0, number))
                self.assertEqual(status, 3, err)
                self.assertIn(b"125 packets", out)
                self.assertIn(b"interrupted after 125 packets", err)

    def test_a_signal_sent_twice_at_once_is_one(self):
        """As timeout(1) does: to its child and to their group. The second one comes while the file is read, while the
        report is made, or when it is over."""
        for seconds in (0, 0.0005, 0.001, 0.0015, 0.002, 0.004, 0.01):
            for numbers in ((signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGHUP)):
                with self.subTest((seconds, numbers)):
                    status, out, err = self.interrupted((0, numbers[0]), (seconds, numbers[1]))
                    self.assertEqual(status, 3, err)
                    self.assertIn(b"125 packets", out)
                    self.assertEqual(err.count(b"interrupted after 125 packets"), 1, err)

    def test_a_second_signal_ends_it_at_once(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_blocking(writer, False)
        with self.assertRaises(BlockingIOError):  # nobody reads the report
            while True:
                os.write(writer, bytes(4096))
        os.set_blocking(writer, True)
        status, _, err = self.interrupted((0, signal.SIGINT), (0.5, signal.SIGINT), stdout=writer)
        os.close(writer)
        self.assertEqual(status, -signal.SIGINT, err)

    def test_a_capture_without_packets_is_a_report(self):
        status, got, _ = report(self.write("none.pcap", self.rping[:PCAP_HEADER]))
        self.assertEqual((status, got["capture"]["packets"], got["flows"]), (0, 0, []))
        self.assertIsNone(got["capture"]["first_time"])


if __name__ == "__main__":
    unittest.main()

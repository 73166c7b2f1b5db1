#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verdicts inside tshark: sidecars and the Lua script that shows them. Usage: wireshark_test.py ROCEANALYZE SAMPLES"""

import concurrent.futures
import glob
import os
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
SCRIPT = os.path.join(os.path.dirname(SAMPLES), "cli", "wireshark", "roceanalyze.lua")
SETTINGS = tempfile.TemporaryDirectory()
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", "ROCEANALYZE_CONFIG": "", "HOME": SETTINGS.name,
       "XDG_CONFIG_HOME": SETTINGS.name}
ENV.pop("ROCEANALYZE_SIDECAR", None)
LOST, LONGER = "04_write_loss1.cb.pcap.zst", "04_write_loss1.ca.pcap.zst"
FRAMES = {"roce.analysis.duplicate_of", "roce.analysis.request", "roce.analysis.response",
          "roce.analysis.retransmission.original"}


def run(*words, env=None):
    return subprocess.run(words, check=False, timeout=300, capture_output=True, text=True, env={**ENV, **(env or {})})


def tshark(path, *words, env=None):
    done = run("tshark", "-X", "lua_script:" + SCRIPT, "-r", path, *words, env=env)
    said = [line for line in done.stderr.splitlines() if not line.startswith("Running as user")]
    return done.stdout.splitlines(), done.returncode, said


def our_fields():
    """Name, type and label of what sidecars have."""
    rows = [line.split("\t") for line in run(PROGRAM, "packets", "--list-fields").stdout.splitlines()]
    return [row for row in rows if row[0].startswith("roce.") and row[1] != "ip"]


def capture(sample, folder):
    """The sample in `folder`, not compressed: Wireshark 4.0 does not read all of a .zst."""
    path = os.path.join(folder, sample.removesuffix(".zst"))
    if sample.endswith(".zst"):
        subprocess.run(["zstd", "-dqf", os.path.join(SAMPLES, sample), "-o", path], check=True)
    else:
        shutil.copy(os.path.join(SAMPLES, sample), path)
    return path


def with_sidecar(sample, folder, *words):
    path = capture(sample, folder)
    done = run(PROGRAM, "packets", path, "--sidecar", path + ".roce", *words)
    assert done.returncode == 0, (sample, done.stderr)
    return path


def opcodes(path):
    """A packet of every opcode, with all values of FECN and BECN."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for opcode in range(256):
            bth = bytes([opcode, 0x40, 0xff, 0xff, opcode % 4 << 6, 0, 0, 0x11, 0, 0, 0, opcode])
            payload = bth + bytes(range(64))
            udp = struct.pack(">HHHH", 0xc000, 4791, 8 + len(payload), 0) + payload
            ip = struct.pack(">BBHHHBBH", 0x45, 2, 20 + len(udp), 0, 0x4000, 64, 17, 0) + bytes([10, 0, 0, 1, 10, 0, 0, 2])
            frame = bytes.fromhex("0200000000020200000000010800") + ip + udp
            out.write(struct.pack("<IIII", 1700000000, opcode * 1000, len(frame), len(frame)) + frame)


def many(source, path, count):
    """The frames of a capture again and again, a nanosecond apart, until there are `count`."""
    with open(source, "rb") as file:
        data = file.read()
    frames, at = [], 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 8:at + 16 + length])
        at += 16 + length
    with open(path, "wb") as out:
        out.write(data[:24])
        for i in range(count):
            out.write(struct.pack("<II", 1800000000, i * 1000) + frames[i % len(frames)])


class Writing(unittest.TestCase):
    def setUp(self):
        self.keep = tempfile.TemporaryDirectory()
        self.addCleanup(self.keep.cleanup)
        self.path = capture(LOST, self.keep.name)
        self.sidecar = self.path + ".roce"

    def write(self, *words):
        done = run(PROGRAM, "packets", self.path, "--sidecar", self.sidecar, *words)
        return done.returncode, done.stderr

    def lines(self):
        with open(self.sidecar, encoding="utf-8") as file:
            return file.read().splitlines()

    def test_rows(self):
        self.assertEqual(self.write(), (0, ""))
        lines = self.lines()
        self.assertEqual(lines[0], "roceanalyze sidecar 1")
        self.assertEqual(lines[1].split("\t"), ["roce"] + [name for name, _, _ in our_fields()])
        self.assertEqual(lines[-1], "end\t3744\twhole")
        self.assertEqual([line.split("\t")[0] for line in lines[2:-1]], [str(i) for i in range(1, 3745)])
        self.assertEqual(stat.S_IMODE(os.stat(self.sidecar).st_mode), 0o600)

    def test_all_lines_are_not_claimed_where_there_may_be_more(self):
        self.assertEqual(self.write("-c", "100"), (0, ""))
        self.assertEqual(self.lines()[-1], "end\t100\tpartial")

    def test_what_is_overwritten(self):
        self.assertEqual(self.write()[0], 0)
        self.assertEqual(self.write()[0], 0)  # an earlier sidecar
        with open(self.sidecar, "w", encoding="utf-8") as file:
            file.write("mine\n")
        self.assertEqual(self.write()[0], 2)
        self.assertEqual(self.lines(), ["mine"])
        self.assertEqual(self.write("--force")[0], 0)
        self.sidecar = self.path  # never an input
        self.assertEqual(self.write("--force")[0], 2)
        self.assertEqual(len(os.listdir(self.keep.name)), 2)  # nothing temporary stays

    def test_what_it_does_not_go_with(self):
        for words in (["-Y", "roce"], ["--from", "+1"], ["--to", "+1"], ["--no-analysis"], ["--time", "switch"]):
            status, text = self.write(*words)
            self.assertEqual(status, 2, words)
            self.assertIn("--sidecar", text)
        self.assertEqual(self.write("-w", self.sidecar)[0], 2)
        with open(self.path, "rb") as file:
            done = subprocess.run([PROGRAM, "packets", "-", "--sidecar", self.sidecar], check=False, capture_output=True,
                                  env=ENV, input=file.read())
        self.assertEqual(done.returncode, 2)
        self.assertFalse(os.path.exists(self.sidecar))

    def test_a_reader_that_goes_away(self):
        """What was not read since nobody takes the lines is not claimed."""
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([PROGRAM, "packets", self.path, "--sidecar", self.sidecar, "-P", "-V"], check=False, stdout=write,
                              stderr=subprocess.PIPE, env=ENV)
        os.close(write)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(self.lines()[-1], r"^end\t\d+\tpartial$")

    def test_packets_are_printed_and_written_as_well(self):
        done = run(PROGRAM, "packets", self.path, "--sidecar", self.sidecar, "-T", "fields", "-e", "frame.number", "-P")
        self.assertEqual(len(done.stdout.splitlines()), 3744)
        self.assertEqual(self.lines()[-1], "end\t3744\twhole")


@unittest.skipUnless(shutil.which("tshark"), "no tshark")
class InTshark(unittest.TestCase):
    def setUp(self):
        self.keep = tempfile.TemporaryDirectory()
        self.addCleanup(self.keep.cleanup)

    def test_table_of_fields(self):
        """Fields of the script are those of the program: names, labels, types."""
        kinds = {"number": "FT_UINT32", "boolean": "FT_BOOLEAN", "text": "FT_STRING", "time": "FT_RELATIVE_TIME",
                 "presence": "FT_NONE"}
        expected = {(name, label, "FT_FRAMENUM" if name in FRAMES else kinds[kind]) for name, kind, label in our_fields()}
        folder = os.path.join(self.keep.name, ".local/lib/wireshark/plugins")
        os.makedirs(folder)
        shutil.copy(SCRIPT, folder)  # -G reads what is installed
        out = run("tshark", "-G", "fields", env={"HOME": self.keep.name}).stdout
        rows = [line.split("\t") for line in out.splitlines() if line.startswith("F\t") and "\troce." in line]
        self.assertEqual({(row[2], row[1], row[3]) for row in rows if not row[2].endswith(".expert")}, expected)

    def compare(self, sample):
        """None, or how the fields of a sample differ."""
        names = [name for name, _, _ in our_fields()]
        presence = [i for i, (_, kind, _) in enumerate(our_fields()) if kind == "presence"]
        words = ["-T", "fields", "-E", "separator=/t", "-e", "frame.number", "-e", "infiniband.bth.fecn",
                 "-e", "infiniband.bth.becn", "-e", "infiniband.bth.opcode"]
        for name in names:
            words += ["-e", name]
        with tempfile.TemporaryDirectory() as folder:
            path = with_sidecar(sample, folder)
            ours = run(PROGRAM, "packets", path, *words).stdout.splitlines()
            theirs, status, said = tshark(path, *words)
        if status != 0 or said or len(ours) != len(theirs):
            return f"{sample}: {status}, {len(ours)} and {len(theirs)} lines, {said}"
        for a, b in zip(ours, theirs):
            a, b = a.split("\t"), b.split("\t")
            for row in (a, b):
                for i in presence:
                    row[i + 4] = bool(row[i + 4])
            if b[3] == "":
                a[1:4] = b[1:4]  # no BTH for Wireshark, which does not look into this tunnel
            if a != b:
                return f"{sample}, packet {a[0]}: " + ", ".join(
                    f"{name} {x!r} and {y!r}" for name, x, y in zip(["number", "fecn", "becn", "opcode"] + names, a, b) if x != y)
        return None

    def test_fields_of_all_samples(self):
        samples = sorted(os.path.basename(path) for path in glob.glob(os.path.join(SAMPLES, "*.pcap*")))
        self.assertGreater(len(samples), 100)
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as workers:
            wrong = [text for text in workers.map(self.compare, samples) if text]
        self.assertEqual(wrong, [])

    def test_filters(self):
        path = with_sidecar(LOST, self.keep.name)
        for text in ("roce.analysis.retransmission == 1", 'roce.analysis.lost == "before_capture"', "roce.analysis.flags",
                     "roce.connection == 0 && roce.analysis.gap > 0", 'roce.analysis.rule == "sequence_nak"', "roce",
                     "roce.analysis.response_time > 0.001", 'roce.operation contains "WRITE"', "infiniband.bth.becn == 0"):
            ours = run(PROGRAM, "packets", path, "-Y", text, "-T", "fields", "-e", "frame.number").stdout.splitlines()
            self.assertEqual(tshark(path, "-Y", text, "-T", "fields", "-e", "frame.number"), (ours, 0, []), text)
            self.assertTrue(ours, text)

    def test_columns_and_expert_infos(self):
        path = with_sidecar(LOST, self.keep.name)
        columns = 'gui.column.format:"No.","%m","Lost","%Cus:roce.analysis.lost:0:R"'
        lines = tshark(path, "-o", columns, "-Y", "frame.number == 297")[0]
        self.assertEqual([line.split() for line in lines], [["297", "before_capture"]])
        lost = run(PROGRAM, "packets", path, "-Y", "roce.analysis.lost", "-T", "fields", "-e", "frame.number").stdout
        told = tshark(path, "-Y", '_ws.expert.severity == "Warning"', "-T", "fields", "-e", "frame.number",
                      "-e", "_ws.expert.message")[0]
        self.assertLessEqual(set(lost.split()), {line.split("\t")[0] for line in told})
        self.assertIn("Lost: before_capture, direction of the lost transmissions a_to_b, lost transmissions 1",
                      [line for line in told if line.startswith("297\t")][0])

    def test_opcodes_that_wireshark_does_not_name(self):
        path = os.path.join(self.keep.name, "opcodes.pcap")
        opcodes(path)
        ours = run(PROGRAM, "packets", path, "-T", "fields", "-e", "roce.service", "-e", "roce.operation").stdout.splitlines()
        theirs = tshark(path, "-T", "fields", "-e", "_ws.col.Info")[0]
        named = 0
        for opcode, (name, info) in enumerate(zip(ours, theirs)):
            service, operation = name.split("\t")
            if service in ("RC", "UC", "UD", "CNP", "XRC") and "unknown" not in operation:
                self.assertNotIn("Unknown", info, f"{opcode:#x}")
            if service == "XRC" and "unknown" not in operation:
                self.assertEqual(info.strip(), f"XRC {operation} QP=0x000011")
                named += 1
        self.assertEqual(named, 25)
        self.assertEqual(theirs[0x81].strip(), "CNP QP=0x000011")
        bits = tshark(path, "-T", "fields", "-e", "infiniband.bth.fecn", "-e", "infiniband.bth.becn")[0]
        self.assertEqual(bits, [f"{i >> 1 & 1}\t{i & 1}" for i in range(256)])
        self.assertEqual(tshark(path, "-Y", "roce || roce.connection")[0], [])  # without a sidecar

    def shown(self, path, **env):
        """Packets with a connection, and what is said of the sidecar."""
        lines, status, said = tshark(path, "-T", "fields", "-e", "roce.connection", "-e", "_ws.expert.message", env=env)
        self.assertEqual((status, said), (0, []))
        messages = {line.split("\t")[1] for line in lines if "Verdicts are not shown" in line}
        return sum(line.split("\t")[0] != "" for line in lines), messages

    def test_where_sidecars_are_found(self):
        path = with_sidecar(LOST, self.keep.name)
        self.assertEqual(self.shown(path)[0], 3705)
        elsewhere = os.path.join(self.keep.name, "verdicts")
        os.rename(path + ".roce", elsewhere)
        self.assertEqual(self.shown(path), (0, set()))
        self.assertEqual(self.shown(path, ROCEANALYZE_SIDECAR=elsewhere)[0], 3705)
        lines = tshark(path, "-o", "roce.sidecar:" + elsewhere, "-Y", "roce.connection")[0]
        self.assertEqual(len(lines), 3705)
        self.assertIn("cannot be read", str(self.shown(path, ROCEANALYZE_SIDECAR=elsewhere + "x")))

    def test_other_ways_to_read(self):
        """In two passes; as pcapng; several captures in one."""
        path = with_sidecar(LOST, self.keep.name)
        words = ["-T", "fields", "-e", "frame.number", "-e", "roce.connection", "-e", "roce.analysis.response"]
        ours = run(PROGRAM, "packets", path, *words).stdout.splitlines()
        self.assertEqual(tshark(path, "-2", *words), (ours, 0, []))
        merged = os.path.join(self.keep.name, "merged.pcapng")
        done = run(PROGRAM, "packets", path, capture(LONGER, self.keep.name), "-w", merged, "--sidecar", merged + ".roce")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        ours = run(PROGRAM, "packets", merged, "-T", "fields", "-e", "frame.number", "-e", "roce.operation").stdout.splitlines()
        theirs = tshark(merged, "-T", "fields", "-e", "frame.number", "-e", "roce.operation")
        self.assertEqual(theirs, (ours, 0, []))

    def test_sidecar_of_another_capture(self):
        path = with_sidecar(LOST, self.keep.name)
        other = with_sidecar(LONGER, self.keep.name)
        os.replace(other + ".roce", path + ".roce")
        count, messages = self.shown(path)
        self.assertEqual(count, 0)
        self.assertRegex(str(messages), "is of another capture: packet 1 differs")

    def test_a_script_that_is_loaded_twice(self):
        path = with_sidecar(LOST, self.keep.name)
        lines, status, said = tshark(path, "-X", "lua_script:" + SCRIPT, "-Y", "roce.connection")
        self.assertEqual((len(lines), status, said), (3705, 0, []))

    def test_control_characters_do_not_reach_the_terminal(self):
        path = with_sidecar(LOST, self.keep.name)
        with open(path + ".roce", encoding="utf-8") as file:
            good = file.read()
        for text in ("\x1b[31m\x7f", r"\x1b[31m\x7f", "\u009b31m", r"\xc2\x9b31m"):
            with open(path + ".roce", "w", encoding="utf-8") as file:
                file.write(good.replace("=before_capture", "=" + text))
            shown = "\n".join(tshark(path, "-c", "300", "-V")[0] + tshark(
                path, "-c", "300", "-T", "fields", "-e", "roce.analysis.lost", "-e", "_ws.expert.message")[0])
            self.assertIn("31m", shown)
            self.assertNotRegex(shown, "[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
        os.rename(path + ".roce", path + "\x1b.roce")
        with open(path + "\x1b.roce", "w", encoding="utf-8") as file:
            file.write("nothing")
        self.assertIn(r"\x1b.roce", str(self.shown(path, ROCEANALYZE_SIDECAR=path + "\x1b.roce")[1]).replace("\\\\", "\\"))

    def test_capture_that_has_grown(self):
        path = with_sidecar(LOST, self.keep.name)
        shorter = os.path.join(self.keep.name, "shorter.pcap")
        self.assertEqual(run("tshark", "-r", path, "-c", "200", "-F", "nsecpcap", "-w", shorter).returncode, 0)
        self.assertEqual(run(PROGRAM, "packets", shorter, "--sidecar", path + ".roce").returncode, 0)
        self.assertRegex(str(self.shown(path)[1]), "is of another capture: this one has more packets than 200")
        self.assertEqual(tshark(path, "-2", "-T", "fields", "-e", "roce.connection")[0], [""] * 3744)  # as docs/wireshark.md says
        self.assertEqual(run(PROGRAM, "packets", path, "-c", "200", "--sidecar", path + ".roce").returncode, 0)
        count, messages = self.shown(path)
        self.assertEqual(messages, set())
        self.assertEqual(count, len(run(PROGRAM, "packets", path, "-c", "200", "-Y", "roce.connection").stdout.splitlines()))

    def test_damaged_sidecars(self):
        """Cut at any length, or with any of its parts replaced: shown as damaged, and tshark goes on."""
        path = os.path.join(self.keep.name, "few.pcap")
        opcodes(path)
        short = os.path.join(self.keep.name, "short.pcap")
        self.assertEqual(run("tshark", "-r", path, "-c", "3", "-F", "nsecpcap", "-w", short).returncode, 0)
        self.assertEqual(run(PROGRAM, "packets", short, "--sidecar", short + ".roce").returncode, 0)
        with open(short + ".roce", "rb") as file:
            good = file.read()
        rows = good.index(b"\n", 30) + 1
        lengths = sorted({*range(0, 24, 4), rows - 1, *range(rows, len(good), 9), len(good) - 1})
        bad = [good[:length] for length in lengths]
        bad += [good.replace(b"\t1=1", b"\t1=" + text) for text in (b"", b"2", b"-1", b"\xff\x00")]
        bad += [good.replace(b"\t1=1", b"\t" + text) for text in (b"0=1", b"999=1", b"1", b"x=1", b"99999999999999999999=1")]
        bad += [good.replace(b"end\t3", b"end\t" + text) for text in (b"2", b"4", b"-3", b"99999999999999999999")]
        bad += [good + b"x", good + good, b"\x00" * 200000, b"\n" * 1000, good[:rows] + b"7" * 200000 + good[rows:],
                good.replace(b"\n2\t", b"\n7\t"), good.replace(b"\n2\t1", b"\n2\t."),
                good.replace(b"\n2\t17", b"\n2\t-1.7"), good.replace(b"\n2\t17", b"\n2\t-17"), good.replace(b"\n2\t", b"\n2\t-\t"), good.replace(b"end", b"eng")]

        def wrong(number):
            name = os.path.join(self.keep.name, f"bad{number}")
            with open(name, "wb") as file:
                file.write(bad[number])
            lines, status, said = tshark(short, "-T", "fields", "-e", "frame.number", "-e", "_ws.expert.message",
                                         env={"ROCEANALYZE_SIDECAR": name})
            if (status, said, len(lines)) != (0, [], 3) or "Verdicts are not shown" not in str(lines) or ".lua" in str(lines):
                return bad[number][-80:], lines, status, said
            return None

        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as workers:
            self.assertEqual([text for text in workers.map(wrong, range(len(bad))) if text], [])

    def test_many_packets(self):
        path = os.path.join(self.keep.name, "many.pcap")
        many(capture(LOST, self.keep.name), path, 100000)
        self.assertEqual(run(PROGRAM, "packets", path, "--sidecar", path + ".roce").returncode, 0)
        start = time.monotonic()
        lines, status, said = tshark(path, "-Y", "roce.connection", "-T", "fields", "-e", "frame.number")
        took = time.monotonic() - start
        self.assertEqual((status, said), (0, []))
        self.assertEqual(len(lines), len(run(PROGRAM, "packets", path, "-Y", "roce.connection").stdout.splitlines()))
        print(f"100000 packets: {took:.1f} s")
        self.assertLess(took, 120)


if __name__ == "__main__":
    unittest.main()

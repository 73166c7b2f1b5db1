#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `packets -w` saves: formats (-F) and compressions, read back by this program and by the tools of others.
Usage: saved_test.py ROCEANALYZE SAMPLES"""

import os
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
SAMPLE = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
COLUMNS = ("frame.number", "frame.time_epoch", "frame.len", "frame.cap_len", "frame.encap_type")
FORMATS = {"pcapng": "pcapng", "pcap": "pcap (µs, ", "nsecpcap": "pcap (ns, "}
COMPRESSIONS = {"gzip": (".gz", ["gzip", "-t"], b"\x1f\x8b"), "zstd": (".zst", ["zstd", "-tq"], b"\x28\xb5\x2f\xfd"),
                "lz4": (".lz4", ["lz4", "-tq"], b"\x04\x22\x4d\x18")}


def run(*words):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=120, capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def rows(path, program=None):
    words = [program, "-r", path] if program else [PROGRAM, "packets", path]
    for column in (*COLUMNS, "eth.src"):
        words += ["-e", column]
    got = subprocess.run([*words, "-T", "fields"], check=True, capture_output=True, timeout=120, env={**os.environ, "TZ": "UTC"})
    return got.stdout.decode().splitlines()


def microseconds(lines):
    """The rows with their times cut to microseconds."""
    columns = [line.split("\t") for line in lines]
    return ["\t".join((c[0], c[1][:-3] + "000", *c[2:])) for c in columns]


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))


def option(code, value):
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def pcapng(*interfaces, packets, comment=b"", drops=0):
    """A pcapng file; a packet is its interface, its bytes and its comment. Times count nanoseconds from 1 s on."""
    end = bytes(4)
    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + (option(1, comment) if comment else b"") + end)
    for link in interfaces:
        data += block(1, struct.pack("<HHI", link, 0, 0) + option(9, b"\x09") + end)
    for i, (interface, frame, words) in enumerate(packets):
        time = 10**9 + 1000 * i
        data += block(6, struct.pack("<IIIII", interface, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame)) + frame
                      + bytes(-len(frame) % 4) + (option(1, words) if words else b"") + end)
    if drops:
        data += block(5, struct.pack("<III", 0, 0, 0) + option(5, struct.pack("<Q", drops)) + end)
    return data


ETHERNET = bytes.fromhex("525400000a01525400000b010806") + bytes(46)
COOKED = bytes.fromhex("00000001000652540000 0b0100000806".replace(" ", "")) + bytes(28)


class Saved(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def source(self, data):
        with open(self.path("source.pcapng"), "wb") as file:
            file.write(data)
        return self.path("source.pcapng")

    def save(self, source, name, *words):
        status, text, errors = run("packets", source, "-w", self.path(name), *words)
        self.assertEqual((status, text), (0, b""), (name, words, errors))
        self.assertEqual(stat.S_IMODE(os.stat(self.path(name)).st_mode), 0o600)
        return self.path(name), errors

    def test_every_format_and_compression_reads_back_equal(self):
        wanted = rows(SAMPLE)
        tshark = shutil.which("tshark")
        for form, shown in FORMATS.items():
            for compression in ("", *COMPRESSIONS):
                ending, check, magic = COMPRESSIONS.get(compression, ("", None, b""))
                path, errors = self.save(SAMPLE, f"{form}{ending}", "-F", form)
                self.assertEqual("were cut to microseconds" in errors, form == "pcap", errors)
                expected = microseconds(wanted) if form == "pcap" else wanted
                self.assertEqual(rows(path), expected, path)
                self.assertEqual(read(path)[: len(magic)], magic)
                report = run("report", path)[1].decode()
                self.assertIn(shown, report)
                if compression:
                    self.assertIn(f"in {compression}", report)
                    if shutil.which(check[0]):
                        subprocess.run([*check, path], check=True)
                if tshark:
                    self.assertEqual(rows(path, tshark), expected, path)

    def test_compression_has_the_words_of_capture(self):
        plain, _ = self.save(SAMPLE, "plain")
        for compression, (ending, _, magic) in COMPRESSIONS.items():
            path, _ = self.save(SAMPLE, f"{compression}.any", "--compress", compression)
            self.assertTrue(read(path).startswith(magic))
            self.assertLess(len(read(path)), len(read(plain)))
            path, _ = self.save(SAMPLE, f"named{ending}", "--compress", "none")
            self.assertEqual(read(path), read(plain))
            status, text, _ = run("packets", SAMPLE, "-w", "-", "--compress", compression)
            self.assertEqual((status, text[: len(magic)]), (0, magic))
        for name in ("f.xz", "f.bz2", "f.zip"):
            status, _, errors = run("packets", SAMPLE, "-w", self.path(name))
            self.assertEqual(status, 2)
            self.assertIn("name it .gz, .zst or .lz4", errors)
        for words in (("-F", "pcap"), ("--compress", "gzip")):
            self.assertEqual(run("packets", SAMPLE, *words)[0], 2)
        for words in (("-F", "erf"), ("--compress", "xz")):
            status, _, errors = run("packets", SAMPLE, "-w", self.path("f"), *words)
            self.assertEqual(status, 2)
            self.assertIn("pcapng" if words[0] == "-F" else "lz4", errors)

    def test_without_packets_it_is_a_whole_file(self):
        for form in FORMATS:
            for ending in ("", ".gz", ".zst", ".lz4"):
                path, errors = self.save(SAMPLE, form + ending, "-F", form, "-Y", "arp and tcp")
                self.assertIn("no packet matches", errors)
                self.assertEqual(run("packets", path)[:2], (0, b""), path)
                self.assertEqual(run("report", path)[0], 0, path)

    def test_several_link_types_are_refused_with_their_names(self):
        source = self.source(pcapng(1, 113, packets=[(0, ETHERNET, b""), (1, COOKED, b"")]))
        for form in ("pcap", "nsecpcap"):
            status, text, errors = run("packets", source, "-w", self.path("f"), "-F", form)
            self.assertEqual((status, text), (3, b""))
            self.assertIn("one link type for all packets", errors)
            self.assertIn("1 (Ethernet)", errors)
            self.assertIn("113 (Linux cooked)", errors)
            self.assertEqual(os.listdir(self.folder), ["source.pcapng"])
            # The packets of one of them can be saved.
            path, errors = self.save(source, form, "-F", form, "-Y", "frame.number == 2")
            self.assertEqual((len(rows(path)), errors), (1, ""))
            self.assertIn("\t25\t", rows(path)[0])
            os.remove(path)
        self.save(source, "f", "-F", "pcapng")

    def test_what_pcap_cannot_hold_is_said(self):
        source = self.source(pcapng(1, 1, packets=[(0, ETHERNET, b"one"), (1, ETHERNET, b"two")], comment=b"all", drops=7))
        for form in ("pcap", "nsecpcap"):
            path, errors = self.save(source, form, "-F", form)
            self.assertEqual(len(rows(path)), 2)
            self.assertIn("3 comments were left out", errors)
            self.assertIn("packets of 2 interfaces", errors)
            self.assertIn("numbers of dropped packets were left out", errors)
            self.assertNotIn("microseconds", errors)
            _, errors = self.save(source, form + "1", "-F", form, "-Y", "frame.number == 1")
            self.assertIn("2 comments were left out", errors)
            self.assertNotIn("interfaces", errors)
        self.assertEqual(self.save(source, "pcapng")[1], "")

    def test_a_full_disk_is_an_error(self):
        for words in (("-F", "pcap"), ("--compress", "gzip"), ("--compress", "zstd"), ("-F", "nsecpcap", "--compress", "lz4")):
            status, _, errors = run("packets", SAMPLE, "-w", "/dev/full", *words)
            self.assertEqual(status, 3, words)
            self.assertIn("No space left on device", errors)


if __name__ == "__main__":
    unittest.main()

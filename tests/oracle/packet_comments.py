#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Comments of packets, as editcap writes them and tshark reads them: read alike, found alike, kept when packets are
written to another file, and counted by the report's filter; plain, compressed, and of several files merged.

    packet_comments.py ROCEANALYZE      Exit status 77: tshark or editcap is not here.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIP = 77
PROGRAM = os.path.abspath(sys.argv.pop(1))
SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
# Several of one packet, of the first and the last, in other scripts, with what a shell or a terminal might obey.
COMMENTS = [(1, "first of all"), (7, "why so late?"), (7, "asked the owner: \"a slow disk\""), (20, "Müller, 雪"),
            (144, "the last, 50 % \\ done")]
COLUMNS = ("-T", "fields", "-e", "frame.number", "-e", "frame.time_epoch", "-e", "frame.comment")


def output(*words):
    return subprocess.run(words, check=True, capture_output=True).stdout


def ours(path, *words):
    return output(PROGRAM, "packets", path, *words).decode().splitlines()


def theirs(path, *words):
    return output("tshark", "-n", "-r", path, *words).decode().splitlines()


def unescaped(lines):
    """tshark of 4.0 prints a backslash as it is, this program as C does."""
    return [line.replace("\\\\", "\\") for line in lines]


class PacketComments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.path = os.path.join(folder.name, "commented.pcapng")
        words = [word for number, text in COMMENTS for word in ("-a", f"{number}:{text}")]
        # editcap takes one comment of a packet at a time.
        first = os.path.join(folder.name, "first.pcapng")
        source = os.path.join(SAMPLES, "01_rc_pingpong_s1.pcap")
        output("editcap", "-F", "pcapng", *words[:4], source, first)
        output("editcap", "-F", "pcapng", *words[4:], first, cls.path)

    def test_fields_and_filters_are_those_of_tshark(self):
        self.assertEqual(unescaped(ours(self.path, *COLUMNS)), theirs(self.path, *COLUMNS))
        for expression in ("frame.comment", 'frame.comment contains "owner"', 'frame.comment == "first of all"',
                           'frame.comment matches "M.+ller"', "!frame.comment"):
            with self.subTest(expression):
                numbers = ("-T", "fields", "-e", "frame.number", "-Y", expression)
                self.assertEqual(ours(self.path, *numbers), theirs(self.path, *numbers))
        lines = [json.loads(line) for line in ours(self.path, "-T", "json", "-Y", "frame.comment")]
        expected = {}
        for number, text in COMMENTS:
            expected.setdefault(number, []).append(text)
        as_lists = {line["frame.number"]: line["frame.comment"] if isinstance(line["frame.comment"], list)
                    else [line["frame.comment"]] for line in lines}
        self.assertEqual(as_lists, expected)

    def test_the_tree_begins_with_them(self):
        lines = ours(self.path, "-V", "-c", "1", "--no-analysis")
        self.assertEqual(lines[:2], theirs(self.path, "-V", "-c", "1")[:2])

    def test_they_are_kept_when_packets_are_written(self):
        packed = os.path.join(self.folder, "packed.pcapng.gz")
        with open(packed, "wb") as file:
            subprocess.run(["gzip", "-c", self.path], check=True, stdout=file)
        for source in (self.path, packed):
            with self.subTest(source):
                copy = os.path.join(self.folder, "copy.pcapng")
                output(PROGRAM, "packets", source, "-Y", "frame.number <= 20 || frame.comment", "-w", copy, "--force")
                words = (*COLUMNS[:2], "-e", "frame.time_epoch", "-e", "frame.comment")
                expected = theirs(self.path, *words, "-Y", "frame.number <= 20 || frame.comment")
                self.assertEqual(theirs(copy, *words), expected)

    def test_merged_files_keep_theirs(self):
        parts = []
        for name, numbers in (("a", "1-50"), ("b", "51-144")):
            parts.append(os.path.join(self.folder, name + ".pcapng"))
            output("editcap", "-F", "pcapng", "-r", self.path, parts[-1], numbers)
        merged = output(PROGRAM, "packets", *reversed(parts), *COLUMNS).decode().splitlines()
        self.assertEqual(unescaped(merged), theirs(self.path, *COLUMNS))

    def test_the_report_can_ask_for_them(self):
        found = len(theirs(self.path, "-Y", "frame.comment && infiniband"))
        report = json.loads(output(PROGRAM, "report", "--json", "-Y", "frame.comment", self.path))
        self.assertEqual(report["roce"]["packets"], found)
        self.assertGreater(found, 0)


if __name__ == "__main__":
    if shutil.which("tshark") is None or shutil.which("editcap") is None:
        print("tshark or editcap is not installed")
        sys.exit(SKIP)
    unittest.main()

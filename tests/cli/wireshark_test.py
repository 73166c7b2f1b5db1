#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sidecars: what is said of each packet, for Wireshark. Usage: wireshark_test.py ROCEANALYZE SAMPLES"""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "ROCEANALYZE_CONFIG": ""}
LOST = "04_write_loss1.cb.pcap.zst"


def run(*words):
    return subprocess.run(words, check=False, timeout=300, capture_output=True, text=True, env=ENV)


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


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command that a finding suggests, typed as it is printed, shows exactly the packets that prove it: as many as
the finding counts, or as the words before the command say; of every finding of every sample.
Usage: finding_commands_test.py ROCEANALYZE SAMPLES"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
GENERATE = os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "tests", "support", "roce_fault_generate")
SHELL = {**os.environ, "PATH": os.path.dirname(PROGRAM) + os.pathsep + os.environ["PATH"], "NO_COLOR": "1",
         "LC_ALL": "C.UTF-8"}
# Few and many connections, of few and of many hosts; both directions with the same trouble; copies.
GENERATED = (("all1",), ("all1", "--qps", "2"), ("all1", "--qps", "4", "--hosts", "2"),
             ("all1", "--qps", "512", "--hosts", "3"), ("loss1", "--qps", "6", "--hosts", "12"),
             ("loss1", "--both-directions", "1"), ("rnr", "--qps", "3"), ("mirror",), ("duplicate",),
             ("capture_drop",), ("blackout", "--qps", "8"), ("slow",), ("reorder_nak", "--qps", "3"))
FINDINGS_WITHOUT_COMMAND = {"asymmetric_capture", "capture_drops", "mirror_loss", "icrc_capture_artefact", "path_mtu", "version_mix"}
COMMAND = re.compile(r"(?:^|(?<=[.:?] ))([^.:?]*): (roceanalyze packets FILE(?: --?[-\w]+(?: [^' -][^' ]*)?)*? -Y "
                     r"'(?:[^']|'\\'')*')")


def run(*words):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=300, capture_output=True)
    assert done.returncode == 0, (words, done.returncode, done.stderr.decode())
    return done.stdout.decode()


def shell(command, folder=None):
    done = subprocess.run(["/bin/sh", "-c", command], check=False, timeout=300, capture_output=True, env=SHELL,
                          cwd=folder)
    assert done.returncode == 0, (command, done.returncode, done.stderr.decode())
    return done.stdout.decode().splitlines()


def unfinished(command):
    """Whether a shell would read on: a quote is open, or the line ends with a backslash."""
    try:
        shlex.split(command)
    except ValueError:
        return True
    return False


def check(test, path, *options):
    """Returns how many commands there were."""
    commands = 0
    for finding in json.loads(run("report", "--json", path, *options))["findings"]:
        where = (path, finding["id"], finding["subject"])
        found = COMMAND.findall(finding["advice"])
        test.assertEqual(finding["advice"].count("roceanalyze packets"), len(found), where + (finding["advice"],))
        if finding["id"] not in FINDINGS_WITHOUT_COMMAND:
            test.assertEqual(len(found), 1, where + (finding["advice"],))
        for words, command in found:
            commands += 1
            fields = " -T fields -e frame.number -e roce.analysis.lost -e roce.analysis.lost.packets"
            lines = [line.split("\t") for line in shell(command.replace("FILE", shlex.quote(path), 1) + fields)]
            shown = {int(line[0]) for line in lines}
            where = (path, finding["id"], words, command)
            test.assertLessEqual(set(finding["packets"]), shown, where)
            if words.startswith("All ") or words.endswith("among those of other connections"):
                continue
            if "more than one" in words:
                place = finding["id"].removeprefix("loss_")
                lost = sum(int(n) for line in lines for p, n in zip(line[1].split(","), line[2].split(","))
                           if p == place)
                test.assertEqual(lost, finding["count"], where)
                test.assertLess(len(shown), finding["count"], where)
                continue
            stated = re.search(r" \((\d+)\)$", words)
            test.assertEqual(len(shown), int(stated[1]) if stated else finding["count"], where)
    return commands


class Commands(unittest.TestCase):
    def test_of_every_sample(self):
        paths = [os.path.join(SAMPLES, name) for name in sorted(os.listdir(SAMPLES)) if ".pcap" in name]
        with ThreadPoolExecutor(2) as pool:
            counts = [pool.submit(check, self, path) for path in paths]
        commands = 0
        for path, count in zip(paths, counts):
            with self.subTest(path):
                commands += count.result()
        self.assertGreater(commands, 60)

    def test_of_generated_captures(self):
        with tempfile.TemporaryDirectory() as folder:
            for faults in GENERATED:
                path = os.path.join(folder, "capture")
                with self.subTest(faults):
                    subprocess.run([GENERATE, "--packets", "20000", "--faults", *faults, path], check=True, timeout=120)
                    check(self, path)

    def test_of_a_report_of_a_part(self):
        path = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
        for options in (("--from", "+0.2", "--to", "+1.5"), ("--no-icrc",), ("-Y", "roce.direction == a_to_b"),
                        ("-Y", "infiniband.bth.opcode != 'A' or roce.connection == 0", "--to", "+2")):
            with self.subTest(options):
                self.assertGreater(check(self, path, *options), 0)
        corrupt = os.path.join(SAMPLES, "04_write_corrupt.cb.pcap.zst")
        self.assertGreater(check(self, corrupt, "--no-icrc"), 0)

    def test_as_the_text_prints_them(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        odd = os.path.join(folder.name, "it's an odd \\ name.pcap.zst")
        shutil.copy(os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst"), odd)
        odd = shlex.quote(odd)
        cases = ["04_write_loss1.cb.pcap.zst", "06_badpsn.pcap", "06_badrkey_write.pcap", "03_ucmatose_v6.pcap", odd,
                 odd + r""" -Y 'infiniband.bth.opcode != '\''A'\'' and not frame.comment matches "a  b\\d\s"'"""]
        for name in cases:
            text = shell("roceanalyze report " + name, SAMPLES)
            at = 0
            printed = []
            while at < len(text):
                if text[at].strip().startswith(("roceanalyze packets ", "roceanalyze incidents ")):
                    command = text[at].strip()
                    while unfinished(command):
                        at += 1
                        command = command.removesuffix("\\") + " " + text[at].strip()
                    printed.append(command)
                at += 1
            self.assertGreater(len(printed), 0, name)
            for command in printed:
                self.assertGreater(len(shell(command, SAMPLES)), 0, command)


if __name__ == "__main__":
    unittest.main()

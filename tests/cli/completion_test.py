#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion: the words, and the scripts in bash, zsh and fish. Usage: completion_test.py ROCEANALYZE SAMPLES"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))


def run(*words, **options):
    env = {**os.environ, "LC_ALL": "C.UTF-8", "PATH": os.path.dirname(PROGRAM) + ":" + os.environ["PATH"]}
    done = subprocess.run(words, check=False, timeout=60, capture_output=True, text=True, env=env, **options)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def words_for(*typed):
    return [line.split("\t")[0] for line in run(PROGRAM, "completion", "words", "--", *typed).splitlines()]


# What is typed and what must be among the words, or all of them.
CASES = (
    ("", {"report", "capture", "policy", "config"}, None),
    ("ca", None, ["capture"]),
    ("policy ", None, ["learn"]),
    ("report --link", None, ["--link-speed"]),
    ("--link", None, ["--link-speed"]),
    ("x.pcap --findi", None, ["--findings"]),
    ("report --color al", None, ["always"]),
    ("report --color=al", None, ["--color=always"]),
    ("capture -i ", {"lo", "any"}, None),
    ("capture --trigger loss,go_back_n_s", None, ["loss,go_back_n_storm"]),
    ("packets -e infiniband.bth.op", None, ["infiniband.bth.opcode"]),
    ("check --policy nvi", None, ["nvidia"]),
    ("check x.pcap --show-policy nvidia --fail-on fat", None, ["fatal"]),
    ("export x.pcap -o ", None, []),
    ("report ", None, []),
    ("report -- --", None, []),
    ("store prune --ke", None, ["--keep"]),
)


class Completion(unittest.TestCase):
    def test_words(self):
        for typed, among, exactly in CASES:
            found = words_for(*typed.split(" "))
            if exactly is not None:
                self.assertEqual(found, exactly, typed)
            else:
                self.assertLessEqual(among, set(found), typed)
        self.assertEqual(words_for("packets", "-Y", "ip.src == 1 && infiniband.bth.op"),
                         ["ip.src == 1 && infiniband.bth.opcode"])

    def test_every_option_of_every_command(self):
        for command in words_for(""):
            inner = words_for(command, "")
            below = [word for word in inner if re.fullmatch("[a-z]+", word)] if command in ("policy", "store", "config") else []
            for words in [[command, name] for name in below] or [[command]]:
                out = run(PROGRAM, *words, "--help")
                shown = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", out, re.MULTILINE))
                self.assertLessEqual(shown, set(words_for(*words, "--")), words)

    def test_every_finding_is_a_trigger(self):
        pages = os.path.join(os.path.dirname(SAMPLES), "docs", "findings")
        rules = set(words_for("capture", "--trigger", ""))
        self.assertGreater(len(rules & {name[:-3] for name in os.listdir(pages)}), 40)

    def bash(self, line):
        script = ('source <(roceanalyze completion bash); COMP_LINE=$1 COMP_POINT=${#1}; compopt() { :; }; '
                  '_roceanalyze; printf "%s\\n" "${COMPREPLY[@]}"')
        return [word for word in run("bash", "--norc", "-c", script, "bash", line).splitlines() if word]

    def test_bash(self):
        for typed, among, exactly in CASES:
            found = self.bash("roceanalyze " + typed)
            if exactly is not None:
                # bash splits at "=" and replaces what follows.
                self.assertEqual(found, [word.split("=")[-1] for word in exactly], typed)
            else:
                self.assertLessEqual(among, set(found), typed)
        self.assertEqual(self.bash("roceanalyze packets x.pcap -Y 'ip.src == 1 && infiniband.bth.op"),
                         ["ip.src == 1 && infiniband.bth.opcode"])
        self.assertEqual(self.bash("roceanalyze packets x.pcap -Y 'infiniband.bth.op"), ["infiniband.bth.opcode"])

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish(self):
        with tempfile.TemporaryDirectory() as home:
            for typed, among, exactly in CASES:
                if exactly == []:  # then files
                    continue
                script = f"set -x HOME {home}; roceanalyze completion fish | source; complete -C 'roceanalyze {typed}'"
                found = [line.split("\t")[0] for line in run("fish", "--no-config", "-c", script).splitlines()]
                if exactly is not None:
                    self.assertEqual(found, exactly, typed)
                else:
                    self.assertLessEqual(among, set(found), typed)

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh(self):
        """What the function gives to _describe, with a stand-in for the completion system."""
        for typed, among, exactly in CASES:
            script = ("compdef() { : }; _files() { : }; _describe() { print -rl -- ${(P)2%%:*} }; "
                      "source <(roceanalyze completion zsh); words=(roceanalyze \"$@\"); CURRENT=$#words; _roceanalyze")
            found = [w for w in run("zsh", "-f", "-c", script, "zsh", *typed.split(" ")).splitlines() if w]
            if exactly is not None:
                self.assertEqual(found, exactly, typed)
            else:
                self.assertLessEqual(among, set(found), typed)


if __name__ == "__main__":
    unittest.main()

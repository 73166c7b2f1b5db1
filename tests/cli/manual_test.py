#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages: one of each command, no warnings of mandoc and groff, every option. Usage: manual_test.py ROCEANALYZE SAMPLES"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
MANUAL = os.path.join(os.path.dirname(PROGRAM), "roceanalyze_manual")
DOCS = os.path.join(os.path.dirname(SAMPLES), "docs")


def run(*words, **options):
    return subprocess.run(words, check=False, timeout=120, capture_output=True, text=True, **options)


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        cls.folder = cls.keep.name
        done = run(MANUAL, DOCS, cls.folder, "2026-11-20")
        assert done.returncode == 0, done.stderr
        cls.pages = {}
        for name in os.listdir(cls.folder):
            with open(os.path.join(cls.folder, name), encoding="utf-8") as file:
                cls.pages[name] = file.read()

    @classmethod
    def tearDownClass(cls):
        cls.keep.cleanup()

    def commands(self):
        out = run(PROGRAM, "--help").stdout
        return re.findall(r"^  (\w+) +\S", out[out.index("Subcommands:"):], re.MULTILINE)

    def test_every_command_has_a_page_and_each_leads_to_others(self):
        commands = self.commands()
        self.assertGreater(len(commands), 20)
        expected = {f"roceanalyze-{command}.1" for command in commands} | {
            "roceanalyze.1", "roceanalyze-filters.7", "roceanalyze-policy-file.5", "roceanalyze.toml.5"}
        self.assertEqual(set(self.pages), expected)
        for name, text in self.pages.items():
            for page, section in re.findall(r"^\.BR (roceanalyze\S*) \((\d)\)", text, re.MULTILINE):
                self.assertIn(page.replace("\\", "") + "." + section, expected, name)

    def test_every_option_of_the_help_is_in_its_page(self):
        for command in self.commands():
            out = run(PROGRAM, command, "--help").stdout
            page = self.pages[f"roceanalyze-{command}.1"]
            for option in re.findall(r"^  (-\w|--[\w-]+)", out, re.MULTILINE):
                self.assertIn("\\fB" + option.replace("-", "\\-") + "\\fR", page, (command, option))

    def test_every_field_is_in_the_page_of_filters(self):
        fields = [line.split("\t")[0] for line in run(PROGRAM, "packets", "--list-fields").stdout.splitlines()]
        self.assertGreater(len(fields), 300)
        for field in fields:
            self.assertIn(f".B {field.replace('-', chr(92) + '-')}\n", self.pages["roceanalyze-filters.7"])

    def test_no_warnings(self):
        paths = [os.path.join(self.folder, name) for name in self.pages]
        if shutil.which("mandoc"):
            self.assertEqual(run("mandoc", "-T", "lint", "-W", "warning", *paths).stdout, "")
        if shutil.which("groff"):
            for path in paths:
                done = run("groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-z", path)
                self.assertEqual((done.returncode, done.stderr), (0, ""), path)

    def test_documents_become_text(self):
        """Nothing of Markdown is left: no marks, no links, no rules of tables."""
        for name in ("roceanalyze-filters.7", "roceanalyze-policy-file.5", "roceanalyze.toml.5"):
            text = self.pages[name]
            self.assertNotRegex(text, r"\]\(|^\||^#|\*\*|\\\(ga", name)
            self.assertIn(".EX\n", text)
        self.assertIn(".TP\n\\fB===\\fR\n\\fBall_eq\\fR; the field", self.pages["roceanalyze-filters.7"])

    def test_a_missing_document_is_named(self):
        done = run(MANUAL, self.folder, self.folder, "2026-11-20")
        self.assertEqual(done.returncode, 3)
        self.assertIn("usage.md is missing", done.stderr)


if __name__ == "__main__":
    unittest.main()

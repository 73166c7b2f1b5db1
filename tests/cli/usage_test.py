#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line: -r, mistyped commands and options, empty tables, options of all commands, text without UTF-8.
Usage: usage_test.py ROCEANALYZE SAMPLES"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
RPING = os.path.join(SAMPLES, "03_rping.pcap")
LOSS = os.path.join(SAMPLES, "04_write_loss1.ca.pcap.zst")
TABLES = ("flows", "connections", "incidents", "paths", "pairs", "markings", "pauses", "dcbx")
NOTHING = ("-Y", "frame.number > 1000000")


def run(*words, **options):
    """Exit status, output and messages."""
    options.setdefault("env", {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"})
    done = subprocess.run([PROGRAM, *words], check=False, timeout=120, capture_output=True, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Usage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def refused(self, words, *expected, **options):
        status, out, err = run(*words, **options)
        self.assertEqual((status, out), (2, ""), (words, err))
        for text in expected:
            self.assertIn(text, err, words)
        return err

    # --- -r ------------------------------------------------------------------------------------------

    def test_r_names_a_capture_in_all_commands(self):
        self.assertEqual(run("-r", RPING), run(RPING))
        for words in (["report"], ["packets"], *([table] for table in TABLES), ["check", "--policy", "nvidia"],
                      ["policy", "learn"], ["export", "--output", "-", "--format", "ndjson"]):
            by_place = run(*words, RPING)
            self.assertEqual(run(*words, "-r", RPING), by_place, words)
            self.assertEqual(run(*words, f"-r{RPING}"), by_place, words)
            self.assertNotEqual(by_place[1], "", words)

    def test_r_may_be_repeated_and_stand_beside_files(self):
        def files(*words):
            status, out, _ = run("report", "--json", *words)
            self.assertEqual(status, 0, words)
            return [os.path.basename(f["path"]) for f in json.loads(out)["capture"]["files"]]

        names = [os.path.basename(RPING), os.path.basename(LOSS)]
        self.assertEqual(files("-r", RPING, "-r", LOSS), names)
        self.assertEqual(files("-r", RPING, LOSS), names)
        self.assertEqual(files(RPING, "-r", LOSS), names)

    def test_standard_input_is_read_once(self):
        for words in (["-", "-"], ["-r", "-", "-"], ["-r", "-", "-r", "-"]):
            for command in ([], ["report"], ["packets"], *([table] for table in TABLES),
                            ["check", "--policy", "nvidia"], ["policy", "learn"],
                            ["export", "--output", os.path.join(self.folder, "x.json")]):
                self.refused([*command, *words], "standard input (-) is named more than once", input=b"")
        self.refused(["compare", "-", "-"], "standard input", input=b"")
        self.refused(["host", "--before", "b.json", "--capture", "-", "--capture", "-"],
                     "standard input (-) is named more than once", input=b"")
        self.assertEqual(os.listdir(self.folder), [])

    # --- mistyped words ------------------------------------------------------------------------------

    def test_a_mistyped_command_is_named_with_the_nearest(self):
        for typed, meant in (("conections", "connections"), ("fl0ws", None), ("reprot", "report"),
                             ("Packets", "packets"), ("exprot", "export"), ("statistics", None)):
            if typed.isalpha():
                err = self.refused([typed, RPING], f"unknown command '{typed}'")
                self.assertIn(f"did you mean '{meant}'?" if meant else "commands are: report, packets", err)
        self.refused(["policy", "lern", RPING], "policy: unknown command 'lern'; did you mean 'learn'?")
        self.refused(["--no-icrc", "connections", RPING], "the command 'connections' must be the first word")
        self.refused(["flows"], "flows: no FILE given")
        self.refused(["devices", "eth0"], "devices: unexpected argument 'eth0'")

    def test_a_file_with_the_name_of_a_mistyped_command_is_a_file(self):
        with open(RPING, "rb") as file:
            self.write("conections", file.read())
        status, out, err = run("conections", cwd=self.folder)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("125 packets", out)
        # What does not look like a command is a missing file.
        self.assertEqual(run("conections.pcap", cwd=self.folder)[0], 3)

    def test_a_mistyped_option_is_named_with_the_nearest(self):
        for words, text in (
                (["report", "--jsno", RPING], "report: unknown option '--jsno'; did you mean '--json'?"),
                (["--jsno", RPING], "unknown option '--jsno'; did you mean '--json'?"),
                (["--versoin"], "unknown option '--versoin'; did you mean '--version'?"),
                (["flows", RPING, "--srot", "lost"], "flows: unknown option '--srot'; did you mean '--sort'?"),
                (["check", "--polcy=nvidia", RPING], "check: unknown option '--polcy'; did you mean '--policy'?"),
                # What else is missing is a consequence.
                (["export", RPING, "--outptu", "x.json"], "unknown option '--outptu'; did you mean '--output'?"),
                (["flows", "--srot"], "unknown option '--srot'"),
                (["policy", "learn", RPING, "--form", "x"], "policy learn: unknown option '--form'; did you mean '--from'?"),
                (["packets", "-v", RPING], "unknown option '-v'; did you mean '-V'?"),
                (["report", "-json", RPING], "unknown option '-json'; did you mean '--json'?")):
            self.refused(words, text)
        for option in ("--frobnicate", "-q"):
            self.assertNotIn("did you mean", self.refused(["report", option, RPING], f"unknown option '{option}'"))

    # --- nothing to show -----------------------------------------------------------------------------

    def test_empty_tables_state_that(self):
        for table, what in zip(TABLES, ("flows", "connections", "incidents", "paths", "pairs of hosts", "markings", "PAUSE or PFC frames", "DCBX settings")):
            self.assertEqual(run(table, RPING, *NOTHING),
                             (0, f"No {what} in the 0 packets that filter and time range select.\n", ""), table)
            status, out, _ = run(table, RPING, *NOTHING, "--csv")
            self.assertEqual((status, out.count("\r\n")), (0, 1), table)
            status, out, _ = run(table, RPING, *NOTHING, "--json")
            self.assertEqual((status, json.loads(out)["schema"]), (0, "roceanalyze/1"), table)
        self.assertEqual(run("pauses", RPING), (0, "No PAUSE or PFC frames in 125 packets.\n", ""))

    def test_packets_without_a_match_state_that_beside_the_output(self):
        text = "roceanalyze: no packet matches: 125 packets were read\n"
        self.assertEqual(run("packets", RPING, *NOTHING), (0, "", text))
        self.assertEqual(run("packets", RPING, *NOTHING, "-w", os.path.join(self.folder, "n.pcapng")), (0, "", text))
        for form in (["-T", "json"], ["-T", "fields", "-e", "frame.number"]):
            self.assertEqual(run("packets", RPING, *NOTHING, *form), (0, "", ""))

    # --- options of the commands -----------------------------------------------------------------------

    def test_output_names_the_target_of_an_export(self):
        rows = []
        for i, option in enumerate(("-o", "--output", "--to")):
            path = os.path.join(self.folder, f"{i}.ndjson")
            self.assertEqual(run("export", RPING, option, path), (0, "", ""))
            with open(path, encoding="utf-8") as file:
                rows.append(file.read())
        self.assertEqual(rows, rows[:1] * 3)
        self.refused(["export", RPING], "--output is required")

    def test_fail_on_works_where_captures_are_analysed(self):
        for words in (["report"], *([table, "--csv"] for table in TABLES), ["policy", "learn"],
                      ["export", "--output", "-", "--format", "ndjson"]):
            status, out, _ = run(*words, LOSS)
            self.assertEqual(status, 0, words)
            self.assertEqual(run(*words, LOSS, "--fail-on", "warning")[:2], (1, out), words)
            self.assertEqual(run(*words, RPING, "--fail-on", "error")[0], 0, words)

    def test_check_prints_the_report_as_html(self):
        status, out, _ = run("check", LOSS, "--policy", "nvidia", "--html")
        self.assertEqual(status, 1)
        self.assertEqual(out, run("report", LOSS, "--policy", "nvidia", "--html")[1])
        self.refused(["check", LOSS, "--policy", "nvidia", "--html", "--json"], "--html")
        self.refused(["check", LOSS, "--policy", "nvidia", "--html", "--junit", "-"], "standard output")

    def test_jobs_do_not_change_a_comparison(self):
        words = ["compare", LOSS, LOSS.replace(".ca.", ".cb."), "--json"]
        self.assertEqual(run(*words, "--jobs", "1"), run(*words))

    def test_packets_as_json_have_the_bytes_with_x_only(self):
        for words, expected in ((["-T", "json"], False), (["-T", "json", "-x"], True),
                                (["-T", "json", "-e", "frame.number"], False),
                                (["-T", "json", "-e", "frame.number", "-x"], True)):
            packet = json.loads(run("packets", RPING, "-c", "1", *words)[1])
            self.assertEqual("frame" in packet, expected, words)
        self.assertEqual(len(packet["frame"]), 2 * 322)

    # --- text where the locale is not UTF-8 --------------------------------------------------------------

    def text(self, *words, **variables):
        plain = {key: value for key, value in os.environ.items() if key != "LANG" and not key.startswith("LC_")}
        return run(*words, env={**plain, "NO_COLOR": "1", **variables})

    def test_text_is_ascii_without_utf8(self):
        for variables in ({}, {"LANG": "C"}, {"LC_ALL": "POSIX"}, {"LC_ALL": "C", "LANG": "C.UTF-8"},
                          {"LC_CTYPE": "de_XX.ISO-8859-1"}):
            for words in (["packets", RPING], ["packets", RPING, "-V", "-c", "9"], [LOSS], ["connections", LOSS],
                          ["check", LOSS, "--policy", "nvidia"]):
                _, out, err = self.text(*words, **variables)
                self.assertTrue(out and out.isascii() and err.isascii(), (words, variables))
            self.assertIn("10.77.0.1 -> 10.77.0.2", self.text("packets", RPING, "-c", "1", **variables)[1])
        for variables in ({"LANG": "C.UTF-8"}, {"LC_ALL": "C.utf8", "LANG": "C"}, {"LC_CTYPE": "de_XX.UTF-8@euro"}):
            self.assertIn("10.77.0.1 → 10.77.0.2", self.text("packets", RPING, "-c", "1", **variables)[1])

    def test_formats_for_programs_are_utf8_in_every_locale(self):
        with open(RPING, "rb") as file:
            path = self.write("Zürich.pcap", file.read())
        for words in (["report", "--json"], ["report", "--html"], ["connections", "--csv"], ["packets", "-T", "json"],
                      ["export", "--output", "-", "--format", "ndjson"]):
            self.assertEqual(self.text(*words, path), run(*words, path), words)
        self.assertIn('/Zürich.pcap"', self.text("report", "--json", path)[1])

    def test_names_are_escaped_without_utf8(self):
        path = os.path.join(self.folder, "Zürich→\x9b.pcap")
        with open(RPING, "rb") as file:
            self.write(os.path.basename(path), file.read())
        out = self.text("report", path, LC_ALL="C")[1]
        self.assertIn("Z\\xc3\\xbcrich", out)
        self.assertTrue(out.isascii())
        self.assertIn("Z\\xc3\\xbcrich-absent", self.text("report", "Zürich-absent.pcap", LC_ALL="C")[2])


if __name__ == "__main__":
    unittest.main()

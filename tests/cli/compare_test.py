#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command `compare`: outputs, exit status, pipes, damaged and strange input. Usage: compare_test.py ROCEANALYZE
SAMPLES"""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SAMPLES = [os.path.abspath(path) for path in sys.argv[1:3]]
del sys.argv[1:3]

LOSS = [os.path.join(SAMPLES, f"04_write_loss1.{point}.pcap.zst") for point in ("ca", "cb")]
ANSWERS = [os.path.join(SAMPLES, f"04_atomic_ackloss5.{point}.pcap") for point in ("ca", "cb")]
OTHER = os.path.join(SAMPLES, "03_rping.pcap")


def run(*arguments, status=0, **more):
    result = subprocess.run([PROGRAM, "compare", *arguments], capture_output=True, timeout=120, check=False, **more)
    assert result.returncode == status, (arguments, result.returncode, result.stderr)
    return result.stdout.decode(), result.stderr.decode()


def said(*arguments, **more):
    return json.loads(run(*arguments, "--json", **more)[0])


class Compare(unittest.TestCase):
    def test_the_rows_of_repeats_have_a_heading_of_their_own(self):
        text, _ = run(*ANSWERS)
        self.assertIn("\nRepeated    the first 20 of 26 rows", text)
        self.assertIn("because a response was lost", " ".join(text.split()))
        self.assertNotIn(" 0 packets of the other", " ".join(text.split()))

    def test_text_has_verdict_losses_and_clocks(self):
        text, errors = run(*LOSS)
        for words in ("Packets lost between the points", "46 of 3669 packets", "B's clock is", "lost between",
                      "after a loss between the points"):
            self.assertIn(words, text)
        self.assertEqual(errors, "")

    def test_every_key_is_there(self):
        report = said(*LOSS)
        for key in ("lost", "lost_a_to_b", "lost_b_to_a", "clock_offset_ns", "delay_ns", "changed", "findings"):
            self.assertIn(key, report)
        self.assertEqual(set(report["lost"][0]) & {"connection", "psn", "packet", "repaired_by"},
                         {"connection", "psn", "packet", "repaired_by"})
        self.assertLessEqual({"dscp", "pcp", "ecn", "ttl", "vlan"}, set(report["changed"]))

    def test_the_other_way_round_is_the_same_with_changed_names(self):
        one, other = said(*ANSWERS), said(*reversed(ANSWERS))
        self.assertEqual((one["lost_a_to_b"], one["lost_b_to_a"]), (other["lost_b_to_a"], other["lost_a_to_b"]))
        self.assertEqual([l["packet"] for l in one["lost"]], [l["packet"] for l in other["lost"]])
        self.assertEqual(one["clock_offset_error_ns"], other["clock_offset_error_ns"])
        self.assertAlmostEqual(one["clock_offset_ns"], -other["clock_offset_ns"], delta=1)  # half a nanosecond

    def test_lost_packets_as_csv_are_those_of_json(self):
        rows = list(csv.DictReader(io.StringIO(run(*ANSWERS, "--csv")[0], newline="")))
        lost = said(*ANSWERS)["lost"]
        self.assertEqual([(int(r["packet"]), int(r["psn"]), r["direction"]) for r in rows],
                         [(l["packet"], l["psn"], l["direction"]) for l in lost])

    def test_repeats_have_their_causes(self):
        report = said(*ANSWERS)
        for direction in ("a_to_b", "b_to_a"):
            counts = dict(report["retransmissions"][direction])
            packets = counts.pop("packets")
            self.assertEqual(packets, sum(counts.values()))
            rows = [row for row in report["repeats"] if row["direction"] == direction]
            self.assertEqual(packets, sum(row["packets"] for row in rows))
            for row in rows:
                self.assertEqual(row["cause"], "response_lost_between")
        lost = {l["packet"] for l in report["lost"]}
        self.assertLessEqual({row["shown_by"]["packet"] for row in report["repeats"] if row["direction"] == "a_to_b"}, lost)
        rows = list(csv.DictReader(io.StringIO(run(*ANSWERS, "--csv", "--repeats")[0], newline="")))
        self.assertEqual([(int(r["packet"]), r["cause"], r["shown_in"]) for r in rows],
                         [(r["packet"], r["cause"], r["shown_by"]["in"]) for r in report["repeats"]])
        self.assertIn("response lost between", run(*ANSWERS)[0])
        run(*ANSWERS, "--repeats", status=2)

    def test_paths_sum_up_to_the_figures_of_both_directions(self):
        for files in (LOSS, ANSWERS):
            report = said(*files)
            for direction, lost in (("a_to_b", "lost_a_to_b"), ("b_to_a", "lost_b_to_a")):
                paths = [path for path in report["paths"] if path["direction"] == direction]
                self.assertEqual(sum(path["lost"] for path in paths), report[lost])
                self.assertEqual(sum(path["packets"] for path in paths), report["matched"][direction] + report[lost])
                self.assertEqual(sum(path["delay_ns"]["count"] for path in paths), report["delay_ns"][direction]["count"])
            self.assertEqual(report["paths_omitted"], 0)
            # One path each way: the figures of both directions say it.
            self.assertNotIn("\nPaths ", run(*files)[0])

    def test_connections_are_those_of_the_report(self):
        lost = said(*ANSWERS)["lost"][0]
        shown = subprocess.run([PROGRAM, "packets", ANSWERS[1], "-Y", f"frame.number == {lost['packet']}", "-T", "fields",
                                "-e", "roce.connection", "-e", "infiniband.bth.psn"], capture_output=True, check=True)
        self.assertEqual(shown.stdout.decode().split(), [str(lost["connection"]), str(lost["psn"])])

    def test_a_pipe_says_the_same(self):
        with open(ANSWERS[0], "rb") as file:
            piped = said("-", ANSWERS[1], stdin=file)
        named = said(*ANSWERS)
        for report in (piped, named):
            report["a"]["files"] = []
        # Only what a file shows has a connection's number: a pipe cannot be read twice.
        for repeat in named["repeats"]:
            if repeat["direction"] == "a_to_b":
                repeat["connection"] = None
        self.assertEqual(piped, named)

    def test_a_point_may_have_several_files(self):
        with tempfile.TemporaryDirectory() as folder:
            pieces = []
            for point, path in zip("ab", LOSS):
                for name, numbers in (("1", "frame.number <= 1000"), ("2", "frame.number in {1001 .. 2000}"),
                                      ("3", "frame.number > 2000")):
                    pieces.append(os.path.join(folder, point + name))
                    subprocess.run([PROGRAM, "packets", path, "-Y", numbers, "-w", pieces[-1]], check=True)
            a, b = pieces[:3], pieces[3:]
            whole = said(*LOSS)
            cut = said(a[1], b[0], "--more-b", b[2], "--more-a", a[0], "--more-a", a[2], "--more-b", b[1])
            self.assertEqual([file["path"] for file in cut["a"]["files"]], [a[1], a[0], a[2]])
            for report in (whole, cut):
                del report["a"]["files"], report["b"]["files"]
                # A finding names its packets by the file that a command can show them in.
                for finding in report["findings"]:
                    del finding["advice"]
            self.assertEqual(cut, whole)
            run("-", b[0], "--more-a", "-", status=2)

    def test_a_container_makes_no_difference(self):
        with tempfile.TemporaryDirectory() as folder:
            packed = os.path.join(folder, "a.gz")
            with open(ANSWERS[0], "rb") as plain, gzip.open(packed, "wb") as file:
                file.write(plain.read())
            one, other = said(*ANSWERS), said(packed, ANSWERS[1])
        for report in (one, other):
            report["a"]["files"] = []
        self.assertEqual(one, other)

    def test_fail_on(self):
        run(*LOSS, "--fail-on", "error", status=1)
        run(*LOSS, "--fail-on", "degraded", status=1)
        run(*LOSS, "--fail-on", "fatal")
        run(*ANSWERS, "--fail-on", "info", status=1)
        run(OTHER, OTHER, "--fail-on", "info")

    def test_other_traffic_is_named_so(self):
        report = said(LOSS[0], OTHER, "--fail-on", "error", status=1)
        self.assertFalse(report["same_traffic"])
        self.assertEqual((report["lost_a_to_b"], report["lost_b_to_a"], report["lost"]), (0, 0, []))
        self.assertEqual(report["findings"][0]["id"], "not_same_traffic")
        self.assertIn("do not show the same traffic", run(LOSS[0], OTHER)[0])

    def test_a_file_without_roce_is_named_so(self):
        with tempfile.TemporaryDirectory() as folder:
            empty = os.path.join(folder, "empty.pcap")
            with open(ANSWERS[0], "rb") as whole, open(empty, "wb") as file:
                file.write(whole.read(24))  # pcap's file header
            for pair in ((ANSWERS[0], empty), (empty, ANSWERS[0]), (empty, empty)):
                report = said(*pair, "--fail-on", "error", status=1)
                self.assertFalse(report["same_traffic"])
                self.assertEqual([f["id"] for f in report["findings"]], ["not_same_traffic"])
                self.assertIn("shows no RoCE packet", report["findings"][0]["explanation"])

    def test_a_file_cut_short_is_compared_as_far_as_it_goes(self):
        with tempfile.TemporaryDirectory() as folder:
            cut = os.path.join(folder, "cut.pcap")
            with open(ANSWERS[1], "rb") as whole, open(cut, "wb") as file:
                file.write(whole.read(60_000))
            text, errors = run(ANSWERS[0], cut, "--json", status=3)
            report = json.loads(text)
            self.assertGreater(report["matched"]["a_to_b"], 100)
            self.assertEqual(report["lost_a_to_b"], 0)  # not covered is not lost
            self.assertGreater(report["not_covered"]["a_to_b"], 100)
            self.assertIn("cut.pcap", errors)

    def test_a_filter_and_times_choose_of_both(self):
        whole = said(*LOSS)
        data = said(*LOSS, "-Y", "roce.class == data")
        self.assertEqual(data["lost_a_to_b"], whole["lost_a_to_b"])
        self.assertEqual((data["matched"]["b_to_a"], whole["matched"]["b_to_a"] > 0), (0, True))
        self.assertEqual([lost["packet"] for lost in data["lost"]], [lost["packet"] for lost in whole["lost"]])
        first = min(lost["time"] for lost in whole["lost"])
        until = said(*LOSS, "--to", f"{first // 10**9}.{first % 10**9:09}")
        self.assertLessEqual(until["lost_a_to_b"], 1)  # B's file may end before its fellow would have come
        self.assertLess(until["matched"]["a_to_b"], whole["matched"]["a_to_b"])
        self.assertEqual(until["a"]["packets"], whole["a"]["packets"])
        run(*LOSS, "-Y", "infiniband.bth.psm == 1", status=2)
        self.assertIn("packets FILE -Y", run(*LOSS, "-Y", "roce.analysis.retransmission", status=2)[1])
        run(*LOSS, "--from", "yesterday", status=2)
        self.assertIn("later than --to", run(*LOSS, "--from", "+2", "--to", "+1", status=2)[1])

    def test_wrong_usage_and_missing_files(self):
        run(LOSS[0], status=2)
        run("-", "-", status=2)
        run(*LOSS, "--json", "--csv", status=2)
        run(*LOSS, "--fail-on", "nothing", status=2)
        self.assertIn("no_such_file", run(LOSS[0], "no_such_file", status=3)[1])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times: captures without any, the bounds --from and --to, and inputs that can be read only once.
Usage: times_test.py ROCEANALYZE SAMPLES"""

import datetime
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SAMPLES = sys.argv.pop(1), sys.argv.pop(1)
SAMPLE = os.path.join(SAMPLES, "03_rping.pcap")  # from 2026-07-29 on
FORMS = ("2026-11-20T12:08:53+01:00 or Z", "on the UTC day of the first packet", "seconds since the epoch",
         "+1.5, seconds after the first packet")


def run(*words, stdin=None):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=60, capture_output=True, input=stdin,
                          env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def stamped(data, stamp):
    """The pcap with the seconds and fractions that `stamp` gives to record i."""
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    out, at, i = bytearray(data[:24]), 24, 0
    while at < len(data):
        size = struct.unpack_from(order + "I", data, at + 8)[0]
        out += struct.pack(order + "II", *stamp(i)) + data[at + 8 : at + 16 + size]
        at, i = at + 16 + size, i + 1
    return bytes(out)


class WithoutTimes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "zero.pcap")
        with open(SAMPLE, "rb") as f:
            cls.data = f.read()
        with open(cls.path, "wb") as f:
            f.write(stamped(cls.data, lambda i: (0, 0)))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_report_says_so_and_leaves_out_what_takes_times(self):
        status, text, errors = run("report", self.path)
        self.assertEqual(status, 3, errors)
        self.assertIn("(frames without a timestamp)", errors)
        self.assertIn("the capture has no timestamps", text)
        for word in ("1970", "0 ns", "b/s"):
            self.assertNotIn(word, text)
        got = json.loads(run("report", "--json", self.path)[1])
        self.assertIsNone(got["capture"]["first_time"])
        for thing in got["flows"] + got["connections"]:
            self.assertIsNone(thing["first_time"], thing)
        timed = json.loads(run("report", "--json", SAMPLE)[1])
        self.assertEqual(len(got["connections"]), len(timed["connections"]))
        incident = [d for d in got["diagnostics"] if d["id"] == "no_timestamp"]
        self.assertEqual(incident[0]["count"], got["capture"]["packets"])
        for table in ("flows", "connections"):
            self.assertNotIn("1970", run(table, "--csv", self.path)[1])
            self.assertEqual(run(table, self.path)[0], 3)

    def test_a_bound_in_time_is_an_error(self):
        for words in (("report",), ("flows",), ("packets",), ("report", "--json")):
            for bound in (("--from", "+1"), ("--to", "2026-07-29")):
                status, text, errors = run(*words, self.path, *bound)
                self.assertEqual((status, text), (2, ""), words)
                self.assertIn("this capture has no timestamps", errors)

    def test_a_simulation_that_starts_at_zero_keeps_its_times(self):
        path = os.path.join(self.folder.name, "simulated.pcap")
        with open(path, "wb") as f:
            f.write(stamped(self.data, lambda i: (0, 1000 * i)))
        got = json.loads(run("report", "--json", path)[1])
        self.assertEqual(got["capture"]["first_time"] % 1000, 0)
        self.assertGreater(got["capture"]["duration_ns"], 0)


class Bounds(unittest.TestCase):
    def test_forms_of_a_time(self):
        for text in ("2023-11-14", "2023-11-14 22:13", "2023-11-14T22:13", "2023-11-14T22:13Z", "2023-11-14 22:13:20",
                     "2023-11-14T22:13:20.5Z", "2023-11-14T23:13:20+01:00", "2023-11-14 23:13+0100",
                     "2023-11-14 22:13:20 UTC", "1700000000", "1700000000.25", "+0", "+1.5", "00:00", "00:00:00.5"):
            for words in (("report",), ("packets",)):
                status, _, errors = run(*words, SAMPLE, "--from", text)
                self.assertEqual((status, errors), (0, ""), (words, text))

    def test_what_is_no_time_is_refused_with_the_forms(self):
        for text in ("2:13", "22:13:", "24:00", "22:13Z", "2023-11-14T22:13+1", "2023-11-14T22:13 CET", "2023-11-14 22", "2023-11-14 22:13:", "2023-11-14 22:13.5", "2023-02-30", "2023-11-14.5",
                     "2023-11-14 25:00", "+2023-11-14", "+-1", "+", "now", "1.", "2023-11-14 22:13:20 x", ""):
            for words in (("report",), ("packets",)):
                if text == "" and words == ("packets",):
                    continue  # as if it were not given
                status, _, errors = run(*words, SAMPLE, "--from", text)
                self.assertNotEqual(status, 0, (words, text))
                for form in FORMS:
                    self.assertIn(form, " ".join(errors.split()), (words, text))

    def packets(self, *words):
        status, text, errors = run("report", "--json", *words)
        self.assertEqual((status, errors), (0, ""), words)
        return json.loads(text)["capture"]["packets"]

    def test_a_zone_and_a_time_of_day_are_the_same_moment(self):
        frames = run("packets", SAMPLE, "-T", "fields", "-e", "frame.time_epoch")[1].split()
        middle = frames[len(frames) // 2]
        wanted = len(frames) - frames.index(middle)
        at = datetime.datetime.fromtimestamp(int(middle.split(".")[0]), datetime.timezone.utc)
        decimals = "." + middle.split(".")[1]
        east = at.astimezone(datetime.timezone(datetime.timedelta(hours=5, minutes=30)))
        west = at.astimezone(datetime.timezone(datetime.timedelta(hours=-8)))
        for text in (f"{at:%Y-%m-%dT%H:%M:%S}{decimals}", f"{at:%Y-%m-%d %H:%M:%S}{decimals} UTC",
                     f"{east:%Y-%m-%dT%H:%M:%S}{decimals}+05:30", f"{west:%Y-%m-%d %H:%M:%S}{decimals}-0800",
                     f"{west:%Y-%m-%dT%H:%M:%S}{decimals}-08", f"{at:%H:%M:%S}{decimals}", middle):
            self.assertEqual(self.packets(SAMPLE, "--from", text), wanted, text)
            status, lines, errors = run("packets", SAMPLE, "--from", text)
            self.assertEqual((status, errors, len(lines.splitlines())), (0, "", wanted), text)
            status, lines, errors = run("packets", SAMPLE, "-Y", f'frame.time >= "{text}"')
            if text[2] != ":" and text != middle:  # a filter is for any capture: it takes dates only
                self.assertEqual((status, errors, len(lines.splitlines())), (0, "", wanted), text)
            else:
                self.assertEqual(status, 2, text)

    def test_a_time_of_day_is_on_the_day_of_the_first_packet_of_all_files(self):
        with tempfile.TemporaryDirectory() as folder:
            midnight = 1795219200  # 2026-11-21 00:00:00
            with open(SAMPLE, "rb") as f:
                data = f.read()
            names = [os.path.join(folder, name) for name in ("late", "early")]
            for name, start in zip(names, (midnight + 3600, midnight - 3600)):
                with open(name, "wb") as f:
                    f.write(stamped(data, lambda i, start=start: (start, i)))
            late, early = names
            one = self.packets(late)
            self.assertEqual(self.packets(late, "--from", "01:00"), one)  # its own day
            self.assertEqual(self.packets(late, "--to", "00:59"), 0)
            self.assertEqual(self.packets(late, early, "--from", "23:30"), one)  # the day of early
            self.assertEqual(self.packets(late, early, "--to", "23:30"), one)
            self.assertEqual(self.packets(late, early, "--to", "01:00"), 0)
            self.assertEqual(run("packets", late, "--from", "02:00", "--to", "01:00")[0], 2)

    def test_every_command_with_times_takes_them(self):
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "f.json")
            for words in (("flows", SAMPLE, "--to"), ("compare", SAMPLE, SAMPLE, "--from"),
                          ("export", SAMPLE, "--to", target, "--force", "--until")):
                for text in ("23:59:59.9", "2027-11-14T23:13:20+01:00"):
                    status, _, errors = run(*words, text)
                    self.assertEqual(status, 0, (words, errors))

    def test_advice_repeats_a_time_with_blanks_as_one_word(self):
        text = run("report", os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst"), "--from", "2026-11-20 10:48:06 UTC")[1]
        self.assertIn("--from '2026-11-20 10:48:06 UTC'", " ".join(text.replace("\\\n", " ").split()))

    def test_a_form_without_seconds_is_the_whole_minute(self):
        frames = json.loads(run("report", "--json", SAMPLE)[1])["capture"]
        first = frames["first_time"] // 10**9
        minute = first - first % 60
        date = subprocess.run(["date", "-u", "-d", f"@{minute}", "+%F %R"], check=True, capture_output=True)
        text = date.stdout.decode().strip()
        for bound in (text, text.replace(" ", "T"), text + "Z"):
            got = json.loads(run("report", "--json", SAMPLE, "--from", bound)[1])
            self.assertEqual(got["capture"]["packets"], frames["packets"], bound)
            got = json.loads(run("report", "--json", SAMPLE, "--to", bound)[1])
            self.assertEqual(got["capture"]["packets"], 0, bound)

    def test_from_later_than_to_is_refused(self):
        for bounds in (("+2", "+1"), ("2026-07-30", "2026-07-29"), ("2100-01-01", "+1"), ("+1", "2000-01-01")):
            for words in (("report",), ("packets",)):
                status, text, errors = run(*words, SAMPLE, "--from", bounds[0], "--to", bounds[1])
                self.assertEqual((status, text), (2, ""), (words, bounds))
                self.assertIn("--from is later than --to", errors)


class Pipes(unittest.TestCase):
    NOTE = "a pipe is read only once"

    def test_what_later_packets_would_say_is_said_to_be_missing_once(self):
        with open(SAMPLE, "rb") as f:
            data = f.read()
        for words in ((), ("-Y", "roce.analysis.retransmission"), ("-V",)):
            status, _, errors = run("packets", "-", *words, stdin=data)
            self.assertEqual((status, errors.count(self.NOTE)), (0, 1), words)
        for words in (("--no-analysis",), ("-T", "fields", "-e", "ip.src"), ("--no-analysis", "-V")):
            self.assertEqual(run("packets", "-", *words, stdin=data)[::2], (0, ""), words)
        self.assertEqual(run("packets", SAMPLE)[2], "")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command `why`: stories of queue pairs of real captures, and errors of logs joined to them.
Usage: why_test.py ROCEANALYZE SAMPLES"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SAMPLES = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))


def sample(name):
    return os.path.join(SAMPLES, name)


SILENT, BAD_KEY = sample("06_retry_exceeded.ca.pcap.zst"), sample("06_badrkey_write.pcap")
NOT_READY, LOSS = sample("05_rnr_exhaust.pcap"), sample("04_write_loss1.ca.pcap.zst")
RPING, NO_SERVER = sample("03_rping_killed_client.pcap"), sample("03_rping_noserver.pcap")

NCCL = ("gpu-1:984:1357 [4] transport/net_ib.cc:1615 NCCL WARN NET/IB : Got completion from peer 10.1.0.9<44206> with status=12 "
        "opcode=129 len=65536 vendor err 129 (Recv) localGid ::ffff:10.77.0.1 remoteGids::ffff:10.77.0.2 hca mlx5_4\n")
UCX = ("[n1:31180:0:31180] ib_mlx5_log.c:177  Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)\n"
       "[n1:31180:0:31180] ib_mlx5_log.c:177  RC QP 0x94 wqe[446]: SEND --e [inl len 26] [rqpn 0x94 dlid=0 sl=0 port=1 "
       "src_path_bits=0 dgid=::ffff:10.77.0.2 flow_label=0x0 sgid_index=3 traffic_class=106]\n")
DMESG = ("[ 5.330649] infiniband mlx5_0: mlx5_handle_error_cqe:333:(pid 0): WC error: 10, Message: remote access error\n"
         "[ 5.332323] infiniband mlx5_0: dump_cqe:272:(pid 0): dump error cqe\n"
         "[ 5.332944] 00000000: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
         "[ 5.333574] 00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
         "[ 5.334202] 00000020: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
         "[ 5.334837] 00000030: 00 00 00 00 00 00 88 13 08 00 00 68 1e a1 42 d3\n")
PERFTEST = " Completion with error at client\n Failed status 13: wr_id 0 syndrom 0x0\nscnt=128, ccnt=0\n"


def run(*words, **options):
    """Exit status, output and messages."""
    options.setdefault("env", {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "200"})
    done = subprocess.run([PROGRAM, "why", *words], check=False, timeout=120, capture_output=True, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def told(*words, **options):
    """The JSON."""
    status, out, err = run(*words, "--json", **options)
    assert status == 0, (words, status, err)
    return json.loads(out)


def lines(story, kind):
    return [line for line in story["lines"] if line["kind"] == kind]


class Why(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, text, name="log"):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def one(self, *words, **options):
        stories = told(*words, **options)["stories"]
        self.assertEqual(len(stories), 1, words)
        return stories[0]

    # --- stories -------------------------------------------------------------------------------------

    def test_how_real_captures_ended(self):
        for capture, qp, badly, headline, kinds in (
                (SILENT, "0x94", True, "10.77.0.1 gave up at packet 9709: RDMA WRITE First was sent 5 times",
                 {"begin", "incident", "steady", "end", "diagnosis", "application", "next"}),
                (BAD_KEY, "0x68", True, "10.77.0.2 refused RDMA WRITE First of 10.77.0.1 with NAK remote access error, 0x62",
                 {"begin", "incident", "end", "diagnosis", "application", "next"}),
                (NOT_READY, "0x66", True, "10.77.0.1 gave up: 10.77.0.2 had no receive posted",
                 {"begin", "incident", "end", "diagnosis", "application", "next"}),
                (RPING, "0xcb", False, "nothing went wrong as far as the capture shows; closed by the CM",
                 {"set_up", "begin", "steady", "end", "application", "next"}),
                (LOSS, "0x47", False, "22 incidents: loss downstream; at least 22 packets lost, 1749 packets sent again",
                 {"begin", "incident", "steady", "end", "diagnosis", "application", "next"}),
                (NO_SERVER, "0xf2", True, "10.77.0.2 rejected the connection (REJ, reason 8: invalid service ID)",
                 {"set_up", "end"})):
            story = self.one(capture, "--qp", qp)
            self.assertEqual(story["ended_badly"], badly, capture)
            self.assertTrue(story["headline"].startswith(headline), (capture, story["headline"]))
            self.assertEqual({line["kind"] for line in story["lines"]}, kinds, capture)

    def test_lines_are_in_order_and_add_up(self):
        for capture, qp in ((SILENT, "148"), (RPING, "203"), (LOSS, "71")):
            story = self.one(capture, "--qp", qp)
            packets = [line["first_packet"] for line in story["lines"]]
            known = [packet for packet in packets if packet is not None]
            self.assertEqual(known, sorted(known))
            self.assertEqual(packets[:len(known)], known, "what is about the whole comes last")
            for line in story["lines"]:
                if line["first_packet"] is not None:
                    self.assertLessEqual(line["first_packet"], line["last_packet"])
                    self.assertIsNotNone(line["time"])
        # Quiet from the first packet to the last: all of them.
        steady, = lines(self.one(RPING, "--qp", "0xcb"), "steady")
        self.assertIn("88 packets from 10.77.0.1, 89 packets from 10.77.0.2", steady["text"])

    def test_the_command_shows_the_packets(self):
        story = self.one(BAD_KEY, "--qp", "0x68")
        command, = lines(story, "next")
        test = command["text"].split("'")[1]
        done = subprocess.run([PROGRAM, "packets", BAD_KEY, "-Y", test, "-T", "fields", "-e", "frame.number"], check=True,
                              capture_output=True)
        numbers = done.stdout.decode().split()
        self.assertEqual((numbers[0], numbers[-1]), ("17", "29"))

    def test_a_pipe_tells_all_but_the_quiet_times(self):
        with open(RPING, "rb") as file:
            piped = self.one("-", "--qp", "0xcb", stdin=file)
        whole = self.one(RPING, "--qp", "0xcb")
        self.assertEqual(piped["headline"], whole["headline"])
        self.assertEqual([line for line in piped["lines"]], [line for line in whole["lines"] if line["kind"] != "steady"])

    def test_a_time_range_is_all_that_is_told(self):
        story = self.one(RPING, "--qp", "0xcb", "--from", "+1", "--to", "+2")
        steady, = lines(story, "steady")
        begin, = lines(story, "begin")
        self.assertEqual((steady["time"], steady["first_packet"]), (begin["time"], begin["first_packet"]))
        self.assertIn("31 packets from 10.77.0.1, 33 packets from 10.77.0.2", steady["text"])
        filtered = self.one(RPING, "--qp", "0xcb", "-Y", "infiniband.bth.opcode == 17")
        self.assertEqual(lines(filtered, "steady"), [])

    def test_both_ends_and_the_host(self):
        story = self.one(SILENT, "--qp", "0x94")
        self.assertTrue(story["both_sides"])
        for host, side in (("10.77.0.1", "a"), ("10.77.0.2", "b")):
            story = self.one(SILENT, "--qp", "0x94", "--host", host)
            self.assertEqual((story["side"], story["both_sides"]), (side, False))

    def test_text(self):
        status, out, err = run(SILENT, "--qp", "0x94")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith("QP 0x000094 10.77.0.1 QP 0x000094 > 10.77.0.2 QP 0x000094, RC, connection 0;"), out)
        self.assertIn("Packets     roceanalyze packets " + SILENT, out)
        narrow = run(SILENT, "--qp", "0x94", env={**os.environ, "LC_ALL": "C", "COLUMNS": "80"})[1]
        self.assertTrue(narrow.isascii())

    # --- what is not there ---------------------------------------------------------------------------

    def test_unknown_numbers(self):
        status, out, err = run(SILENT, "--qp", "0x2c10")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("no queue pair 0x2c10 (11280) in 10012 packets; there are 0x000094 of 10.77.0.1", err)
        self.assertIn("did you mean 0x000094 of 10.77.0.1 (148 in decimal)?", run(SILENT, "--qp", "94")[2])
        self.assertIn("10.77.0.9", run(SILENT, "--qp", "0x94", "--host", "10.77.0.9")[2])

    def test_wrong_usage(self):
        log = self.write(NCCL)
        for words, message in (((SILENT,), "which queue pair"),
                               ((SILENT, "--qp", "0"), "not a queue pair number"),
                               ((SILENT, "--qp", "0x1000000"), "not a queue pair number"),
                               ((SILENT, "--qp", "-1"), "--qp"),
                               ((SILENT, "--qp", "QP"), "not a queue pair number"),
                               ((SILENT, "--qp", "1", "--host", "name"), "not an address"),
                               ((SILENT, "--log", log, "--host", "10.0.0.1"), "--host needs --qp"),
                               (("-", "--log", "-"), "only once"),
                               ((SILENT, "--log", "-", "--log", "-"), "only once"),
                               ((SILENT, "--log", ""), "--log")):
            status, out, err = run(*words, stdin=subprocess.DEVNULL)
            self.assertEqual((status, out), (2, ""), (words, err))
            self.assertIn(message, err)
        self.assertEqual(run(SILENT, "--log", "/nowhere")[0], 3)
        status, _, err = run(SILENT, "--log", self.folder)
        self.assertEqual(status, 3)
        self.assertIn("directory", err)

    # --- logs ----------------------------------------------------------------------------------------

    def test_errors_are_joined(self):
        for capture, text, program, fit, shown, packet in ((SILENT, NCCL, "nccl", "fits", True, 9709),
                                                           (SILENT, UCX, "ucx", "fits", True, 9709),
                                                           (BAD_KEY, DMESG, "mlx5", "fits", True, 29),
                                                           (NOT_READY, PERFTEST, "perftest", "may_fit", True, 55),
                                                           (LOSS, NCCL, "nccl", "may_fit", False, None),
                                                           (BAD_KEY, UCX, "ucx", "not_here", None, None),
                                                           (LOSS, PERFTEST, "perftest", "names_nobody", None, None)):
            result = told(capture, "--log", self.write(text))
            error, = result["errors"]
            self.assertEqual((error["program"], error["fit"]), (program, fit), capture)
            if shown is None:
                self.assertEqual((error["matches"], result["stories"]), ([], []))
                continue
            match, = error["matches"]
            self.assertEqual((match["shown"], match["last_packet"]), (shown, packet), capture)
            story, = result["stories"]
            self.assertEqual(story["connection"], match["connection"])

    def test_several_logs_and_standard_input(self):
        first, second = self.write(NCCL, "nccl"), self.write(DMESG, "dmesg")
        result = told(SILENT, "--log", first, "--log", second, "--log", "-", input=UCX.encode())
        self.assertEqual([log["name"] for log in result["logs"]], [first, second, "-"])
        self.assertEqual([error["log"] for error in result["errors"]], [0, 1, 2])
        self.assertEqual(len(result["stories"]), 1)
        # Errors of other queue pairs are not told beside the story of one.
        others = told(sample("11_three_hosts.pcap.zst"), "--log", self.write(
            NCCL.replace("status=12", "status=5")))["errors"]
        self.assertEqual(len(others), 1)

    def test_hostile_logs(self):
        megabytes = b"x" * 5_000_000
        junk = bytes(range(256)) * 400
        log = self.write(junk + b"\n" + megabytes + b"\n" + NCCL.replace("\n", "\r\n").encode() * 1000 + b"\n\x1b[2J" +
                         UCX.rstrip("\n").encode() + megabytes)
        result = told(SILENT, "--log", log)
        self.assertEqual(len(result["errors"]), 2)
        self.assertEqual(result["errors"][0]["times"], 1000)
        out = run(SILENT, "--log", log)[1]
        self.assertNotIn("\x1b", out)
        self.assertTrue(all(len(line) < 400 for line in out.split("\n")))
        name = self.write("qp#148 state -> ERR \x1b[31m\x07\n", "\x1b[31mlog")
        self.assertNotIn("\x1b", run(SILENT, "--log", name)[1])

    def test_a_log_without_errors(self):
        status, out, _ = run(SILENT, "--log", self.write("all is well\n" * 3))
        self.assertEqual(status, 0)
        self.assertIn("no error of a queue pair in 3 lines of 1 log", out)

    def test_incomplete_captures_are_called_so(self):
        status, out, _ = run(SILENT, "--qp", "0x94", "-c", "1000")
        self.assertEqual(status, 3)
        self.assertTrue(out.startswith("INCOMPLETE  "), out)


if __name__ == "__main__":
    unittest.main()

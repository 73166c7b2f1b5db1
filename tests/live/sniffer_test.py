#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures of an RDMA device by the whole program, on the tests' own libibverbs.so.1, which is found by
LD_LIBRARY_PATH. Usage: sniffer_test.py LIVE_DUMP ROCEANALYZE SAMPLES"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

LIVE_DUMP, ROCEANALYZE, SAMPLES = (os.path.abspath(path) for path in sys.argv[1:4])
LIBRARY = os.path.join(os.path.dirname(LIVE_DUMP), "fake_ibverbs")
SAMPLE = os.path.join(SAMPLES, "03_rping.pcap")


def fields(path, *names):
    """What tshark reads in a file, a tuple a frame."""
    shown = subprocess.run(["tshark", "-n", "-r", path, "-T", "fields", *(word for name in names for word in ("-e", name))],
                           check=True, capture_output=True, text=True).stdout
    return [tuple(line.split("\t")) for line in shown.splitlines()]


def frames(path):
    """Times and bytes of a file's frames, as tshark has them."""
    shown = subprocess.run(["tshark", "-n", "-r", path, "-x", "-o", "nameres.mac_name:FALSE"], check=True,
                           capture_output=True, text=True).stdout
    return [times[0] for times in fields(path, "frame.time_epoch")], shown


class Sniffer(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = os.path.join(self.folder.name, "out.pcapng")

    def run_on(self, script, *words):
        path = os.path.join(self.folder.name, "script")
        with open(path, "w", encoding="ascii") as file:
            file.write(script)
        environment = dict(os.environ, FAKE_IBVERBS=path, LD_LIBRARY_PATH=LIBRARY)
        result = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=120)
        self.assertNotIn("fake libibverbs", result.stderr)  # a rule of libibverbs was broken
        return result

    def dump(self, script, device="mlx5_0"):
        return self.run_on(script, LIVE_DUMP, "--device", device, self.out)

    def test_a_sample_arrives_whole(self):
        result = self.dump(f"gid fe8000000000000050540ffffe000001\nfile \"{SAMPLE}\" 5\nremove\n")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("the capture ended because the device was removed", result.stderr)
        self.assertEqual(frames(self.out), frames(SAMPLE))
        counts = json.loads(result.stdout.splitlines()[-1])
        self.assertEqual(counts["received"], len(fields(SAMPLE, "frame.number")))
        self.assertEqual(counts["dropped_by_kernel"] + counts["dropped_by_queue"], 0)

    def test_directions_are_two_interfaces(self):
        source = fields(SAMPLE, "eth.src")[0][0]
        octets = source.split(":")
        gid = f"fe80000000000000{int(octets[0], 16) ^ 2:02x}{octets[1]}{octets[2]}fffe{''.join(octets[3:])}"
        self.dump(f"gid {gid}\nfile \"{SAMPLE}\"\nremove\n")
        for address, name in fields(self.out, "eth.src", "frame.interface_name"):
            self.assertEqual(name, "mlx5_0:1 (sent)" if address == source else "mlx5_0:1")

    def test_refusals_begin_nothing(self):
        for script, words in (("refuse flow 95\n", "mirror the port on its switch"),
                              ("refuse open 13\n", "sudo chmod a+rw /dev/infiniband/uverbs0"),
                              ("refuse mr 12\n", "the ring of 142.6 MB")):
            result = self.dump(script)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn(words, result.stderr)
            self.assertFalse(os.path.exists(self.out))

    def test_without_the_device(self):
        result = self.dump("no_devices\n")
        self.assertEqual(result.returncode, 3)
        self.assertIn("mlx5_0: there is no network interface or RDMA device of this name", result.stderr)

    def test_the_report_is_that_of_the_same_frames_in_a_file(self):
        live = self.run_on(f"file \"{SAMPLE}\"\nremove\n", ROCEANALYZE, "capture", "-i", "mlx5_0", "-w", self.out, "--json")
        self.assertEqual(live.returncode, 3, live.stderr)
        self.assertIn("the capture ended because the device was removed", live.stderr)
        report = json.loads(live.stdout.splitlines()[-1])
        for path in (SAMPLE, self.out):
            file = subprocess.run([ROCEANALYZE, "report", "--json", path], check=True, capture_output=True, text=True)
            wanted = json.loads(file.stdout)
            for key in ("roce", "flows", "connections", "findings"):
                self.assertEqual(report[key], wanted[key], key)
            self.assertEqual(report["capture"]["packets"], wanted["capture"]["packets"])
        self.assertEqual(report["capture"]["dropped"], 0)

    def test_the_ring_is_as_long_as_told(self):
        for words, told in (((), "32768 buffers of 4352 bytes (143 MB), 11.0 ms of"),
                            (("--ring-time", "2ms"), "5961 buffers of 4352 bytes (26 MB), 2.0 ms of")):
            self.run_on("frames 10 60\nremove\n", ROCEANALYZE, "capture", "-i", "mlx5_0", "--capture-only", "-w", self.out,
                        "--force", *words)
            shown = subprocess.run(["capinfos", self.out], check=True, capture_output=True, text=True).stdout
            self.assertIn("ring of " + told, shown)
        done = self.run_on("frames 10 60\nremove\n", ROCEANALYZE, "capture", "-i", "mlx5_0", "--capture-only", "-w", self.out,
                           "--force", "-B", "512")
        self.assertIn("-B has no effect on an RDMA device, --ring-time does", done.stderr)

    def test_what_happens_to_the_device_is_told(self):
        live = self.run_on("frames 10 60\nwait_armed\nnow_port_state 1\nevent 10 1\nframes 10 60\nwait_armed\n"
                           "frames 10 60\nbroken 4\nframes 10 60\nremove\n",
                           ROCEANALYZE, "capture", "-i", "mlx5_0", "--capture-only", "-w", self.out)
        self.assertEqual(live.returncode, 3, live.stderr)
        for words in ("clock is", "port 1 is down", "queue failed and was restarted", "the device was removed"):
            self.assertEqual(live.stderr.count(words), 1, live.stderr)
        self.assertEqual(len(fields(self.out, "frame.number")), 40)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

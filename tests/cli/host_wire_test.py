#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`host --before --after --capture` against the truth: for every sample, the counters that the drivers of both ends
moved by (samples/manifest.json) are held against its capture, wherever on the way that was taken.
Usage: host_wire_test.py ROCEANALYZE SAMPLES"""

import ipaddress
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from collections import Counter

PROGRAM, SAMPLES = sys.argv.pop(1), sys.argv.pop(1)
GENERATE = os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "tests", "support", "roce_fault_generate")
# All that rxe has: those that did not move are not in the manifest.
RXE = ("ack_deferred completer_retry_err duplicate_request link_downed out_of_seq_request rcvd_pkts rcvd_rnr_err "
       "rcvd_seq_err rdma_recvs rdma_sends retry_exceeded_err retry_rnr_exceeded_err send_err send_rnr_err sent_pkts").split()

# What the capture cannot agree with, and why. (file, end, counter)
KNOWN = {
    # The counters were read before the last packet of each direction, which the capture has.
    *(("10_nvmeof_discover.pcap", end, counter) for end in "AB" for counter in ("sent_pkts", "rcvd_pkts")),
    # One packet of each direction was sent after the capture had ended.
    *(("10_nfs4_rdma.pcap.zst", end, counter) for end in "AB" for counter in ("sent_pkts", "rcvd_pkts")),
    # The network doubled answers behind this capture point; the other one, .ca, agrees.
    ("04_ack_dup.cb.pcap.zst", "A", "rcvd_pkts"),
    # The link died ahead of this capture point, and nothing behind it can show that.
    ("04_blackout_fatal.cb.pcap.zst", "A", "sent_pkts"),
    # The sender begins with a PSN that the receiver takes for an old one: first copies count as duplicates.
    ("06_badpsn.pcap", "B", "duplicate_request"),
}


def run(*words):
    return subprocess.run([PROGRAM, *words], check=False, timeout=300, capture_output=True)


def end_of(address):
    """The machine that has the address: samples/README.md. Whatever network it is in, A's end in 1, B's in 2."""
    value = ipaddress.ip_address(address)
    last = int(value) & 0xffff
    return {0x0a01: "A", 0x0b01: "B", 0x0c01: "C", 0x0c02: "C"}.get(last) if value.version == 6 and value.is_link_local \
        else {1: "A", 2: "B", 3: "C"}.get(last & 0xff)


def snapshot(time, addresses, counters, driver="rxe"):
    gids = [{"index": i, "gid": a if ":" in a else "::ffff:" + a, "type": "RoCE v2", "netdev": "eth0"}
            for i, a in enumerate(sorted(addresses))]
    port = {"number": 1, "state": "ACTIVE", "link_layer": "Ethernet", "netdev": "eth0", "gids": gids,
            "hw_counters": counters}
    return {"schema": "roceanalyze-host/1", "time": time, "host": "x",
            "devices": [{"name": driver + "_0", "driver": driver, "node_type": "CA", "ports": [port]}], "netdevs": []}


def deltas(scenario, end):
    """Counters of the only RDMA device that moved."""
    moved, devices = {}, set()
    for key, value in scenario["hw_counters_delta"].get(end, {}).items():
        device, name = key.split(".", 1)
        if name in RXE:
            moved[name] = value
            devices.add(device)
    return moved if len(devices) == 1 else {}


def checks_of(path, folder, end, moved, addresses, span, driver="rxe"):
    files = []
    for name, time, factor in (("before", span[0] - 1, 0), ("after", span[1] + 1, 1)):
        files.append(os.path.join(folder, name))
        counters = {key: 1000 + factor * moved.get(key, 0) for key in (RXE if driver == "rxe" else moved)}
        with open(files[-1], "w", encoding="ascii") as file:
            json.dump(snapshot(time, addresses, counters, driver), file)
    done = run("host", "--before", files[0], "--after", files[1], "--capture", path, "--json")
    assert done.returncode == 0, (path, end, done.stderr.decode())
    return json.loads(done.stdout)


class Wire(unittest.TestCase):
    maxDiff = None

    def test_every_sample_agrees_or_is_explained(self):
        verdicts, wrong = Counter(), []
        with open(os.path.join(SAMPLES, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        with tempfile.TemporaryDirectory() as folder:
            for scenario in manifest:
                for captured in scenario["files"]:
                    path = os.path.join(SAMPLES, captured["file"])
                    # Cut packets, several interfaces and tunnels that hold each packet twice are other subjects.
                    path += "" if os.path.exists(path) else ".zst"
                    if not os.path.exists(path) or re.match(r"13_", captured["file"]):
                        continue
                    report = json.loads(run("report", path, "--json").stdout)
                    seen = {flow["src"] for flow in report["flows"]} | {flow["dst"] for flow in report["flows"]}
                    if not seen or report["capture"]["first_time"] is None:
                        continue
                    span = report["capture"]["first_time"], report["capture"]["last_time"]
                    for end in "AB":
                        moved = deltas(scenario, end)
                        own = {address for address in seen if end_of(address) == end}
                        if not moved or not own:
                            continue
                        result = checks_of(path, folder, end, moved, own, span)
                        self.assertEqual(result["wire"]["cover"], "whole")
                        for check in result["wire"]["checks"]:
                            verdicts[check["verdict"]] += 1
                            if check["verdict"] == "explained":
                                self.assertTrue(check["why"], (path, check))
                            if check["verdict"] == "differs" and (os.path.basename(path), end, check["counter"]) not in KNOWN:
                                wrong.append((os.path.basename(path), end, check["counter"], check["moved"],
                                              check["wire"], check["low"], check["high"]))
        self.assertFalse(wrong, str(dict(verdicts)) + "\n" + "\n".join(map(str, wrong)))
        self.assertGreater(verdicts["agrees"], 2000)
        self.assertLess(verdicts["explained"], verdicts["agrees"] // 20)

    def test_responses_that_come_again_are_no_requests(self):
        """A READ that is asked for again brings its responses again: the reader got no request twice."""
        path = os.path.join(SAMPLES, "04_read_loss1.ca.pcap.zst")
        report = json.loads(run("report", path, "--json").stdout)
        self.assertGreater(sum(c["retransmitted"]["read_retry"] for c in report["connections"]), 1000)
        span = report["capture"]["first_time"], report["capture"]["last_time"]
        with tempfile.TemporaryDirectory() as folder:
            checks = checks_of(path, folder, "A", {}, {"10.77.0.1"}, span)["wire"]["checks"]
        again = next(check for check in checks if check["counter"] == "duplicate_request")
        self.assertEqual((again["moved"], again["wire"], again["verdict"]), (0, 0, "agrees"))

    def test_congestion_counters_of_hardware(self):
        """What tshark counts in a generated capture, as counters of an mlx5 and a bnxt_re; then one that stands still."""
        own = "10.78.0.1"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "capture.pcap")
            subprocess.run([GENERATE, "--packets", "20000", "--faults", "congestion", path], check=True, timeout=120)
            told = subprocess.run(["tshark", "-r", path, "-T", "fields", "-e", "frame.time_epoch", "-e", "ip.src", "-e",
                                   "ip.dst", "-e", "ip.dsfield.ecn", "-e", "infiniband.bth.opcode"],
                                  check=True, timeout=120, capture_output=True).stdout.decode()
            counts, span = Counter(), [None, None]
            for line in told.splitlines():
                time, source, target, ecn, opcode = line.split("\t")
                seconds, fraction = time.split(".")
                span = [span[0] or int(seconds + fraction), int(seconds + fraction)]
                sent, received, cnp = source == own, target == own, opcode and int(opcode, 0) == 0x81
                counts["sent"] += sent
                counts["received"] += received
                counts["cnps_sent"] += bool(sent and cnp)
                counts["cnps_received"] += bool(received and cnp)
                counts["ce"] += bool(received and int(ecn, 0) == 3)
            self.assertTrue(all(counts.values()), counts)
            # The first two of mlx5 are counters of the port, which the snapshots here leave out.
            names = {"mlx5": ("port_xmit_packets", "port_rcv_packets", "np_cnp_sent", "rp_cnp_handled",
                              "np_ecn_marked_roce_packets"),
                     "bnxt_re": ("tx_pkts", "rx_pkts", "tx_cnp_pkts", "rx_cnp_pkts", "rx_ecn_marked_pkts")}
            for driver, counters in names.items():
                moved = dict(zip(counters, (counts[key] for key in ("sent", "received", "cnps_sent", "cnps_received", "ce"))))
                checks = checks_of(path, folder, "", moved, {own}, span, driver)["wire"]["checks"]
                self.assertEqual({c["counter"]: c["verdict"] for c in checks},
                                 {c: "agrees" for c in counters if not c.startswith("port_")}, driver)
                # As Lumina found it of a NIC: CNPs are sent, and the counter stands still.
                moved[counters[2]] = 0
                result = checks_of(path, folder, "", moved, {own}, span, driver)
                self.assertEqual([c["counter"] for c in result["wire"]["checks"] if c["verdict"] == "differs"], [counters[2]])
                self.assertIn("host_counter_differs", [f["id"] for f in result["findings"]])

    def test_a_wrong_counter_is_found(self):
        """The same with a counter that a NIC got wrong."""
        path = os.path.join(SAMPLES, "04_write_loss1.cb.pcap.zst")
        with open(os.path.join(SAMPLES, "manifest.json"), encoding="utf-8") as file:
            scenario = next(s for s in json.load(file) if s["name"] == "04_write_loss1")
        moved = dict(deltas(scenario, "B"), out_of_seq_request=3)
        report = json.loads(run("report", path, "--json").stdout)
        span = report["capture"]["first_time"], report["capture"]["last_time"]
        with tempfile.TemporaryDirectory() as folder:
            result = checks_of(path, folder, "B", moved, {"10.77.0.2"}, span)
            self.assertEqual([(c["counter"], c["moved"], c["wire"]) for c in result["wire"]["checks"]
                              if c["verdict"] == "differs"], [("out_of_seq_request", 3, 22)])
            finding = next(f for f in result["findings"] if f["id"] == "host_counter_differs")
            self.assertEqual(finding["severity"], "warning")
            self.assertIn("22", finding["explanation"])
            # Of another time: nothing is said.
            result = checks_of(path, folder, "B", moved, {"10.77.0.2"}, (1000, 2000))
            self.assertEqual(result["wire"]["cover"], "apart")
            self.assertFalse([f for f in result["findings"] if f["id"] == "host_counter_differs"])
            # Of another host: said so.
            result = checks_of(path, folder, "B", moved, {"10.9.9.9"}, span)
            self.assertEqual(result["wire"]["ports"], 0)
            self.assertIn("no packet of any address", " ".join(result["wire"]["notes"]))

    def test_packets_of_which_only_the_repeats_were_captured(self):
        """As Soft-RoCE under rping with 1 % loss: what is lost ahead of the capture and sent again leaves no gap. The host's
        own count of repeats tells it from a counter that is wrong."""
        path = os.path.join(SAMPLES, "03_rping.pcap")
        with open(os.path.join(SAMPLES, "manifest.json"), encoding="utf-8") as file:
            scenario = next(s for s in json.load(file) if s["name"] == "03_rping")
        report = json.loads(run("report", path, "--json").stdout)
        span = report["capture"]["first_time"], report["capture"]["last_time"]
        own = {flow["src"] for flow in report["flows"] if end_of(flow["src"]) == "B"}
        true = deltas(scenario, "B")
        with tempfile.TemporaryDirectory() as folder:
            for retries, more, verdict in ((0, 0, "agrees"), (2, 0, "agrees"), (2, 2, "explained"), (0, 2, "differs")):
                moved = dict(true, sent_pkts=true["sent_pkts"] + more, completer_retry_err=retries)
                checks = checks_of(path, folder, "B", moved, own, span)["wire"]["checks"]
                check = next(c for c in checks if c["counter"] == "sent_pkts")
                self.assertEqual(check["verdict"], verdict, (retries, more, check))
                self.assertEqual("retransmissions" in check["why"], verdict == "explained", check)


if __name__ == "__main__":
    unittest.main()

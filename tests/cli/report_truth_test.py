#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report of every sample against what was counted when it was recorded (samples/manifest.json:
made with tshark and a separate ICRC computation), and the promises that hold for every capture.
Usage: report_truth_test.py ROCEANALYZE SAMPLES"""

import json
import os
import subprocess
import sys
import unittest

PROGRAM, SAMPLES = sys.argv.pop(1), sys.argv.pop(1)

# The manifest's short names of operations, as substitutions on ours, in order.
SHORT_NAMES = [
    ("RDMA READ Response", "READ Resp"), ("RDMA READ", "READ"), ("RDMA WRITE", "WRITE"),
    (" with Immediate", " Imm"), (" with Invalidate", " Inv"), ("ATOMIC Acknowledge", "ATOMIC ACK"),
    ("Acknowledge", "ACK"), ("CmpSwap", "CMP_SWAP"), ("FetchAdd", "FETCH_ADD"),
]


def short(name):
    for ours, theirs in SHORT_NAMES:
        name = name.replace(ours, theirs)
    return name


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, check=False)


def report(path, *words):
    done = run("report", "--json", path, *words)
    assert done.returncode == 0, (path, done.stderr)
    return json.loads(done.stdout)


def scenarios():
    with open(os.path.join(SAMPLES, "manifest.json"), encoding="utf-8") as f:
        for scenario in json.load(f):
            for entry in scenario["files"]:
                path = os.path.join(SAMPLES, entry["file"])
                if os.path.exists(path):
                    yield entry, path


class Truth(unittest.TestCase):
    def test_every_sample_in_the_manifest(self):
        checked = 0
        for entry, path in scenarios():
            with self.subTest(entry["file"]):
                self.check(entry, report(path))
                checked += 1
        self.assertGreater(checked, 100)

    def check(self, entry, got):
        roce = got["roce"]
        self.assertEqual(got["capture"]["packets"], entry["packets"])
        self.assertEqual(roce["packets"], entry["roce_packets"])
        opcodes = {k: v for k, v in entry["opcodes"].items() if k != "(not RoCEv2)"}
        self.assertEqual({short(k): v for k, v in roce["opcodes"].items()}, opcodes)
        # What a mirror shows once more is no packet of its flow.
        seen = lambda flow: flow["packets"] + flow["duplicate_captures"]
        # A flipped bit in an address or the queue pair: a packet of no flow.
        stray = got["damaged_of_no_flow"]
        self.assertEqual(sum(map(seen, got["flows"])) + stray, entry["roce_packets"])
        per_qp = {}
        for flow in got["flows"]:
            key = f"0x{flow['dst_qp']:06x}"
            per_qp[key] = per_qp.get(key, 0) + seen(flow)
        left = {qp: n - per_qp.get(qp, 0) for qp, n in entry["dest_qps"].items() if n != per_qp.get(qp)}
        self.assertEqual((sum(left.values()), all(n > 0 for n in left.values())), (stray, True), left)
        self.assertLessEqual(set(per_qp), set(entry["dest_qps"]))
        self.assertLessEqual(stray, entry.get("icrc", {}).get("bad", 0))
        ports = sorted({port for flow in got["flows"] for port in flow["udp_sports"]})
        self.assertEqual(ports, sorted(int(p) for p in entry["src_ports"]))
        dscp = {}
        for tos, count in entry["tos"].items():
            key = str(int(tos, 16) >> 2)
            dscp[key] = dscp.get(key, 0) + count
        self.assertEqual(roce["dscp"], dscp)
        ce = sum(n for tos, n in entry["tos"].items() if int(tos, 16) & 3 == 3)
        self.assertEqual(roce["ecn"]["ce"], ce)
        if "icrc" in entry:
            self.check_icrc(entry, roce)

    def check_icrc(self, entry, roce):
        truth = entry["icrc"]
        # Soft-RoCE's own ICRC of FLUSH is no corruption (docs: the diagnostic icrc_soft_roce_flush);
        # the manifest's computation is the standard's alone.
        flush = roce["opcodes"].get("RC FLUSH", 0)
        self.assertEqual(roce["icrc"]["mismatch"], truth["bad"] - flush)
        self.assertEqual(roce["icrc"]["match"], truth["good"] + flush)
        if not flush:
            self.assertEqual(roce["icrc"]["mismatch_packets"], truth["bad_frames"][:10])

    def test_sums_hold(self):
        for entry, path in scenarios():
            with self.subTest(entry["file"]):
                got = report(path)
                roce = got["roce"]
                self.assertEqual(sum(roce["icrc"][k] for k in ("match", "mismatch", "not_checkable")), roce["packets"])
                self.assertEqual(sum(roce[k] for k in ("v1", "v2_ipv4", "v2_ipv6", "native_ib")), roce["packets"])
                self.assertEqual(sum(roce["opcodes"].values()), roce["packets"])
                self.assertEqual(sum(roce["ecn"].values()), roce["packets"])
                self.assertEqual(sum(roce["pcp"].values()) + roce["untagged"], roce["packets"])
                self.assertEqual(sum(got["other_traffic"].values()) + roce["packets"], got["capture"]["packets"])
                for flow in got["flows"]:
                    self.assertEqual(sum(flow["opcodes"].values()) + flow["damaged"], flow["packets"])
                    self.assertEqual(sum(flow["ecn"].values()) + flow["damaged"], flow["packets"])
                    if "icrc" in entry and entry["icrc"]["bad"] == 0:
                        self.assertEqual(flow["damaged"], 0)

    def test_connections_and_findings_refer_to_what_is_there(self):
        for entry, path in scenarios():
            with self.subTest(entry["file"]):
                got = report(path)
                flows = {flow["id"]: flow for flow in got["flows"]}
                ids = [c["id"] for c in got["connections"]]
                self.assertEqual(ids, sorted(set(ids)))
                owner = {}
                for c in got["connections"]:
                    owner.update({flow: c["id"] for flow in c["flows"]})
                    self.assertTrue(0 < len(c["flows"]) <= 2)
                    self.assertTrue(0 <= c["pairing"]["confidence"] <= 1)
                    if len(c["flows"]) == 2:
                        self.assertTrue(c["pairing"]["evidence"])
                for id, flow in flows.items():
                    self.assertEqual(flow["connection"], owner.get(id))
                    # A flow of nothing but damaged packets is of no connection.
                    connected = flow["service"] in ("RC", "UC", "RD", "XRC") and flow["icrc_mismatches"] < flow["packets"]
                    self.assertEqual(connected, flow["connection"] is not None)
                    self.assertEqual(flow["retransmitted"]["packets"], sum(
                        flow["retransmitted"][k] for k in ("nak", "timeout", "rnr", "read_retry", "unknown")))
                for finding in got["findings"]:
                    self.assertTrue(finding["packets"])
                    self.assertEqual(finding["packets"], sorted(set(finding["packets"])))
                    self.assertLessEqual(finding["packets"][-1], entry["packets"])
                    self.assertTrue(set(finding["connections"]) <= set(ids))
                severities = ["error", "warning", "notice", "info"]
                order = [severities.index(finding["severity"]) for finding in got["findings"]]
                self.assertEqual(order, sorted(order))

    def test_flush_of_soft_roce_is_named(self):
        got = report(os.path.join(SAMPLES, "06_flush.pcap"))
        self.assertEqual(got["roce"]["icrc"]["mismatch"], 0)
        counts = {d["id"]: d["count"] for d in got["diagnostics"]}
        self.assertEqual(counts["icrc_soft_roce_flush"], 20)

    def test_threads_never_change_the_output(self):
        for _, path in list(scenarios())[::7]:
            one = run("report", "--json", "--jobs", "1", path)
            for jobs in ("2", "5"):
                self.assertEqual(one.stdout, run("report", "--json", "--jobs", jobs, path).stdout, path)


if __name__ == "__main__":
    unittest.main()

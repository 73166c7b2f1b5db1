#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""As exports_test.py, by IPFIX, NetFlow version 9 and mirrored drops: scaled figures lie within their stated error, drops are
joined with the losses that they are, and what cannot be read is said.

Usage: ipfix_exports_test.py GENERATE ROCEANALYZE"""

import collections
import unittest

import derived_case
import capture_variants as variants
import ipfix_export
import sflow_export
from derived_case import DRAWS, PACKETS, RATES, flow_of, fresh, joined, report, run


class IpfixExports(derived_case.DerivedCase):
    def exports(self, records):
        variants.write(self.path("ipfix.pcap"), records)
        return report(self.path("ipfix.pcap"))["exports"]

    def test_scaled_figures_lie_within_their_error(self):
        records = self.generate("--packets", str(PACKETS), "--qps", "8", "--hosts", "4", "--seed", "20")
        packets, sizes = collections.Counter(), collections.Counter()
        for _, length, frame in records:
            packets[flow_of(frame)] += 1
            sizes[flow_of(frame)] += length
        inside, told, whole = collections.Counter(), collections.Counter(), collections.Counter()
        for draw in range(DRAWS):
            kind = {0: {}, 1: {"netflow": True}, 2: {"statistics": True}}[draw % 3]
            rate = RATES[draw // 3 % len(RATES)]
            exported, _ = ipfix_export.export(records, ipfix_export.Switch(rate, fresh(draw), **kind))
            exports = self.exports(exported)
            self.assertEqual(exports["agents"][0]["protocol"], "NetFlow 9" if "netflow" in kind else "IPFIX")
            self.assertEqual((exports["agents"][0]["missing"], exports["agents"][0]["duplicates"]), (0, 0))
            self.assertEqual((exports["unreadable"], exports["sets_without_template"]), (0, 0))
            if not exports["sources"]:
                continue
            self.assertEqual(len(exports["sources"]), 1)
            source = exports["sources"][0]
            if "statistics" not in kind:
                self.assertEqual(source["rate"], rate)
            if source["packets"]:
                whole["told"] += 1
                whole["inside"] += abs(source["packets"]["value"] - len(records)) <= source["packets"]["error"]
            for flow in exports["flows"]:
                key = (bytes(map(int, flow["src"].split("."))), bytes(map(int, flow["dst"].split("."))), flow["dst_qp"])
                self.assertIn(key, packets)
                self.assertEqual(flow["packets"] is None, flow["samples"] < 10)
                if flow["packets"] is None:
                    continue
                for what, truth in (("packets", packets[key]), ("bytes", sizes[key])):
                    told[what] += 1
                    inside[what] += abs(flow[what]["value"] - truth) <= flow[what]["error"]
        for what in ("packets", "bytes"):
            print(f"{what} of flows: {inside[what]} of {told[what]} within their error")
            self.assertGreater(told[what], 500)
            self.assertGreaterEqual(inside[what], 0.95 * told[what], what)
        print(f"packets of the switch: {whole['inside']} of {whole['told']} within their error")
        self.assertGreaterEqual(whole["inside"], 0.95 * whole["told"])

    def test_drops_are_joined_with_losses(self):
        for seed, faults, by_flow in ((4, "loss_after1", False), (6, "request_loss1", False), (8, "loss_after1", True)):
            records = self.generate("--packets", "30000", "--faults", faults, "--seed", str(seed))
            losses, connections = sflow_export.losses_of(self.path("truth"))
            switch = ipfix_export.Switch(64, fresh(seed))
            exported, notified = ipfix_export.export(records, switch, losses, connections, told=0.99, by_flow=by_flow)
            variants.write(self.path("ipfix.pcap"), exported)
            both = report(self.path("tap.pcap"), self.path("ipfix.pcap"))
            drops = both["exports"]["drops"]
            self.assertEqual(len(drops), len(notified))
            reason = "WRED" if by_flow else "no buffer (limit of the egress port)"
            for drop, (loss, *_) in zip(drops, notified):
                self.assertEqual((drop["agent"], drop["port"], drop["reason"], drop["psn"]),
                                 (sflow_export.SWITCH, 12, reason, loss["psn"]))
            matched, expected = joined(drops, notified)
            print(f"{faults}: {matched} of {expected} drops that were missed are joined with their loss")
            self.assertGreater(expected, 100)
            self.assertGreaterEqual(matched, 0.99 * expected, faults)
            finding = [each for each in both["findings"] if each["id"] == "switch_drops"]
            self.assertEqual([each["subject"] for each in finding], ["10.0.0.7 port 12"])
            incidents = run("incidents", self.path("tap.pcap"), self.path("ipfix.pcap"), "--top", "0")
            self.assertIn(f", at switch 10.0.0.7 port 12: {reason}", incidents)
            # The diagnosis says where: no other place needs to be looked at.
            told = [each["sentence"] for each in both["diagnoses"] if "switch 10.0.0.7 port 12: " + reason in each["sentence"]]
            self.assertTrue(told, [each["sentence"] for each in both["diagnoses"]])

    def test_samples_alone_are_never_good(self):
        records = self.generate("--packets", "20000", "--faults", "loss1", "--seed", "5")
        exported, _ = ipfix_export.export(records, ipfix_export.Switch(64, fresh(5)))
        variants.write(self.path("ipfix.pcap"), exported)
        text = run("report", self.path("ipfix.pcap"))
        self.assertRegex(" ".join(text.splitlines()[0].split()), r"LIMITED IPFIX samples of 1 switch, about 1 in 64")
        for good in ("nothing wrong found", "nothing serious", "bypasses the kernel"):
            self.assertNotIn(good, text)
        told = report(self.path("ipfix.pcap"))
        self.assertEqual(told["roce"]["packets"], 0)
        self.assertEqual((told["flows"], told["connections"], told["findings"], told["diagnoses"]), ([], [], [], []))

    def test_what_is_lost_on_the_way_is_counted(self):
        records = self.generate("--packets", "40000", "--qps", "4", "--seed", "6")
        for netflow in (False, True):
            switch = ipfix_export.Switch(16, fresh(6), netflow=netflow)
            exported, _ = ipfix_export.export(records, switch)
            kept = [record for number, record in enumerate(exported) if number % 3 or number in (0, len(exported) - 1)]
            exports = self.exports(kept)
            missing = exports["agents"][0]["missing"]
            if netflow:
                self.assertEqual(missing, len(exported) - len(kept))
            else:
                self.assertEqual(missing, switch.sequence - exports["samples"] - sum(
                    1 for record in kept if record[2][42 + 16:42 + 18] == b"\0\2"))
            text = run("report", self.path("ipfix.pcap"))
            self.assertIn("lost on the way to the collector", text)

    def test_data_before_its_template_is_said(self):
        records = self.generate("--packets", "20000", "--seed", "7")
        exported, _ = ipfix_export.export(records, ipfix_export.Switch(16, fresh(7)))
        first = 1 + next(number for number, record in enumerate(exported[1:], 1) if record[2][58:60] == b"\0\2")
        exports = self.exports(exported[1:])
        self.assertEqual(exports["sets_without_template"], first - 2)
        self.assertGreater(exports["samples"], 0)
        self.assertIn("came before their template", run("report", self.path("ipfix.pcap")))


if __name__ == "__main__":
    unittest.main()

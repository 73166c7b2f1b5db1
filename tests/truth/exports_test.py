#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a switch exports of simulated traffic, against what really passed: scaled figures lie within their stated error,
drops are joined with the losses that they are, nothing of a sample is counted as traffic, and samples alone are never
called good.

Usage: exports_test.py GENERATE ROCEANALYZE"""

import collections
import unittest

import derived_case
import capture_variants as variants
import sflow_export
from derived_case import DRAWS, PACKETS, RATES, flow_of, fresh, joined, report, run


class Exports(derived_case.DerivedCase):
    def test_scaled_figures_lie_within_their_error(self):
        records = self.generate("--packets", str(PACKETS), "--qps", "8", "--hosts", "4", "--seed", "20")
        packets, sizes = collections.Counter(), collections.Counter()
        for _, length, frame in records:
            packets[flow_of(frame)] += 1
            sizes[flow_of(frame)] += length + sflow_export.FCS
        inside, told, whole = collections.Counter(), collections.Counter(), collections.Counter()
        for draw in range(DRAWS):
            rate = RATES[draw % len(RATES)]
            exported, _ = sflow_export.export(records, rate, fresh(draw))
            variants.write(self.path("sflow.pcap"), exported)
            exports = report(self.path("sflow.pcap"))["exports"]
            total = error = 0
            for source in exports["sources"]:
                if source["packets"]:
                    total += source["packets"]["value"]
                    error += source["packets"]["error"] ** 2
                else:
                    total = None
                    break
            if total is not None:
                whole["told"] += 1
                whole["inside"] += abs(total - len(records)) <= error ** 0.5
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

    def shown_by_traffic(self, flows, losses, connections, notified):
        """So many losses the report tells of flows that had notifications, but for as many as had none."""
        shown, told, silent = collections.Counter(), collections.Counter(), collections.Counter()
        for flow in flows:
            shown[flow["src"], flow["dst"], flow["dst_qp"]] += flow["lost"]["before_capture"] + flow["lost"]["after_capture"]
        for loss, *key in notified:
            told[tuple(key)] += loss["kind"] not in derived_case.UNSHOWN
        sent = {id(loss) for loss, *_ in notified}
        for _, loss in losses:
            ends = connections[loss["connection"]]
            source, destination = ("a", "b") if loss["direction"] == "a_to_b" else ("b", "a")
            silent[ends[source]["address"], ends[destination]["address"], ends[destination]["qp"]] += id(loss) not in sent
        return sum(min(max(0, shown[key] - silent[key]), told[key]) for key in told)

    def test_drops_are_joined_with_losses(self):
        """Where each loss can be proved, each decidable one is joined. Upstream, a repeat that was lost and that nobody
        missed is decidable in the truth, and proved by nothing: there, what the traffic shows of a flow counts, but for as
        many as no notification was sent of."""
        for seed, faults, rate, by_truth in ((4, "loss_after1", 16, True), (6, "request_loss1", 64, True),
                                             (1, "loss1", 256, False), (3, "loss_before1", 1024, False)):
            records = self.generate("--packets", "30000", "--faults", faults, "--seed", str(seed))
            alone = report(self.path("tap.pcap"))
            losses, connections = sflow_export.losses_of(self.path("truth"))
            exported, notified = sflow_export.export(records, rate, fresh(seed), losses, connections, told=0.99)
            variants.write(self.path("sflow.pcap"), exported)
            both = report(self.path("tap.pcap"), self.path("sflow.pcap"))
            # Not one figure of the traffic is another one.
            for key in ("flows", "connections", "incidents", "congestion", "roce"):
                without = [strip(each) for each in as_list(alone[key])]
                self.assertEqual(without, [strip(each) for each in as_list(both[key])], (faults, key))
            drops = both["exports"]["drops"]
            self.assertEqual(len(drops), len(notified))
            for drop, (loss, *_) in zip(drops, notified):
                self.assertEqual((drop["agent"], drop["port"], drop["queue"], drop["reason"], drop["psn"]),
                                 (sflow_export.SWITCH, 12, 3, "no buffer (tail drop)", loss["psn"]))
            if by_truth:
                matched, expected = joined(drops, notified)
            else:
                matched = sum(drop["loss_shown_by"] is not None for drop in drops)
                expected = self.shown_by_traffic(both["flows"], losses, connections, notified)
            print(f"{faults}: {matched} of {expected} drops that were missed are joined with their loss")
            self.assertGreater(expected, 100)
            self.assertGreaterEqual(matched, 0.99 * expected, faults)
            finding = [each for each in both["findings"] if each["id"] == "switch_drops"]
            self.assertEqual([each["subject"] for each in finding], ["10.0.0.7 port 12, queue 3"])
            self.assertEqual(both["drops"][0]["packets"], len(notified))
            text = run("report", self.path("tap.pcap"), self.path("sflow.pcap"))
            self.assertIn("no buffer (tail drop)", text)

    def test_drops_of_read_responses_are_joined(self):
        """A READ that is issued again does not tell whether its response or the request was lost: the switch does."""
        matched = expected = 0
        for seed in (7, 8, 9):
            records = self.generate("--packets", "20000", "--faults", "response_loss1", "--mix", "1", "0", "3", "0",
                                    "--seed", str(seed))
            losses, connections = sflow_export.losses_of(self.path("truth"))
            exported, notified = sflow_export.export(records, 256, fresh(seed), losses, connections, told=0.99)
            variants.write(self.path("sflow.pcap"), exported)
            now = joined(report(self.path("tap.pcap"), self.path("sflow.pcap"))["exports"]["drops"], notified)
            matched, expected = matched + now[0], expected + now[1]
        print(f"response_loss1: {matched} of {expected} drops that were missed are joined with their loss")
        self.assertGreater(expected, 100)
        self.assertGreaterEqual(matched, 0.99 * expected)

    def test_samples_alone_are_never_good(self):
        records = self.generate("--packets", "20000", "--faults", "loss1", "--seed", "5")
        exported, _ = sflow_export.export(records, 64, 5)
        variants.write(self.path("sflow.pcap"), exported)
        text = run("report", self.path("sflow.pcap"))
        first = " ".join(text.splitlines()[0].split())
        self.assertRegex(first, r"LIMITED sFlow samples of 1 switch, about 1 in 6\d")
        for good in ("nothing wrong found", "nothing serious", "bypasses the kernel"):
            self.assertNotIn(good, text)
        told = report(self.path("sflow.pcap"))
        self.assertEqual(told["roce"]["packets"], 0)
        self.assertEqual((told["flows"], told["connections"], told["findings"], told["diagnoses"]), ([], [], [], []))
        self.assertEqual(told["capture"]["completeness"]["samples_only"], True)
        self.assertEqual(told["exports"]["agents"][0]["missing"], 0)
        self.assertIn("sFlow samples of 1 switch", run("report", "--html", "-", self.path("sflow.pcap"))
                      if "--html" in run("report", "--help") else text)

    def test_datagrams_that_are_lost_do_not_falsify(self):
        records = self.generate("--packets", "40000", "--qps", "4", "--seed", "6")
        exported, _ = sflow_export.export(records, 16, 6)
        kept = [record for number, record in enumerate(exported) if number % 3 or number in (0, len(exported) - 1)]
        variants.write(self.path("sflow.pcap"), kept)
        exports = report(self.path("sflow.pcap"))["exports"]
        self.assertEqual(exports["agents"][0]["missing"], len(exported) - len(kept))
        total = sum(source["packets"]["value"] for source in exports["sources"])
        self.assertLess(abs(total - len(records)), 0.05 * len(records))


def as_list(value):
    return value if isinstance(value, list) else [value]


def strip(value):
    """Without numbers of packets, which another file in the input changes."""
    if isinstance(value, dict):
        return {key: strip(each) for key, each in value.items() if "packet" not in key or key == "packets"}
    if isinstance(value, list):
        return [strip(each) for each in value if not isinstance(each, int)]
    return value


if __name__ == "__main__":
    unittest.main()

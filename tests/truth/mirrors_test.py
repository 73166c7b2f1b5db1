#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulated traffic as a switch mirrors it by ERSPAN, of which one packet in a thousand is lost on the way to the capture: what
the mirror lost is counted exactly, and never as lost by the network. The same in ESP: counted, and never called no RoCE.

Usage: mirrors_test.py GENERATE ROCEANALYZE"""

import collections
import json
import unittest

import derived_case
import capture_variants as variants
import erspan_mirror
import measure
from derived_case import UNSHOWN, fresh, report, run

LOST_BY_NETWORK = ("before_capture", "after_capture", "trimmed")


def losses(told):
    return sum(flow["lost"][place] for flow in told["flows"] for place in LOST_BY_NETWORK)


class Mirrors(derived_case.DerivedCase):
    def test_a_healthy_network_stays_healthy(self):
        records = self.generate("--packets", "40000", "--qps", "16", "--seed", "31")
        for version in (2, 3):
            mirrored, lost = erspan_mirror.mirror(records, version=version, loss=0.001, seed=fresh(version))
            variants.write(self.path("mirror.pcap"), mirrored)
            told = report(self.path("mirror.pcap"))
            self.assertEqual(losses(told), 0)
            self.assertEqual([(m["name"], m["packets"], m["missing"], m["counts"]) for m in told["mirrors"]],
                             [("ERSPAN session 5", len(mirrored), lost, "yes")])
            self.assertGreater(lost, 20)
            ids = {finding["id"] for finding in told["findings"]}
            self.assertIn("mirror_loss", ids)
            self.assertFalse(ids & {"loss_before_capture", "loss_after_capture", "go_back_n_storm"}, ids)
            text = " ".join(run("report", self.path("mirror.pcap")).split())
            self.assertIn(f"ERSPAN session 5 of 10.9.0.7 lost {lost} of {len(records)} packets", text)

    def by_flow(self, told):
        """Losses by the network that the report tells of each flow, and those of the truth."""
        truth = measure.Truth(self.path("truth"))
        connections = {each["connection"]: each for each in truth.connections}
        shown, real = collections.Counter(), collections.Counter()
        for flow in told["flows"]:
            shown[flow["src"], flow["dst"], flow["dst_qp"]] += sum(flow["lost"][place] for place in LOST_BY_NETWORK)
        for loss in truth.losses:
            real[measure.flow_key(connections[loss["connection"]], loss["direction"])] += \
                loss["lost"] in LOST_BY_NETWORK and loss["kind"] not in UNSHOWN
        return shown, real

    def test_no_loss_is_claimed_that_the_mirror_made(self):
        """Of a network that loses, the mirror must not add a loss: of no flow more data is told lost than was."""
        claimed = true = 0
        for seed, faults in ((41, "loss1"), (42, "loss_before1"), (43, "loss_after1"), (44, "request_loss1")):
            records = self.generate("--packets", "20000", "--qps", "8", "--faults", faults, "--seed", str(seed))
            whole = report(self.path("tap.pcap"))
            mirrored, _ = erspan_mirror.mirror(records, version=2, loss=0.001, seed=fresh(seed))
            variants.write(self.path("mirror.pcap"), mirrored)
            told = report(self.path("mirror.pcap"))
            shown, real = self.by_flow(told)
            print(f"{faults}: {sum(shown.values())} losses told through the mirror, {losses(whole)} without it, "
                  f"{sum(real.values())} in truth")
            claimed += sum((shown - real).values())
            true += sum(real.values())
            self.assertGreater(sum(shown.values()), 0.8 * losses(whole), faults)
        print(f"{claimed} of {true} losses are the mirror's")
        self.assertEqual(claimed, 0)

    def test_what_the_mirror_delivers_late_is_not_reordered(self):
        """By the numbers of the mirror each packet has its place: what comes late was neither overtaken nor lost."""
        for seed, faults in ((51, ()), (52, ("--faults", "loss1")), (53, ("--faults", "loss_after1"))):
            records = self.generate("--packets", "20000", "--qps", "8", "--seed", str(seed), *faults)
            whole = report(self.path("tap.pcap"))
            mirrored, _ = erspan_mirror.mirror(records, version=2, seed=fresh(seed))
            for share, far in ((0.01, 8), (0.01, 40), (0.1, 3)):
                late = variants.delayed(mirrored, share, far, fresh(seed))
                variants.write(self.path("mirror.pcap"), late)
                told = report(self.path("mirror.pcap"))
                out_of_order = sum(flow["out_of_order"] for flow in told["flows"])
                print(f"{faults}: {told['mirrors'][0]['late']} late, {out_of_order} out of order, {losses(told)} losses told, "
                      f"{losses(whole)} without the mirror")
                self.assertGreater(told["mirrors"][0]["late"], 50)
                self.assertLess(out_of_order, 0.05 * told["mirrors"][0]["late"])
                shown, real = self.by_flow(told)
                alone, _ = self.by_flow(whole)
                self.assertEqual((shown - real) - (alone - real), collections.Counter())
                self.assertGreaterEqual(losses(told), 0.95 * losses(whole))

    def test_times_of_the_switch(self):
        """The stamps of ERSPAN III, of 100 ns, in place of the capture's times, which are late here by up to 50 us."""
        records = self.generate("--packets", "2000", "--seed", "35")
        mirrored, _ = erspan_mirror.mirror(records, version=3)
        late = [(time + 1000 * (7 * number % 50), length, frame) for number, (time, length, frame) in enumerate(mirrored)]
        variants.write(self.path("mirror.pcap"), late)
        shown = run("packets", self.path("mirror.pcap"), "--time", "switch", "-T", "fields", "-e", "frame.time_epoch").split()
        self.assertEqual([int(text.replace(".", "")) for text in shown], [time // 100 * 100 for time, _, _ in records])
        told = json.loads(run("report", "--json", self.path("mirror.pcap"), "--time", "switch"))
        self.assertEqual((told["capture"]["first_time"], told["capture"]["last_time"]),
                         (records[0][0] // 100 * 100, records[-1][0] // 100 * 100))
        # Frames without a stamp have no time: clocks are not mixed.
        plain = json.loads(run("report", "--json", self.path("tap.pcap"), "--time", "switch"))
        self.assertIsNone(plain["capture"]["first_time"])

    def test_a_mirror_that_does_not_number(self):
        records = self.generate("--packets", "4000", "--seed", "33")
        mirrored, _ = erspan_mirror.mirror(records, version=2, loss=0.001, seed=fresh(1), constant=True)
        variants.write(self.path("mirror.pcap"), mirrored)
        told = report(self.path("mirror.pcap"))
        self.assertEqual([(m["counts"], m["missing"]) for m in told["mirrors"]], [("no", None)])
        self.assertNotIn("mirror_loss", {finding["id"] for finding in told["findings"]})

    def test_esp_is_counted_and_never_called_no_roce(self):
        records = self.generate("--packets", "5000", "--seed", "34")
        hidden, lost = erspan_mirror.hide(records, loss=0.002, seed=fresh(3))
        variants.write(self.path("esp.pcap"), hidden)
        told = report(self.path("esp.pcap"))
        self.assertEqual([(s["name"], s["packets"], s["missing"]) for s in told["shells"]],
                         [("ESP, SPI 0x0000c0de", len(hidden), lost)])
        self.assertEqual(told["other_traffic"]["esp"], len(hidden))
        text = " ".join(run("report", self.path("esp.pcap")).split())
        self.assertIn(f"{len(hidden)} packets are encrypted (ESP, SPI 0x0000c0de): RoCE may be inside", text)
        self.assertNotIn("bypasses the kernel", text)
        shown = run("packets", self.path("esp.pcap"), "-Y", "esp.spi == 0xc0de && esp.sequence == 2", "-T", "fields", "-e",
                    "esp.sequence")
        self.assertEqual(shown.strip(), "2")


if __name__ == "__main__":
    unittest.main()

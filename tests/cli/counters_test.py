#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the report counts is what the fields of `packets` say, packet by packet: for every analysis counter of
every flow and connection of every sample. docs/output.md says which fields a counter is the sum of.
Usage: counters_test.py ROCEANALYZE SAMPLES"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections import Counter

PROGRAM, SAMPLES = sys.argv.pop(1), sys.argv.pop(1)
GENERATE = os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "tests", "support", "roce_fault_generate")
# Faults of every kind; connections that are paired only when much has been seen; one direction; places of capture.
GENERATED = (("all1",), ("all1", "--qps", "1024", "--hosts", "8", "--first-psn", "zero", "--udp-port", "random"),
             ("all1", "--ipv6"), ("capture_drop",), ("mirror_interface", "--format", "pcapng"),
             ("all1", "--captured", "a_to_b", "--both-directions", "0"),
             ("loss1", "--captured", "b_to_a", "--both-directions", "0"))
CAUSES = ("nak", "timeout", "rnr", "read_retry", "unknown")
PLACES = ("before_capture", "after_capture", "by_capture", "trimmed")
FLAGS = ("spurious", "out_of_order", "duplicate_capture", "duplicate_network", "ack_unseen", "illegal_sequence",
         "wrong_length", "msn_backwards", "source_mac_changed", "lost_between_points", "time_backwards")
# Names of events that differ from those of their fields.
EVENT_OF = {"source_mac_changed": "mac_changed"}
FIELDS = ("roce.connection", "roce.direction", "roce.flow", "roce.analysis.retransmission",
          "roce.analysis.retransmission.cause", "roce.analysis.gap", "roce.analysis.lost",
          "roce.analysis.lost.packets", "roce.analysis.lost.direction") + tuple("roce.analysis." + f for f in FLAGS)


def run(*words):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=300, capture_output=True)
    assert done.returncode == 0, (words, done.returncode, done.stderr.decode())
    return done.stdout.decode()


def told_by_packets(path):
    """Counters by (connection, direction), and those of retransmissions and flags by flow."""
    arguments = [word for field in FIELDS for word in ("-e", field)]
    sides, flows = {}, {}
    for line in run("packets", path, "-T", "fields", *arguments, "-Y", "roce.analysis.flags").splitlines():
        values = dict(zip((f.removeprefix("roce.") for f in FIELDS), line.split("\t")))
        copy = values["analysis.duplicate_capture"] or values["analysis.duplicate_network"]
        connection, direction = values["connection"], values["direction"]
        own = sides.setdefault((connection, direction), Counter())
        flow = flows.setdefault(values["flow"], Counter())
        if values["analysis.retransmission"] and not copy:  # a copy of a repeat is no other repeat
            own["retransmitted_" + values["analysis.retransmission.cause"]] += 1
            flow["retransmitted_" + values["analysis.retransmission.cause"]] += 1
        own["gap"] += int(values["analysis.gap"] or 0)
        flow["gap"] += int(values["analysis.gap"] or 0)
        for flag in FLAGS:
            own[flag] += bool(values["analysis." + flag])
            flow[flag] += bool(values["analysis." + flag])
        lost = [values["analysis.lost" + key].split(",") for key in ("", ".packets", ".direction")]
        for place, count, whose in zip(*lost):
            if place:
                sides.setdefault((connection, whose), Counter())["lost_" + place] += int(count)
    return sides, flows


def told_by_report(path):
    report = json.loads(run("report", "--json", path))
    flows, sides = {}, {}
    for flow in report["flows"]:
        counts = Counter({"retransmitted_" + cause: flow["retransmitted"][cause] for cause in CAUSES})
        assert flow["retransmitted"]["packets"] == sum(counts.values()), path
        counts.update(gap=flow["gaps"], duplicate_capture=flow["duplicate_captures"],
                      **{flag: flow[flag] for flag in ("spurious", "out_of_order", "duplicate_network")})
        flows[str(flow["id"])] = counts
    for connection in report["connections"]:
        for side, direction, flow in zip(connection["sides"], ("a_to_b", "b_to_a"), (0, 1)):
            events = side["events"]
            counts = Counter({name: events[name]["count"] for name in events})
            counts["lost_after_capture"] += counts["lost_between_points"]  # behind where they were captured
            sides[str(connection["id"]), direction] = counts
    return report, sides, flows


def check(test, path):
    packet_sides, packet_flows = told_by_packets(path)
    report, sides, flows = told_by_report(path)
    names = ["retransmitted_" + cause for cause in CAUSES] + ["lost_" + place for place in PLACES] + ["gap"]
    for key in sorted(set(sides) | {k for k in packet_sides if k[0]}):
        told, shown = sides.get(key, Counter()), packet_sides.get(key, Counter())
        for name in names + list(FLAGS):
            test.assertEqual(told[EVENT_OF.get(name, name)], shown[name], (path, key, name))
    for key in sorted(set(flows) | set(packet_flows)):
        told, shown = flows.get(key, Counter()), packet_flows.get(key, Counter())
        for name in ["retransmitted_" + cause for cause in CAUSES] + ["gap", "spurious", "out_of_order",
                                                                     "duplicate_capture", "duplicate_network"]:
            test.assertEqual(told[name], shown[name], (path, "flow", key, name))
    # Losses have no packet of their own: those of the flows together are those of the connections.
    for place in PLACES:
        total = sum(counts["lost_" + place] for counts in packet_sides.values())
        test.assertEqual(sum(flow["lost"][place] for flow in report["flows"]), total, (path, place))
        test.assertEqual(sum(c["lost"][place] for c in report["connections"]), total, (path, place))


class Counters(unittest.TestCase):
    def test_of_every_sample(self):
        checked = 0
        for name in sorted(os.listdir(SAMPLES)):
            if ".pcap" not in name:
                continue
            with self.subTest(name):
                check(self, os.path.join(SAMPLES, name))
                checked += 1
        self.assertGreater(checked, 90)

    def test_of_generated_captures(self):
        with tempfile.TemporaryDirectory() as folder:
            for faults in GENERATED:
                path = os.path.join(folder, "capture")
                with self.subTest(faults):
                    subprocess.run([GENERATE, "--packets", "40000", "--faults", *faults, path], check=True, timeout=120)
                    check(self, path)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `lab` draws, and what it makes of a fabric's output. No fabric is needed."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "oracle")]
import lab_scenarios  # noqa: E402
import truth_samples  # noqa: E402

LAB = os.path.join(HERE, "lab")
loader = importlib.machinery.SourceFileLoader("lab", LAB)
lab = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab", loader))
loader.exec_module(lab)

QDISC = ("qdisc prio 1: root refcnt 2 bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n"
         " Sent 13000000 bytes 6300 pkt (dropped 174, overlimits 0 requeues 0)\n"
         "qdisc netem 10: parent 1:1 limit 200000 loss 2.95%\n"
         " Sent 12813132 bytes 6286 pkt (dropped 174, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n")


class Lab(unittest.TestCase):
    def test_a_scenario_depends_on_seed_and_number_only(self):
        self.assertEqual(lab_scenarios.draw(5, 7), lab_scenarios.draw(5, 7))
        self.assertNotEqual(lab_scenarios.draw(5, 7), lab_scenarios.draw(6, 7))
        self.assertNotEqual(lab_scenarios.draw(5, 7), lab_scenarios.draw(5, 8))

    def test_every_tool_and_every_impairment_is_drawn(self):
        drawn = [lab_scenarios.draw(1, number) for number in range(600)]
        self.assertEqual(len({scenario.name for scenario in drawn}), len(drawn))
        for tool in lab_scenarios.BANDWIDTH + lab_scenarios.LATENCY + lab_scenarios.OTHERS:
            self.assertTrue(any(f" {tool} " in scenario.server for scenario in drawn), tool)
        for kind in lab_scenarios.IMPAIRMENTS:
            for direction in ("ab", "ba"):
                self.assertTrue(any(f"_{kind}_{direction}" in scenario.name for scenario in drawn), kind)
        self.assertTrue(any(not scenario.netem for scenario in drawn))

    def test_the_network_duplicates_only_where_ids_tell(self):
        for number in range(600):
            scenario = lab_scenarios.draw(1, number)
            ipv6 = any(text in scenario.client for text in ("-x 2", "-g 2", lab_scenarios.IPV6))
            self.assertFalse(ipv6 and any("duplicate" in spec for spec in scenario.netem.values()), scenario)

    def test_output_of_the_machines(self):
        self.assertEqual(lab.qdisc(QDISC)[1:], (6286, 174))
        self.assertTrue(lab.qdisc(QDISC)[0].startswith("qdisc netem"))
        self.assertEqual(lab.qdisc("qdisc noqueue 0: dev lo root\n")[1:], (0, 0))
        self.assertEqual(lab.counters("rxe0.sent_pkts:12\neth0.rx_bytes:7\n"), {"rxe0.sent_pkts": 12, "eth0.rx_bytes": 7})
        self.assertEqual(lab.status_and_output("one\ntwo\n\n124\n"), (124, "one\ntwo\n"))

    def test_the_oracle_reads_the_manifest(self):
        scenario = lab_scenarios.draw(1, 5)
        host = next(iter(scenario.netem))
        entry = lab_scenarios.entry(scenario, {
            "client": (0, ""), "server": (0, ""), "ports": {"A": "eth0", "B": "eth1"}, "link_mtu": 9000,
            "env": {"A": ["6.12"], "B": ["6.12"]}, "tcpdump": {"A": "", "B": ""}, "took_s": 1,
            "qdisc": dict.fromkeys("AB", lab.qdisc(QDISC)),
            "counters": dict.fromkeys("AB", ({"rxe0.sent_pkts": 1, "rxe0.rcvd_pkts": 4}, {"rxe0.sent_pkts": 3, "rxe0.rcvd_pkts": 4}))})
        sample = truth_samples.Sample(os.devnull, entry)
        self.assertEqual((sample.counter("A", "sent_pkts"), sample.counter("B", "rcvd_pkts")), (2, 0))
        self.assertEqual(sample.dropped, 174 * len(scenario.netem))
        self.assertEqual(entry["netem"][0]["spec"], scenario.netem[host])
        self.assertEqual([file["file"] for file in entry["files"]], [f"{scenario.name}.c{end}.pcap" for end in "ab"])

    def test_says_that_no_fabric_is_up(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, LAB, "--folder", folder, "--a", "false", "--b", "false", "--c", "false"],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 77)
        self.assertIn("no fabric is up", done.stdout)


if __name__ == "__main__":
    unittest.main()

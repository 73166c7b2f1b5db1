#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`devices` and `host` as a user meets them: recorded trees, snapshots, wrong usage, a network namespace.
Usage: host_test.py ROCEANALYZE SAMPLES"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, _ = sys.argv.pop(1), sys.argv.pop(1)
TREES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "capture", "host_trees")


def run(*words, stdin=None):
    done = subprocess.run([PROGRAM, *words], check=False, timeout=60, capture_output=True, input=stdin)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def expand(name, root):
    """The format of tests/capture/host/host_fixture.hpp."""
    with open(os.path.join(TREES, name + ".txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if not line or line.startswith("#"):
                continue
            arrow, equals = line.find(" -> "), line.find("=")
            link = arrow >= 0 and (equals < 0 or arrow < equals)
            path = os.path.join(root, line[:arrow if link else equals])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if link:
                os.symlink(line[arrow + 4:], path)
            else:
                with open(path, "w", encoding="utf-8") as out:
                    out.write(line[equals + 1:].replace("\\n", "\n").replace("\\t", "\t") + "\n")


class Host(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        self.addCleanup(self.temporary.cleanup)

    def tree(self, name):
        root = os.path.join(self.folder, name)
        expand(name, root)
        return root

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_devices_of_a_recorded_machine(self):
        status, text, errors = run("devices", "--root", self.tree("connectx"))
        self.assertEqual((status, errors), (0, ""))
        for words in ("mlx5_0:1", "ens1f0np0", "4096 of 9000", "400 Gb/s", "10.1.0.11", "RoCE v2", "fd00:1::11",
                      "VLAN 100 on ens1f0np0, egress 3:3 4:4", "capture -i mlx5_0:1", "host_port_down"):
            self.assertIn(words, text)
        for name, words in (("connectx_lag", "bond0: LAG 802.3ad of ens2f0np0 ens2f1np1"),
                            ("bnxt_re", "1024 of 1500"), ("rxe", "capture -i eth0")):
            self.assertIn(words, run("devices", "--root", self.tree(name))[1])

    def test_devices_as_json(self):
        status, text, _ = run("devices", "--json", "--root", self.tree("rxe"))
        facts = json.loads(text)
        self.assertEqual(status, 0)
        self.assertEqual(facts["schema"], "roceanalyze-host/1")
        self.assertEqual(facts["devices"][0]["ports"][0]["gids"][1]["ipv4"], "10.77.0.1")
        self.assertEqual(json.loads(run("devices", "--json", "--pretty", "--root", self.path("rxe"))[1])["devices"],
                         facts["devices"])

    def test_snapshots_and_their_difference(self):
        root, before, after = self.tree("connectx"), self.path("a.json"), self.path("b.json")
        status, text, _ = run("host", "--root", root, "--snapshot", before)
        self.assertEqual(status, 0)
        self.assertIn("2 RDMA devices", text)
        with open(os.path.join(root, "sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence"), "w",
                  encoding="ascii") as file:
            file.write("400\n")
        self.assertEqual(run("host", "--root", root, "--snapshot", after)[0], 0)
        for words in (("--before", before, "--root", root), ("--before", before, "--after", after)):
            status, text, _ = run("host", *words)
            self.assertEqual(status, 0)
            self.assertIn("host_faults_counted", text)
            self.assertRegex(text, r"mlx5_0:1 +out_of_sequence +\+60 +packets +FAULT: packets received")
        self.assertEqual(run("host", "--before", before, "--after", after, "--fail-on", "warning")[0], 1)
        self.assertEqual(run("host", "--before", before, "--after", before, "--fail-on", "warning")[0], 0)
        report = json.loads(run("host", "--before", before, "--after", after, "--json")[1])
        self.assertEqual([c["name"] for c in report["difference"]["counters"]], ["out_of_sequence"])
        self.assertEqual(report["difference"]["counters"][0]["moved"], 60)
        self.assertIsNone(report["wire"])
        # Standard output and input.
        status, text, _ = run("host", "--root", root, "--snapshot", "-")
        self.assertEqual(status, 0)
        self.assertEqual(run("host", "--before", "-", "--root", root, stdin=text.encode())[0], 0)

    def test_a_snapshot_is_whole_or_not_there(self):
        root = self.tree("rxe")
        status, _, errors = run("host", "--root", root, "--snapshot", self.path("none/a.json"))
        self.assertEqual(status, 3)
        self.assertIn("No such file or directory", errors)
        self.assertEqual(run("host", "--root", root, "--snapshot", "/dev/full")[0], 3)
        self.assertFalse([n for n in os.listdir(self.folder) if n.endswith(".tmp")])

    def test_a_policy(self):
        status, text, _ = run("host", "--root", self.tree("connectx"), "--policy", "nvidia", "--fail-on", "notice")
        self.assertEqual(status, 1)
        self.assertIn("host_dcb_unknown", text)

    def test_wrong_usage(self):
        for words, expected in ((("--capture", "x.pcap"), "--before"), (("--snapshot", "a", "--after", "b"), "--after"),
                                (("--snapshot", "-", "--json"), "standard output"), (("--policy", "none_such"), "none_such"),
                                (("--before", "-", "--after", "-"), "standard input"), (("--before", ""), "the value is empty"),
                                (("--snapshot", ""), "the value is empty"), (("--root", ""), "the value is empty")):
            status, _, errors = run("host", *words)
            self.assertEqual(status, 2, words)
            self.assertIn(expected, errors)
        for words, expected in ((("host", "--before", self.path("none")), "none: No such file"),
                                (("devices", "--root", self.path("none")), "No such file"),
                                (("devices", "--root", os.path.abspath(__file__)), "is not a folder"),
                                (("host", "--before", os.path.abspath(__file__)), "is not JSON")):
            status, _, errors = run(*words)
            self.assertEqual(status, 3, words)
            self.assertIn(expected, errors)

    def test_this_host(self):
        for command in ("devices", "host"):
            status, text, errors = run(command)
            self.assertEqual((status, errors), (0, ""), command)
            self.assertIn("Host", text)

    def test_veth_in_a_namespace(self):
        """Netlink is asked in the namespace of the program; veth has no DCB, and that is said."""
        name = f"roce_host_{os.getpid()}"
        if subprocess.run(["ip", "netns", "add", name], check=False, capture_output=True).returncode != 0:
            self.skipTest("no network namespaces here")
        self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=False)
        inside = ["ip", "netns", "exec", name]
        if subprocess.run([*inside, "ip", "link", "add", "v0", "mtu", "4200", "type", "veth", "peer", "name", "v1"],
                          check=False, capture_output=True).returncode != 0:
            self.skipTest("no veth here")
        subprocess.run([*inside, "ip", "address", "add", "10.9.0.1/24", "dev", "v0"], check=True)
        facts = json.loads(subprocess.run([*inside, PROGRAM, "devices", "--json"], check=True, capture_output=True).stdout)
        links = {n["name"]: n for n in facts["netdevs"]}
        told = json.loads(subprocess.run([*inside, "ip", "-j", "link"], check=True, capture_output=True).stdout)
        self.assertEqual({n: links[n]["mtu"] for n in links}, {link["ifname"]: link["mtu"] for link in told})
        self.assertEqual(links["v0"]["kind"], "veth")
        self.assertEqual(links["v0"]["driver"], "veth")
        self.assertEqual(links["v0"]["largest_ib_mtu"], 4096)
        self.assertEqual(links["v0"]["addresses"], [{"address": "10.9.0.1", "prefix": 24}])
        self.assertFalse(links["v0"]["dcb"]["known"])
        self.assertEqual(links["v0"]["dcb"]["reason"], "its driver has no DCB")


if __name__ == "__main__":
    unittest.main()

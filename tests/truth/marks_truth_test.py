#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Truth by construction, of marks: generated captures in which every wrongly marked flow, every CE mark, every CNP and
every pause is known, against what the report says. Every such flow has to be named, and no other.

Usage: marks_truth_test.py ROCE_FAULT_GENERATE ROCEANALYZE [--packets N] [--scenario NAME]... [--seed N]"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time

# As tests/support/fault_marks.hpp designs its traffic.
DESIGNED = {"dscp": 26, "ecn": ("ect0", "ce"), "pcp": 3, "vlan": 100, "ttl": 64}
DESIGNED_CNP = {"dscp": 48, "ecn": ("not_ect",), "pcp": 6, "vlan": 100, "ttl": 64}
POLICY = 'name = "designed"\n' + "".join(
    f'[class.{name}]\ndscp = {marks["dscp"]}\necn = {json.dumps(marks["ecn"])}\npcp = {marks["pcp"]}\n'
    f'vlan = [{marks["vlan"]}]\nttl = {marks["ttl"]}\n'
    for name, marks in (("data", DESIGNED), ("ack", DESIGNED), ("atomic", DESIGNED), ("cnp", DESIGNED_CNP)))
# What breaks which mark.
MARK_OF = {"dscp": "dscp", "ecn": "ecn", "pcp": "pcp", "untagged": "vlan", "vlan": "vlan", "ttl": "ttl",
           "later": "dscp", "repeats": "dscp", "ce_marked": "ecn"}
STORM_NS = 2_000_000
# Scenario -> (options of the generator, what a NIC limits the distance of CNPs by)
SCENARIOS = {
    "as_designed": (["--faults", "marks", "--mismarked", "0"], None),
    "marks": (["--faults", "marks"], None),
    "marks_v6": (["--faults", "marks", "--ipv6"], None),
    "many_flows": (["--faults", "marks", "--qps", "1024", "--hosts", "16", "--mismarked", "0.05"], None),
    "congestion": (["--faults", "congestion"], "flow"),
    "congestion_pair": (["--faults", "congestion", "--cnp-per", "address_pair", "--cnp-spacing-ns", "10000"],
                        "address_pair"),
    "congestion_port": (["--faults", "congestion", "--cnp-per", "port", "--cnp-spacing-ns", "10000"], "port"),
    "all": (["--faults", "congestion", "--mismarked", "0.2"], "flow"),
    "pauses": (["--faults", "pauses"], None),
    "pauses_400G": (["--faults", "pauses", "--link-gigabits", "400"], None),
}


class Check:
    """Collects what differs."""

    def __init__(self):
        self.failures = []

    def equal(self, what, truth, said):
        if truth != said:
            self.failures.append(f"{what}: {str(truth)[:300]} by construction, {str(said)[:300]} in the report")

    def near(self, what, truth, said, by):
        if said is None or abs(truth - said) > by:
            self.failures.append(f"{what}: {truth} by construction, {said} in the report")


def read_truth(path):
    kinds = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            for kind in ("marking", "cnp_marking", "congestion", "pause"):
                if kind in entry:
                    kinds[kind].append(entry)
    return kinds


def flow_of(entry):
    return entry["src"], entry["dst"], entry["dst_qp"]


def is_designed(marks):
    designed = DESIGNED_CNP if marks["class"] == "cnp" else DESIGNED
    return all(marks[key] in wanted if key == "ecn" else marks[key] == wanted for key, wanted in designed.items())


def check_marks(check, truth, report, violations):
    wanted, first = collections.Counter(), {}
    by_mark = collections.Counter()
    for entry in truth["marking"] + truth["cnp_marking"]:
        mark = MARK_OF[entry.get("marking") or entry["cnp_marking"]]
        wanted[flow_of(entry)] += entry["packets"]
        by_mark[flow_of(entry), mark] += entry["packets"]
        if "frame" in entry:
            first[flow_of(entry)] = entry["frame"]

    # The report's JSON without a look at its policy: what each flow's packets bear.
    # Without what it takes for copies of the capture: a repeat that comes when the IPv4 IDs have gone once around.
    told, told_first = collections.Counter(), {}
    copies = {flow_of(flow): flow["duplicate_captures"] for flow in report["flows"] if flow["duplicate_captures"]}
    for flow in report["flows"]:
        for marks in flow["marks"]:
            if is_designed(marks):
                continue
            key = flow_of(flow)
            told[key] += marks["packets"]
            if marks["class"] != "cnp":
                told_first[key] = min(told_first.get(key, marks["first_packet"]), marks["first_packet"])
    check.equal("flows with wrong marks", sorted(wanted), sorted(told))
    check.equal("packets of them", {}, {key: (wanted[key], told[key], copies.get(key, 0)) for key in wanted
                                        if not 0 <= wanted[key] - told[key] <= copies.get(key, 0)})
    check.equal("copies are one in 10 000 at most", True, sum(copies.values()) * 10_000 <= report["roce"]["packets"])
    check.equal("first packets of them", first, told_first)

    # By the policy: packets, and findings with the count of flows.
    judged = collections.Counter()
    for number, src, dst, queue, rules in violations:
        for rule in rules.split(","):
            judged[(src, dst, int(queue, 16)), rule.rsplit(".", 1)[1]] += 1
    check.equal("packets that break the policy, by flow and mark", by_mark, judged)
    found = collections.Counter()
    for finding in report["findings"]:
        if finding["id"].startswith("policy_"):
            found[finding["id"].removeprefix("policy_")] += finding["count"]
            rule = re.search(r"Rule class\.(\w+)\.(\w+) ", finding["explanation"])
            flows = int(re.search(r"packets? of (\d+) flow", finding["explanation"]).group(1))
            breaking = {v[1:4] for v in violations if f"class.{rule.group(1)}.{rule.group(2)}" in v[4].split(",")}
            check.equal(f"flows of finding {rule.group(0)}", len(breaking), flows)
    marks = collections.Counter()
    for (_, mark), packets in by_mark.items():
        marks[mark] += packets
    check.equal("counts of findings by mark", {}, {mark: (marks[mark], found[mark]) for mark in marks | found
                                                   if not 0 <= marks[mark] - found[mark] <= sum(copies.values())})
    wrong = {row["class"] for row in report["markings"] if row["verdict"] == "violation"}
    check.equal("classes with violations in the matrix", bool(wanted), bool(wrong))


def check_congestion(check, truth, report, limit):
    said = report["congestion"]
    entries = truth["congestion"]
    check.equal("CE marks", sum(e["ce"] for e in entries), said["ce_packets"] - sum(
        e["packets"] for e in truth["cnp_marking"] if e["cnp_marking"] == "ce_marked"))
    check.equal("CNPs", sum(e["cnps"] for e in entries), said["cnp_packets"])
    check.equal("CNPs without CE", sum(e["without_ce"] for e in entries), said["cnps_without_ce"])
    delayed = [e for e in entries if e["delays"]]
    delays = said["ce_to_cnp_ns"]
    check.equal("delays from CE to CNP", sum(e["delays"] for e in delayed), delays["count"])
    if delayed:
        check.equal("least delay", min(e["least_delay"] for e in delayed), delays["min"])
        check.equal("largest delay", max(e["largest_delay"] for e in delayed), delays["max"])
    # Each side of each connection.
    wanted = {flow_of(e): (e["ce"], e["cnps"], e["without_ce"]) for e in entries}
    told = {}
    for connection in report["connections"]:
        for side, other in (("a", "b"), ("b", "a")):
            congestion = (connection["congestion"] or {}).get(side)
            if congestion:
                key = connection[side]["address"], connection[other]["address"], connection[other]["qp"]
                told[key] = congestion["ce_packets"], congestion["cnps"], congestion["cnps_without_ce"]
    check.equal("CE, CNPs, CNPs without CE by flow", sorted(wanted.items()), sorted(told.items()))
    if limit:
        # Few CNPs do not tell.
        limits = {sender["limited_by"] for sender in said["cnp_senders"]} - {None}
        check.equal("what CNPs are limited by", {limit}, limits)


def overlaps(one, other):
    """Times when both are paused: [ns ...]."""
    found = []
    for begin, end, _ in one:
        for b, e, _ in other:
            if min(end, e) > max(begin, b):
                found.append(min(end, e) - max(begin, b))
    return found


def check_pauses(check, truth, report):
    said = {(p["port"], p["priority"]): p for p in report["congestion"]["pause"]}
    check.equal("ports that pause", sorted((e["port"], e["priority"]) for e in truth["pause"]), sorted(said))
    for entry in truth["pause"]:
        port = said.get((entry["port"], entry["priority"]))
        if port is None:
            continue
        name = f"{entry['port']} ({entry['pause']})"
        for key in ("xoff", "xon", "refreshed", "needless_xon", "paused_at_end"):
            check.equal(f"{name} {key}", entry[key], port[key])
        lengths = [end - begin for begin, end, _ in entry["pauses"]]
        check.equal(f"{name} pauses", len(lengths), port["pauses"])
        check.equal(f"{name} expired", sum(how == "expired" for _, _, how in entry["pauses"]), port["expired"])
        check.equal(f"{name} storms", sum(length >= STORM_NS for length in lengths), port["storms"])
        check.near(f"{name} paused", sum(lengths), port["paused_ns"], len(lengths) + 1)
        check.near(f"{name} longest", max(lengths), port["longest_ns"], 1)
    told = {frozenset(m["ports"]): (m["times"], m["total_at_least_ns"]) for m in report["congestion"]["pause_mutual"]}
    for i, one in enumerate(truth["pause"]):
        for other in truth["pause"][:i]:
            times = overlaps(one["pauses"], other["pauses"])
            pair = frozenset((one["port"], other["port"]))
            got = told.pop(pair, (0, 0))
            check.equal(f"mutual pauses of {sorted(pair)}", len(times), got[0])
            check.near(f"mutual time of {sorted(pair)}", sum(times), got[1], len(times) + 1)
    check.equal("other mutual pauses", {}, told)


def run_scenario(arguments, name, folder):
    options, limit = SCENARIOS[name]
    capture, truth_path = os.path.join(folder, name + ".pcap"), os.path.join(folder, name + ".jsonl")
    policy = os.path.join(folder, "policy.toml")
    with open(policy, "w", encoding="utf-8") as file:
        file.write(POLICY)
    subprocess.run([arguments.generate, capture, "--truth", truth_path, "--packets", str(arguments.packets), "--seed",
                    str(arguments.seed), *options], check=True)
    speed = options[options.index("--link-gigabits") + 1] if "--link-gigabits" in options else "100"
    command = [arguments.program, "report", capture, "--json", "--policy", policy, "--link-speed", speed + "G",
               "--pause-storm", f"{STORM_NS // 10**6}ms"]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    version = "ipv6" if "--ipv6" in options else "ip"
    listed = subprocess.run([arguments.program, "packets", capture, "--policy", policy, "-Y", "roce.marking.violation",
                             "-T", "fields", "-e", "frame.number", "-e", version + ".src", "-e", version + ".dst", "-e",
                             "infiniband.bth.destqp", "-e", "roce.marking.violation"], capture_output=True, check=True,
                            text=True).stdout
    violations = [tuple(line.split("\t")) for line in listed.splitlines()]
    truth = read_truth(truth_path)
    os.remove(capture)
    os.remove(truth_path)
    check = Check()
    check_marks(check, truth, report, violations)
    check_congestion(check, truth, report, limit)
    check_pauses(check, truth, report)
    wrong = {flow_of(e) for e in truth["marking"] + truth["cnp_marking"]}
    return check, (report["roce"]["packets"], len(report["flows"]), len(wrong), len(violations),
                   sum(e["ce"] for e in truth["congestion"]), sum(e["cnps"] for e in truth["congestion"]),
                   sum(len(e["pauses"]) for e in truth["pause"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("generate")
    parser.add_argument("program")
    parser.add_argument("--packets", type=int, default=100_000)
    parser.add_argument("--scenario", action="append", default=[], choices=list(SCENARIOS))
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    failed = []
    print(f"{'scenario':16} {'packets':>8} {'flows':>6} {'wrong':>6} {'of packets':>10} {'CE':>7} {'CNPs':>6} pauses")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.scenario or SCENARIOS:
            begin = time.monotonic()
            check, row = run_scenario(arguments, name, folder)
            print("{:16} {:8} {:6} {:6} {:10} {:7} {:6} {:7}".format(name, *row), f"{time.monotonic() - begin:6.1f} s",
                  flush=True)
            for failure in check.failures:
                print("    FAIL:", failure)
            if check.failures:
                failed.append(name)
    print(f"failed: {' '.join(failed)}" if failed else "every wrong flow and every pause is named, and no other")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

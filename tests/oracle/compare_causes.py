#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `roceanalyze compare` says why packets were sent again, against a simulated network with one impairment only, so
that the cause of each repeat is known by construction: what can be lost, damaged or late is so in one place.

    compare_causes.py ROCEANALYZE ROCE_FAULT_GENERATE [--seed N] [--packets N]

The simulated capture stands between A and B; the second one is at end A or at end B of each connection. With end B, what
lies before the capture is upstream of both points and what lies after it is between them; with end A the reverse. Requests
come from A. Exit status: 0 as expected, 1 a difference."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

# What befalls requests or responses in which half, the end with the second capture, and the causes that it can have. A
# response that comes again because its READ does has the READ's cause, told of its own direction. As many hosts as
# connections: all packets between two addresses pass the points in one order.
BASE = ["--both-directions", "0", "--qps", "16", "--hosts", "16", "--max-reads", "4"]
REQUESTS, RESPONSES = ["--victims", "requests"], ["--victims", "responses"]
ANSWER_LOST = {"ack_lost_between", "nak_lost_between", "response_lost_between"}
SCENARIOS = {
    # name: (options, end of the second capture, causes, all but that share must be told)
    "requests_between": (REQUESTS + ["--loss-after", "0.01"], "b", {"lost_between"}, 0.001),
    "requests_between_rows": (REQUESTS + ["--loss-after", "0.004", "--loss-row", "8"], "b", {"lost_between"}, 0.001),
    "requests_before": (REQUESTS + ["--loss-before", "0.01"], "b", {"lost_before", "lost_behind", "unknown"}, 0.03),
    "requests_behind": (REQUESTS + ["--loss-after", "0.01"], "a", {"lost_behind", "lost_before", "unknown"}, 0.03),
    "requests_between_near_a": (REQUESTS + ["--loss-before", "0.01"], "a", {"lost_between"}, 0.001),
    "requests_trimmed": (REQUESTS + ["--trim-percent", "1", "--path-mtu", "1024"], "a", {"trimmed_between"}, 0.001),
    "responses_between": (RESPONSES + ["--loss-before", "0.01"], "b", ANSWER_LOST, 0.1),
    "responses_between_near_a": (RESPONSES + ["--loss-after", "0.01"], "a", ANSWER_LOST, 0.15),
    "responses_passed": (RESPONSES + ["--loss-after", "0.01"], "b", {"answer_passed"}, 0.1),
    "overtaken": (REQUESTS + ["--reorder-after", "0.01", "--timeout", "14"], "b", {"overtaken_between"}, 0.001),
    "responses_overtaken": (RESPONSES + ["--reorder-before", "0.01", "--timeout", "14"], "b", {"overtaken_between"}, 0.15),
    "slow": (["--slow", "0.01"], "b", {"answer_late", "unknown"}, 0),
    "slow_near_a": (["--slow", "0.01"], "a", {"answer_late", "unknown"}, 0),
    "long_way": (["--latency-b-ns", "1500000", "--timeout", "7"], "b", {"answer_late", "unknown"}, 0.03),
    "not_ready": (["--rnr", "0.02", "--mix", "0", "1", "0", "0"], "b", {"receiver_not_ready"}, 0.001),
    "nothing": ([], "b", set(), 0),
}
# Nobody answers again for what a receiver keeps that comes early, so a lost packet looks as one answered late.
UNTOLD = {("requests_before", "selective"): {"answer_late", "unknown"},
          ("requests_behind", "selective"): {"answer_late", "unknown"}}
# What may be told otherwise: a second go-back within a round trip of the first one (READs), whose own reason is gone from
# memory; equal transmissions without IDs over a long way. Never a loss where none was.
FALSE_LOSS = {"lost_before", "lost_between", "lost_behind", "ack_lost_between", "nak_lost_between", "response_lost_between"}
NO_LOSS = {"overtaken", "responses_overtaken", "slow", "slow_near_a", "not_ready", "nothing"}
VARIANTS = {"": [], "ipv6": ["--ipv6"], "selective": ["--recovery", "selective_repeat"],
            "psn_wrap": ["--first-psn", "wrap"], "random_ids": ["--ip-id", "random"]}


def causes_of(program, generate, options, at, folder):
    """{cause: packets}"""
    first, second = (os.path.join(folder, name) for name in ("first.pcap", "second.pcap"))
    subprocess.run([generate, first, "--second", second, "--second-at", at, *BASE, *options], check=True)
    pair = (first, second) if at == "b" else (second, first)
    told = json.loads(subprocess.run([program, "compare", "--json", *pair], check=True, capture_output=True).stdout)
    sums = {}
    for direction in told["retransmissions"].values():
        for cause, packets in direction.items():
            if cause != "packets" and packets:
                sums[cause] = sums.get(cause, 0) + packets
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("generate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--packets", type=int, default=10_000)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    failed = all_told = all_repeats = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (impairment, at, expected, share) in SCENARIOS.items():
            for variant, more in VARIANTS.items():
                sums = causes_of(options.program, options.generate, [*impairment, *more, "--seed", str(options.seed),
                                                                     "--packets", str(options.packets)], at, folder)
                repeats = sum(sums.values())
                allowed = expected | UNTOLD.get((name, variant), set())
                wrong = {cause: packets for cause, packets in sums.items() if cause not in allowed}
                missed = sum(wrong.values())
                all_repeats += repeats
                all_told += repeats - missed
                bad = missed > share * repeats or (name in NO_LOSS and FALSE_LOSS & set(sums))
                failed += bool(bad)
                if bad or options.verbose:
                    print(f"{'FAIL' if bad else 'ok'}: {name} {variant}: {repeats} repeats, told {sums}")
    print(f"{len(SCENARIOS) * len(VARIANTS)} scenarios, {all_told} of {all_repeats} repeats as constructed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

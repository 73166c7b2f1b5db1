#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which packets break which rule of a policy: roce.marking.violation and the findings against what tshark's fields and
the tables of this script say, of every packet.

    policy_verdicts.py ROCEANALYZE [--all] [FILE|DIRECTORY...]

Without files: samples/ of the project, without --all the small ones only; and the capture of marking_counts.py in which
every class has many marks. Exit status 77: there is no tshark here.
"""

import collections
import json
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays clean
import marking_counts  # noqa: E402
from tshark_fields import SKIP, files_of, run  # noqa: E402

SMALL = 8192  # bytes of a sample that is judged without --all
EVERY = ("not_ect", "ect0", "ect1", "ce")
CAPABLE, NOT_CE = ("ect0", "ect1", "ce"), ("not_ect", "ect0", "ect1")
# The table of the profile "nvidia": class -> DSCP, ECN, PCP of tagged packets.
NVIDIA = {"data": (26, CAPABLE, 3), "response": (26, CAPABLE, 3), "ack": (26, NOT_CE, 3), "atomic": (26, EVERY, 3),
          "cnp": (48, NOT_CE, 6)}
OWN = """
[class.data]
dscp = [0, "26-48"]
vlan = "forbidden"
[class.ack]
vlan = [100]
ttl = 64
[class.cm]
priority = 3
[allow]
p_keys = 0xffff
[checks]
pcp_from_tos = true
[[rule]]
name = "from"
src = "10.0.0.0/31"
dscp = 48
class = ["data", "cnp"]
[[rule]]
name = "pair"
src = "10.0.0.1"
dst = "10.0.1.0/24"
class = "data"
dscp = 26
"""


def nvidia(marks):
    if marks["class"] not in NVIDIA:
        return
    dscp, ecn, pcp = NVIDIA[marks["class"]]
    if marks["dscp"] != dscp:
        yield f"class.{marks['class']}.dscp"
    if marks["ecn"] not in ecn:
        yield f"class.{marks['class']}.ecn"
    if marks["pcp"] not in (None, pcp):
        yield f"class.{marks['class']}.pcp"


def own(marks):
    kind, dscp = marks["class"], marks["dscp"]
    quiet = False  # a priority is judged only of packets whose DSCP and tag are right
    if kind == "data" and marks["src"] == "10.0.0.1" and marks["dst"].startswith("10.0.1."):
        quiet = dscp != 26
        yield from ["rule.pair.dscp"] * quiet
    elif kind in ("data", "cnp") and marks["src"] in ("10.0.0.0", "10.0.0.1"):
        quiet = dscp != 48
        yield from ["rule.from.dscp"] * quiet
    elif kind in ("data", "response"):
        quiet = dscp != 0 and not 26 <= dscp <= 48
        yield from ["class.data.dscp"] * quiet
    if kind in ("data", "response") and marks["vlan"] is not None:
        quiet = True
        yield "class.data.vlan"
    if kind == "ack" and marks["ttl"] != 64:
        yield "class.ack.ttl"
    if kind == "ack" and marks["vlan"] != 100:
        quiet = True
        yield "class.ack.vlan"
    if kind == "cm" and dscp >> 3 != 3:
        yield "class.cm.priority"
    if not quiet and marks["pcp"] is not None and marks["pcp"] != dscp >> 3:
        yield "checks.pcp_from_tos"
    if marks["p_key"] & 0x7FFF != 0x7FFF:
        yield "allow.p_keys"


def compare(program, path, policy, judge, judged):
    """Returns packets compared, broken ones, and lines of what differs. `judged` are tshark's packets."""
    status, out, _ = run([program, "report", "--json", "--no-icrc", path, "--policy", policy])
    report = json.loads(out) if status == 0 else None
    if report is None or report["roce"]["v1"] + report["roce"]["native_ib"] != 0:
        return 0, 0, []
    _, out, _ = run([program, "packets", path, "--policy", policy, "-Y", "roce.marking.violation", "-T", "fields", "-e",
                     "frame.number", "-e", "roce.marking.violation"])
    ours = {int(number): sorted(keys.split(",")) for number, keys in (line.split("\t") for line in out.splitlines())}
    copies = (marking_counts.copies_of(program, path)
              if any(f["duplicate_captures"] for f in report["flows"]) else set())
    packets, theirs, counts, first = 0, {}, collections.Counter(), {}
    for number, marks in judged:
        packets += 1
        keys = sorted(judge(marks))
        if keys:
            theirs[number] = keys
        if number not in copies:
            counts.update(keys)
            for key in keys:
                first.setdefault(key, number)
    wrong = [f"packet {n}: ours {ours.get(n)}, expected {theirs.get(n)}"
             for n in sorted(set(ours) | set(theirs)) if ours.get(n) != theirs.get(n)]
    found = {}
    for finding in report["findings"]:
        if finding["id"].startswith("policy_"):
            key = re.match(r"Rule (\S+) of", finding["explanation"]).group(1)
            found[key] = (finding["count"], finding["packets"][0])
    expected = {key: (counts[key], first[key]) for key in counts}
    if report["markings_others"] == 0 and found != expected:
        wrong.append(f"findings: ours {found}, expected {expected}")
    return packets, len(theirs), wrong


def main():
    program = sys.argv[1]
    if shutil.which("tshark") is None:
        print("no tshark here: skipped")
        return SKIP
    everything = "--all" in sys.argv
    named = [word for word in sys.argv[2:] if word != "--all"]
    with tempfile.TemporaryDirectory() as directory:
        here = os.path.dirname(os.path.abspath(__file__))
        files = files_of(named or [os.path.join(here, "..", "..", "samples")])
        if not named:
            files = [file for file in files if everything or os.path.getsize(file) <= SMALL]
            files.append(os.path.join(directory, "made.pcap"))
            marking_counts.made(files[-1])
        policy = os.path.join(directory, "own.toml")
        with open(policy, "w", encoding="utf-8") as out:
            out.write(OWN)
        packets = broken = differing = 0
        for path in files:
            judged = list(marking_counts.packets_of(path))
            for name, judge in (("nvidia", nvidia), (policy, own)):
                seen, bad, wrong = compare(program, path, name, judge, judged)
                packets, broken, differing = packets + seen, broken + bad, differing + len(wrong)
                for line in wrong[:10]:
                    print(f"{path}: {os.path.basename(name)}: {line}")
    print(f"{packets} packets judged, {broken} break a rule, {differing} differences")
    return 1 if differing or not broken else 0


if __name__ == "__main__":
    sys.exit(main())

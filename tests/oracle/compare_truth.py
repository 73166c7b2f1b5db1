#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `roceanalyze compare` says of the samples recorded at two points, against the impairment's own counters and
against a matching of its own over tshark's fields.

    compare_truth.py ROCEANALYZE [FOLDER] [--table]

FOLDER (default: the project's samples/) holds NAME.ca.pcap and NAME.cb.pcap, the two ports of a switch with one clock,
and the manifest.json that tells what was done between them. --table prints the rows of docs/compare.md. Exit status:
0 agreement, 1 a difference, 77 no tshark.

Truth, independent of roceanalyze
---------------------------------
1. Equal packets have equal addresses, IPv4 ID, opcode, destination QP, PSN and ICRC; equal ones are matched in order.
   What is left over on both sides with the same ICRC, or with all but the ICRC equal, was damaged between.
2. A packet's direction is its sender's: the MAC address of A. What the first point has more often than the second was
   lost, what the second has more often was doubled.
3. netem's `dropped` = lost RoCE packets + lost other frames of that direction; the latter are counted by the sender's
   MAC. `netem ... ecn` drops nothing: its counter is of CE marks.
4. The offset of the clocks is 0, for both are the switch's.
"""

import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

MAC_A, MAC_B = "52:54:00:00:0a:01", "52:54:00:00:0b:01"
FIELDS = ["frame.number", "frame.time_epoch", "eth.src", "ip.src", "ipv6.src", "ip.dst", "ipv6.dst", "ip.id",
          "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn", "infiniband.invariant.crc",
          "ip.dsfield.dscp", "ip.dsfield.ecn", "ipv6.tclass.dscp", "ipv6.tclass.ecn", "ip.ttl", "ipv6.hlim", "vlan.id",
          "vlan.priority"]
Packet = collections.namedtuple("Packet", "number time sender key icrc marks opcode flow psn")
# Frames that are not RoCE and seem lost in that direction, but are not: 14_mtu1500_loss.ca begins 1 s before .cb, with
# a neighbour advertisement of A (frame 3) that B got, for it asked no more.
EARLY = {("14_mtu1500_loss", 0): 1}
# The first point of direction 0 is A.
DIRECTIONS = ("a_to_b", "b_to_a")
SEQUENCED = set(range(0x00, 0x11)) | {0x12} | set(range(0x13, 0x18)) | set(range(0x20, 0x2c))
ANSWERS = {0x0d, 0x0e, 0x0f, 0x10, 0x12}


def frames(path):
    """([RoCE packets], {sender's MAC: other frames})."""
    command = ["tshark", "-r", path, "-d", "udp.port==8472,vxlan", "-T", "fields", "-E", "occurrence=a",
               "-E", "separator=|"]
    for field in FIELDS:
        command += ["-e", field]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    packets, others = [], collections.Counter()
    for line in lines:
        values = dict(zip(FIELDS, line.split("|")))
        # In a tunnel the innermost headers count; who sent the frame, the outermost one tells.
        f = {field: text.split(",")[0 if field == "eth.src" else -1] for field, text in values.items()}
        if not f["infiniband.bth.opcode"]:
            others[f["eth.src"]] += 1
            continue
        seconds, _, fraction = f["frame.time_epoch"].partition(".")
        source, target = f["ip.src"] or f["ipv6.src"], f["ip.dst"] or f["ipv6.dst"]
        opcode, psn = int(f["infiniband.bth.opcode"], 0), int(f["infiniband.bth.psn"], 0)
        queue = int(f["infiniband.bth.destqp"], 16)
        six = not f["ip.src"]
        marks = {"dscp": f["ipv6.tclass.dscp" if six else "ip.dsfield.dscp"],
                 "ecn": f["ipv6.tclass.ecn" if six else "ip.dsfield.ecn"],
                 "ttl": f["ipv6.hlim" if six else "ip.ttl"], "vlan": f["vlan.id"], "pcp": f["vlan.priority"]}
        # CE outside of a tunnel is CE inside as soon as it is taken out (RFC 6040, 4.2).
        outside = [values[name].split(",")[0] for name in ("ip.dsfield.ecn", "ipv6.tclass.ecn")]
        if values["ip.src"].count(",") + values["ipv6.src"].count(",") + bool(values["ip.src"] and values["ipv6.src"]) \
                and "3" in outside and marks["ecn"] != "0":
            marks["ecn"] = "3"
        packets.append(Packet(int(f["frame.number"]), int(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9]),
                              f["eth.src"], (source, target, f["ip.id"], opcode, queue, psn),
                              f["infiniband.invariant.crc"], marks, opcode, (source, target, queue), psn))
    return packets, others


class Match:
    """One direction: its packets at the first and the second point."""

    def __init__(self, first, second):
        waiting = collections.defaultdict(collections.deque)
        for packet in second:
            waiting[packet.key, packet.icrc].append(packet)
        self.pairs, missing = [], []
        for packet in first:
            same = waiting[packet.key, packet.icrc]
            if same:
                self.pairs.append((packet, same.popleft()))
            else:
                missing.append(packet)
        extra = [packet for same in waiting.values() for packet in same]
        self.damaged, self.lost = 0, []
        for packet in missing:
            fellow = next((e for e in extra if e.icrc == packet.icrc or e.key == packet.key), None)
            if fellow and (packet.key, packet.icrc) not in {(p.key, p.icrc) for p, _ in self.pairs}:
                extra.remove(fellow)
                self.damaged += 1
                self.pairs.append((packet, fellow))
            else:
                self.lost.append(packet.number)
        self.doubled = len(extra)
        self.first = first

    def late(self):
        """Packets that a later one of their flow overtook."""
        flows = collections.defaultdict(list)
        for packet, there in sorted(self.pairs):
            flows[packet.flow].append(there.number)
        count = 0
        for numbers in flows.values():
            least = float("inf")
            for number in reversed(numbers):
                count += number > least
                least = min(least, number)
        return count

    def repeats(self):
        """Packets with PSNs that are not beyond all before them."""
        highest, count = {}, 0
        for packet in self.first:
            if packet.opcode not in SEQUENCED:
                continue
            space = packet.flow, packet.opcode in ANSWERS
            if space in highest and not 0 < (packet.psn - highest[space]) % 2**24 < 2**23:
                count += 1
            else:
                highest[space] = packet.psn
        return count

    def changed(self, field):
        return sum(here.marks[field] != there.marks[field] for here, there in self.pairs)


def percentile(values, percent):
    return values[max((len(values) * percent + 99) // 100, 1) - 1]


def checked(name, said, ways, drops, others):
    """[(what, expected, said)] that differ."""
    facts = []
    expect = lambda what, wanted, got: facts.append((what, wanted, got))
    lost = [[l["packet"] for l in said["lost"] if l["direction"] == d] for d in DIRECTIONS]
    for i, direction in enumerate(DIRECTIONS):
        way = ways[i]
        expect(f"lost_{direction}", len(way.lost), said[f"lost_{direction}"])
        # Of equal copies either may be called the lost one.
        if not said["lost_omitted"]:
            expect(f"lost packets {direction}", sorted(way.lost), sorted(lost[i]))
        expect(f"matched {direction}", len(way.pairs), said["matched"][direction])
        expect(f"duplicated {direction}", way.doubled, said["duplicated"][direction])
        expect(f"reordered {direction}", way.late(), said["reordered"][direction]["packets"])
        expect(f"repeats {direction}", way.repeats(), said["retransmissions"][direction]["packets"])
        expect(f"missed {direction}", 0, said["missed_by_capture"][direction])
        expect(f"not covered {direction}", 0, said["not_covered"][direction])
        if drops[i] is not None:
            expect(f"netem's counter {direction}", drops[i],
                   said[f"lost_{direction}"] + others[i] - EARLY.get((name, i), 0))
    for field in ("dscp", "ecn", "ttl", "vlan", "pcp"):
        # Damaged headers are no marks.
        expect(f"changed {field}", sum(w.changed(field) for w in ways) if not sum(w.damaged for w in ways) else 0,
               said["changed"][field])
    there, back = ([p.time - q.time for q, p in w.pairs] for w in ways)
    if there and back:
        expect("offset's error covers 0", True, abs(said["clock_offset_ns"]) <= said["clock_offset_error_ns"])
        offset = (min(there) - min(back)) / 2
        expect("offset", True, abs(offset - said["clock_offset_ns"]) <= 1)
        for direction, delays, sign in (("a_to_b", there, -1), ("b_to_a", back, 1)):
            delays = sorted(d + sign * said["clock_offset_ns"] for d in delays)
            wanted = {"count": len(delays), "min": delays[0], "p50": percentile(delays, 50),
                      "p90": percentile(delays, 90), "p99": percentile(delays, 99), "max": delays[-1]}
            got = {key: said["delay_ns"][direction][key] for key in wanted}
            # Which of two copies is the double is a matter of taste.
            if not sum(w.doubled for w in ways):
                expect(f"delays {direction}", wanted, got)
    return [fact for fact in facts if fact[1] != fact[2]]


def main():
    program, *rest = sys.argv[1:]
    table = "--table" in rest
    folders = [argument for argument in rest if not argument.startswith("--")]
    folder = folders[0] if folders else os.path.join(os.path.dirname(__file__), "..", "..", "samples")
    if not shutil.which("tshark"):
        print("no tshark")
        return 77
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        entries = json.load(file)
    failures = compared = 0
    for entry in entries:
        paths = []
        for ending in ("ca", "cb"):
            base = os.path.join(folder, f"{entry['name']}.{ending}.pcap")
            paths += [p for p in (base, base + ".zst") if os.path.exists(p)][:1]
        if len(paths) != 2:
            continue
        run = subprocess.run([program, "compare", "--json", *paths], capture_output=True, text=True, check=True)
        said = json.loads(run.stdout)
        with tempfile.TemporaryDirectory() as plain:
            opened = []
            for path in paths:
                target = os.path.join(plain, os.path.basename(path).removesuffix(".zst"))
                if path.endswith(".zst"):
                    subprocess.run(["zstd", "-dqf", path, "-o", target], check=True)
                else:
                    shutil.copy(path, target)
                opened.append(frames(target))
        (in_a, others_a), (in_b, others_b) = opened
        # A damaged MAC address is nobody's: by the addresses then.
        a_addresses = {p.key[0] for p in in_a if p.sender == MAC_A}
        from_a = lambda p: p.sender == MAC_A or (p.sender != MAC_B and p.key[0] in a_addresses)
        ways = [Match([p for p in in_a if from_a(p)], [p for p in in_b if from_a(p)]),
                Match([p for p in in_b if not from_a(p)], [p for p in in_a if not from_a(p)])]
        others = [others_a[MAC_A] - others_b[MAC_A], others_b[MAC_B] - others_a[MAC_B]]
        drops = [None, None]
        for netem in entry["netem"]:
            drops_packets = not {"ecn", "duplicate"} & set(netem["spec"].split())
            if netem["on"] == "C" and drops_packets and netem.get("dropped") is not None:
                drops[0 if netem["dev"] == "eth1" else 1] = netem["dropped"]
        wrong = checked(entry["name"], said, ways, drops, others)
        compared += 1
        if table:
            text = [str(d) if d is not None else "" for d in drops]
            print(f"| {entry['name']} | {text[0]} | {others[0] if drops[0] is not None else ''} | "
                  f"{said['lost_a_to_b']} | {text[1]} | {others[1] if drops[1] is not None else ''} | "
                  f"{said['lost_b_to_a']} | {'no' if wrong else 'yes'} |")
        for what, wanted, got in wrong:
            failures += 1
            print(f"{entry['name']}: {what}: {wanted} by tshark, {got} by roceanalyze", file=sys.stderr)
    print(f"{compared} pairs of captures, {failures} differences", file=sys.stderr)
    return 1 if failures or not compared else 0


if __name__ == "__main__":
    sys.exit(main())

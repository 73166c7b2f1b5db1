# SPDX-License-Identifier: Apache-2.0
"""The scenarios of a folder of samples, from its manifest.json, and the truth about each of their files."""

import csv
import ipaddress
import json
import os

import truth_frames
from truth_scenario import Scenario, split_by_interface

# The oracle does not open tunnels. Nothing was lost there, as the counters of both hosts say.
TUNNELLED = "09_"
COLUMNS = ("frame", "retransmission", "cause", "trigger", "original", "spurious", "seen_acknowledged", "out_of_order",
           "late", "dup_network", "dup_capture", "lost_downstream", "named", "damaged", "decidable", "psn", "opcode")


class Sample:
    """One scenario: what was done, what the counters say, and per file the truth (None: tunnelled)."""

    def __init__(self, folder, entry):
        self.name, self.entry = entry["name"], entry
        self.paths = {}
        for file in entry["files"]:
            for name in (file["file"], file["file"] + ".zst"):
                path = os.path.join(folder, name)
                if os.path.exists(path):
                    self.paths.setdefault(name, path)
                    break
        self.scenario = None
        self.captures = {}
        if self.paths and not self.name.startswith(TUNNELLED):
            self.build()

    def counter(self, host, name):
        return self.entry["hw_counters_delta"].get(host, {}).get("rxe0." + name, 0)

    def both(self, name):
        return self.counter("A", name) + self.counter("B", name)

    @property
    def dropped(self):
        return sum(netem["dropped"] for netem in self.entry["netem"] if "ecn" not in netem["spec"])

    def at(self, ending):
        return next((name for name in self.paths if f".{ending}.pcap" in name), None)

    def build(self):
        contents = {name: truth_frames.roce_packets(path) for name, path in self.paths.items()}
        for packets, _ in contents.values():
            # dumpcap writes what one interface saw in batches, behind what another saw after it.
            if len({packet.interface for packet in packets}) > 1:
                packets.sort(key=lambda packet: (packet.time, packet.number))
        first = next(iter(contents))
        near, sides = {"A": first, "B": first}, {}
        for a, b in (("a", "b"), ("ca", "cb")):
            if self.at(a) and self.at(b):
                near = {"A": self.at(a), "B": self.at(b)}
                sides.update({self.at(a): "A", self.at(b): "B"})
        netem = self.entry["netem"]
        two_sides = len(contents) == 1 and len({p.interface for p in contents[first][0]}) == 2
        if two_sides:
            halves = split_by_interface(*contents[first])
            contents, near = {"0": halves[0], "1": halves[1]}, {"A": "0", "B": "1"}
            sides = {"0": "A", "1": "B"}
        self.scenario = Scenario(contents, near, sides, any("duplicate" in n["spec"] for n in netem),
                                 any(n["on"] != "C" for n in netem))
        self.captures = dict(self.scenario.captures)
        if two_sides:
            self.captures = {first: self.joined()}

    def joined(self):
        """Two interfaces in one capture: the one nearer to the requester, A, tells; the other one shows copies."""
        near, far = self.captures["0"], self.captures["1"]
        for told in far.told.values():
            told.dup_capture = 1
        near.told.update(far.told)
        for told in near.told.values():
            told.original, told.out_of_order, told.late = "", 0, 0  # the file's order mixes the interfaces
        for flow in near.flows.values():
            # Beyond it the same capture shows what is missing: all of it is known, and behind the first interface.
            flow.lost_before = flow.lost_before_head = flow.lost_before_tail = 0
            flow.lost_after_named += flow.lost_after_window
            flow.lost_after_window = 0
        return near

    def write(self, folder):
        for name, capture in self.captures.items():
            with open(os.path.join(folder, name + ".csv"), "w", encoding="ascii") as stream:
                out = csv.writer(stream)
                out.writerow(COLUMNS)
                out.writerows([getattr(told, column) for column in COLUMNS]
                              for _, told in sorted(capture.told.items()) if told.tells)


def flow_name(key):
    return f"{ipaddress.ip_address(key[0])}>{ipaddress.ip_address(key[1])}:0x{key[2]:x}"


def samples(folder):
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as stream:
        entries = json.load(stream)
    for entry in entries:
        sample = Sample(folder, entry)
        if sample.paths:
            yield sample

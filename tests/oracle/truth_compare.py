# SPDX-License-Identifier: Apache-2.0
"""Compares what roceanalyze says of one capture with the truth about it. Rules: retransmission_truth.py."""

import collections

from truth_samples import flow_name

CAUSES = ("nak", "rnr", "read_retry", "timeout", "unknown")
PREFIX = "roce.analysis."


class Difference:
    """`kind`, our figure and the true one (None: packets that differ), and the packets or flows where they part."""

    def __init__(self, kind, ours, truth, places=""):
        self.kind, self.ours, self.truth, self.places = kind, ours, truth, places

    def __str__(self):
        if self.truth is None:
            return f"{self.kind}: {self.ours} packets"
        return f"{self.kind}: roceanalyze {self.ours}, truth {self.truth}"


def names_of(flow):
    return f"{flow['src']}>{flow['dst']}:0x{flow['dst_qp'] or 0:x}"


def compare(capture, report, packets, verdict):
    """(figures for the table, differences)"""
    ours = collections.Counter()
    for flow in report["flows"]:
        for cause in CAUSES:
            ours[cause] += flow["retransmitted"][cause]
        for place in ("before", "after"):
            ours[place] += flow["lost"][place + "_capture"]
        ours["by"] += flow["lost"]["by_capture"]
        ours["out_of_order"] += flow["out_of_order"]
    for connection in report["connections"]:
        ours["naks"] += connection["naks"]["sequence_error"]
        ours["rnr_naks"] += connection["naks"]["rnr"]
    truth = collections.Counter()
    differences = []
    if capture is not None:
        for key, flow in capture.flows.items():
            truth.update(flow.retransmitted)
            truth["before"] += flow.lost_before
            truth["after"] += flow.lost_after_named
            truth["window"] += flow.lost_after_window
            truth["naks"] += flow.naks
            truth["rnr_naks"] += flow.rnr_naks
            truth["out_of_order"] += flow.out_of_order
        differences += lost(capture, report)
        differences += repeats(capture, packets, verdict)
        differences += marks(capture, packets)
    else:
        for what in CAUSES + ("before", "after"):
            if ours[what]:
                differences.append(Difference(what, ours[what], 0))
    for what, name in (("naks", "sequence NAKs"), ("rnr_naks", "RNR NAKs")):
        if ours[what] != truth[what]:
            differences.append(Difference(name, ours[what], truth[what]))
    if ours["by"]:
        differences.append(Difference("lost by capture", ours["by"], 0))
    flagged = sum(1 for p in packets.values() if p[PREFIX + "retransmission"] and
                  not p[PREFIX + "duplicate_capture"])
    if flagged != sum(ours[cause] for cause in CAUSES):
        differences.append(Difference("repeats in flows, not packets", sum(ours[c] for c in CAUSES), flagged))
    return {"truth": truth, "ours": ours}, differences


def lost(capture, report):
    said = collections.defaultdict(lambda: [0, 0])
    for flow in report["flows"]:
        said[names_of(flow)][0] += flow["lost"]["before_capture"]
        said[names_of(flow)][1] += flow["lost"]["after_capture"]
    true = {flow_name(key): ((flow.lost_before, {-flow.atomic_before, flow.answers_tail}),
                             (flow.lost_after_named, {-flow.atomic_after})) for key, flow in capture.flows.items()}
    for i, kind in enumerate(("lost before", "lost after")):
        ours, truth, places = 0, 0, []
        for name in sorted(set(said) | set(true)):
            figure, (right, optional) = said[name][i], true.get(name, ((0, ()), (0, ())))[i]
            if figure - right in optional:
                right = figure
            ours, truth = ours + figure, truth + right
            if figure != right:
                places.append(f"{name} {figure} {right}")
        if places:
            yield Difference(kind, ours, truth, places)


def asked_for(told):
    return not told.dup_capture and not told.damaged


def repeats(capture, packets, verdict):
    missed, false, causes, originals = [], [], [], []
    for number, told in capture.told.items():
        packet = packets.get(number, {})
        said = bool(packet.get(PREFIX + "retransmission"))
        if not asked_for(told):
            continue
        if told.retransmission and told.decidable:
            verdict.asked += 1
            verdict.found += said
            if not said:
                missed.append(number)
            elif packet[PREFIX + "retransmission.cause"] in (told.cause, told.also):
                verdict.right += 1
            else:
                causes.append((number, packet[PREFIX + "retransmission.cause"], told.cause))
        elif said and not told.retransmission:
            verdict.false += 1
            false.append(number)
        original = packet.get(PREFIX + "retransmission.original")
        if original and not is_original(capture, told, int(original)):
            originals.append((number, int(original), told.original))
    for kind, found in (("repeats missed", missed), ("repeats too many", false), ("cause", causes),
                        ("original", originals)):
        if found:
            yield Difference(kind, len(found), None, found)


READ_REQUEST = 0x0C


def is_original(capture, told, number):
    other = capture.told.get(number)
    if other is None or (other.time, number) >= (told.time, told.frame):
        return False
    if other.damaged:
        return True  # its numbers may be those of another packet
    if other.flow != told.flow:
        return False
    return other.psn == told.psn or (other.opcode & 0x1F == told.opcode & 0x1F == READ_REQUEST)


def marks(capture, packets):
    """The flags other than retransmission: (name, must it be there, may it be there)."""
    flags = {
        "spurious": (lambda t: t.spurious and t.seen_acknowledged and t.decidable,
                     lambda t: t.spurious or t.seen_acknowledged),
        "out_of_order": (lambda t: t.out_of_order, lambda t: t.late and not t.retransmission),
        "duplicate_network": (lambda t: t.dup_network, lambda t: t.dup_network or not t.decidable),
        "duplicate_capture": (lambda t: t.dup_capture, lambda t: t.dup_capture or not t.decidable),
    }
    for name, (must, may) in flags.items():
        missed, false = [], []
        for number, told in capture.told.items():
            said = bool(packets.get(number, {}).get(PREFIX + name))
            if told.damaged or (told.dup_capture and name != "duplicate_capture"):
                continue
            if must(told) and not said:
                missed.append(number)
            elif said and not may(told):
                false.append(number)
        for kind, found in (("missed", missed), ("too many", false)):
            if found:
                yield Difference(f"{name} {kind}", len(found), None, found)

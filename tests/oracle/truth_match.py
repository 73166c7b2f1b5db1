# SPDX-License-Identifier: Apache-2.0
"""Finds one transmission in several captures: the same addresses, IPv4 ID, PSN, opcode and transport bytes.

Where an impairment stands between two captures, a transmission of the first without a partner in the
second was lost; a second partner is a duplicate made by the network. IPv6 has no ID: of equal packets that
one is taken whose way took most nearly the time that others of its direction needed, for any of them may have
been lost; but none that would have come sooner than any of those others, or before it was sent. A packet without an equal is paired with the unseen transmission that at most two flipped bits
separate from it.
"""

import collections

AT_ONCE = 10**6  # nanoseconds


class Sighting:
    """One capture's packets, and for each the transmission (a packet of the first capture) that it shows."""

    def __init__(self, packets):
        self.packets = packets
        self.shown = {}       # packet of this capture -> transmission
        self.first = {}       # transmission -> the first packet that shows it
        self.copies = []      # packets that show a transmission again
        self.damaged = set()  # packets whose bytes differ from their transmission's
        self.strange = []     # packets without a transmission


def key(packet):
    return packet.src, packet.dst, packet.id, packet.opcode, packet.psn, packet.body


def show(sighting, packet, transmission):
    sighting.shown[packet] = transmission
    if transmission in sighting.first:
        sighting.copies.append(packet)
    else:
        sighting.first[transmission] = packet


def same(packets):
    """The capture as its own witness: equal bytes with one ID are one transmission."""
    sighting = Sighting(packets)
    known = {}
    for packet in packets:
        again = known.get(key(packet)) if packet.id is not None else None
        # IDs come round after 65536 packets: a copy is never far from its original.
        if again is not None and packet.time - again.time < 10**9:
            show(sighting, packet, again)
        else:
            known[key(packet)] = packet
            show(sighting, packet, packet)
    return sighting


def match(transmissions, packets):
    """The sighting of `transmissions` (distinct packets of one capture) in another capture."""
    sighting = Sighting(packets)
    waiting = collections.defaultdict(list)
    for transmission in transmissions:
        waiting[key(transmission)].append(transmission)
    left, usual = [], usual_times(waiting, packets)
    for packet in packets:
        candidates = waiting.get(key(packet))
        if not candidates:
            left.append(packet)
            continue
        took, least = usual.get(packet.src, (0, packet.time - candidates[-1].time))
        # None is captured sooner than any other came.
        possible = [sent for sent in candidates if packet.time - sent.time >= least] or candidates
        best = min(possible, key=lambda sent, at=packet.time - took: abs(at - sent.time))
        # Those that were sent at once came in order.
        best = next(sent for sent in possible if abs(sent.time - best.time) < AT_ONCE)
        show(sighting, packet, best)
        if len(candidates) > 1:
            candidates.remove(best)
    damaged(sighting, transmissions, left)
    return sighting


def usual_times(waiting, packets):
    """{source: (median, least) of the time between the captures} of those without an equal."""
    times, shown = collections.defaultdict(list), set()
    for packet in packets:
        candidates = waiting.get(key(packet), ())
        if len(candidates) == 1 and candidates[0] not in shown:
            shown.add(candidates[0])
            times[packet.src].append(packet.time - candidates[0].time)
    return {source: (sorted(of)[len(of) // 2], min(of)) for source, of in times.items()}


def damaged(sighting, transmissions, left):
    """What has no equal: the next unseen transmission with nearly the same bytes took the damage."""
    unseen = [t for t in transmissions if t not in sighting.first]
    for packet in left:
        best, best_bits = None, 3
        for transmission in unseen:
            bits = difference(packet, transmission)
            if bits < best_bits:
                best, best_bits = transmission, bits
        if best is None:
            sighting.strange.append(packet)
            continue
        unseen.remove(best)
        sighting.damaged.add(packet)
        show(sighting, packet, best)


def difference(a, b):
    """Differing bits of header and transport, 99 when the packets are not of one size or direction."""
    if len(a.body) != len(b.body) or abs(a.time - b.time) > 10**9:
        return 99
    bits = 0
    for left, right in ((a.src, b.src), (a.dst, b.dst), (a.body, b.body)):
        if left != right:
            bits += bin(int.from_bytes(left, "big") ^ int.from_bytes(right, "big")).count("1")
    if a.id is not None and b.id is not None:
        bits += bin(a.id ^ b.id).count("1")
    return bits

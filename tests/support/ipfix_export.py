# SPDX-License-Identifier: Apache-2.0
"""Switches that export what passes them by IPFIX, NetFlow version 9 or mirrored drops: as sflow_export.py, in the formats of
RFC 7011, RFC 3954, RFC 5476/5477 and the one public description of Broadcom's mirror on drop. Written from the documents
alone, so that program and test do not share a mistake.

As a program: ipfix_export.py CAPTURE TRUTH RATE SEED OUTPUT [SHARE OF DROPS TOLD]"""

import os
import random
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sflow_export  # noqa: E402
from sflow_export import variants  # noqa: E402

DOMAIN = 9
HEADER = 128  # bytes of a packet that are sampled
IN_A_MESSAGE = 6  # records
TEMPLATES_EVERY = 50  # messages
TAIL_DROP = 0x0003  # Tomahawk 5: MMU code 3, limit of the egress port
DROPPED_BY_WRED = 139  # forwardingStatus
DATA, SELECTOR, STATISTICS, DROPS = 256, 257, 258, 259
SEQUENCE_ID, SELECTOR_ID = 301, 302
INGRESS, EGRESS, STATUS = 10, 14, 89
PACKETS, SPACE, OBSERVED, SELECTED, FRAME_SIZE, FRAME_SECTION = 305, 306, 318, 319, 312, 315
VARIABLE = 0xFFFF


def halves(*values):
    return b"".join(struct.pack(">H", value) for value in values)


def ipfix_set(number, content):
    return halves(number, 4 + len(content)) + content


def variable(value):
    return (bytes([len(value)]) if len(value) < 255 else b"\xff" + halves(len(value))) + value


def template(number, *rows):
    return halves(number, len(rows)) + b"".join(halves(*row) for row in rows)


def udp_frame(payload, number, port=4739):
    frame = bytearray(sflow_export.udp_frame(payload, number))
    frame[36:38] = halves(port)
    return bytes(frame)


class Switch:
    """One exporter with one selection sequence; `netflow` speaks NetFlow version 9, `statistics` counts what it observes."""

    def __init__(self, rate, seed, netflow=False, statistics=False):
        self.rate, self.random, self.netflow, self.statistics = rate, random.Random(seed), netflow, statistics
        self.sequence = self.messages = self.observed = self.selected = 0
        self.waiting, self.records, self.time = [], [], 0

    def port(self, frame):
        return 1 + frame[11] % 7

    def message(self, sets, records):
        """`records`: of data."""
        content = b"".join(sets)
        seconds = 1700000000 + self.time // 10**9 % 10**6
        if self.netflow:
            head = struct.pack(">HHIIII", 9, records, 1000 + self.time // 10**6 % 10**9, seconds, self.messages, DOMAIN)
        else:
            head = struct.pack(">HHIII", 10, 16 + len(content), seconds, self.sequence & 0xFFFFFFFF, DOMAIN)
        self.sequence += records
        self.messages += 1
        frame = udp_frame(head + content, self.messages, 2055 if self.netflow else 4739)
        self.records.append((self.time, len(frame), frame))

    def templates(self):
        first, second = (0, 1) if self.netflow else (2, 3)
        data = template(DATA, (SEQUENCE_ID, 4), (INGRESS, 4), (EGRESS, 4), (FRAME_SIZE, 2), (FRAME_SECTION, VARIABLE))
        if self.netflow:  # which has no values of variable length, and samplers of its own
            data = template(DATA, (48, 4), (INGRESS, 4), (EGRESS, 4), (FRAME_SIZE, 2), (104, HEADER))
            options = halves(SELECTOR, 4, 12, 1, 4, 48, 4, 49, 1, 50, 4) + bytes(2)
            told = struct.pack(">IIBI", 1, 7, 2, self.rate) + bytes(3)
            return [ipfix_set(first, data), ipfix_set(second, options), ipfix_set(SELECTOR, told)], 1
        drops = template(DROPS, (STATUS, 1), (INGRESS, 4), (EGRESS, 4), (FRAME_SIZE, 2), (FRAME_SECTION, VARIABLE))
        options = halves(SELECTOR, 3, 1, SEQUENCE_ID, 4, PACKETS, 4, SPACE, 4)
        told = struct.pack(">III", 7, 1, self.rate - 1)
        sets = [ipfix_set(first, data + drops), ipfix_set(second, options), ipfix_set(SELECTOR, told)]
        if not self.statistics:
            return sets, 1
        counted = halves(STATISTICS, 3, 1, SEQUENCE_ID, 4, OBSERVED, 8, SELECTED, 8)
        sets = [sets[0], ipfix_set(3, counted),
                ipfix_set(STATISTICS, struct.pack(">IQQ", 7, self.observed, self.selected))]
        return sets, 1

    def begin(self, time):
        self.time = time
        if self.messages % TEMPLATES_EVERY == 0:
            self.message(*self.templates())

    def flush(self):
        if self.waiting:
            self.message([ipfix_set(DATA, b"".join(self.waiting))], len(self.waiting))
            self.waiting = []

    def passes(self, time, length, frame):
        self.observed += 1
        if self.random.random() * self.rate >= 1:
            return
        self.selected += 1
        self.begin(time)
        head = struct.pack(">IIIH", 7, self.port(frame), 4, length)
        kept = frame[:HEADER]
        self.waiting.append(head + (kept.ljust(HEADER, b"\0") if self.netflow else variable(kept)))
        if len(self.waiting) == IN_A_MESSAGE:
            self.flush()

    def drop(self, time, frame):
        """A mirrored drop: one frame a message, no template."""
        self.time = time
        body = struct.pack(">IIIHHHHBBH", 1700000000, time % 10**9, 77, 12, 4, TAIL_DROP, 0, 0x30, 0xFF, len(frame))
        self.message([ipfix_set(0x1234, body + frame)], 1)

    def drop_of_flow(self, time, frame):
        """The same, told with forwardingStatus."""
        self.begin(time)
        self.message([ipfix_set(DROPS, struct.pack(">BIIH", DROPPED_BY_WRED, 4, 12, len(frame)) + variable(frame))], 1)

    def end(self):
        self.flush()
        if self.statistics:
            self.message(*self.templates())


def export(records, switch, losses=(), connections=None, told=1.0, by_flow=False):
    """(records of the collector, losses of which a notification was sent)"""
    notified, next_loss = [], 0
    losses = [loss for loss in losses if loss[1]["lost"] in ("before_capture", "after_capture")]
    for number, (time, length, frame) in enumerate(records, 1):
        switch.passes(time, length, frame)
        while next_loss < len(losses) and losses[next_loss][0] <= number:
            loss = losses[next_loss][1]
            next_loss += 1
            if switch.random.random() >= told:
                continue
            ends = connections[loss["connection"]]
            source, destination = ("a", "b") if loss["direction"] == "a_to_b" else ("b", "a")
            lost = sflow_export.roce_frame(ends[source]["address"], ends[destination]["address"], ends[destination]["qp"],
                                           loss["psn"], sflow_export.OPCODES.get(loss["kind"], 0x04))
            (switch.drop_of_flow if by_flow else switch.drop)(time, lost)
            notified.append((loss, ends[source]["address"], ends[destination]["address"], ends[destination]["qp"]))
    switch.end()
    return switch.records, notified


def main():
    capture, truth, rate, seed, output = sys.argv[1:6]
    losses, connections = sflow_export.losses_of(truth)
    told = float(sys.argv[6]) if len(sys.argv) > 6 else 0.99
    records, notified = export(variants.read(capture), Switch(int(rate), int(seed)), losses, connections, told)
    variants.write(output, records)
    print(f"{len(records)} datagrams, {len(notified)} of {len(losses)} losses told")


if __name__ == "__main__":
    main()

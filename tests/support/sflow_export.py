# SPDX-License-Identifier: Apache-2.0
"""Switches that export what passes them: from the records of a capture (tests/truth/capture_variants.py) and the truth of
the simulator, the datagrams of sFlow that a collector would get. Written from the documents of sflow.org alone, so that
program and test do not share a mistake.

As a program: sflow_export.py CAPTURE TRUTH RATE SEED OUTPUT [SHARE OF DROPS TOLD]"""

import ipaddress
import json
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import capture_variants as variants  # noqa: E402

SWITCH, COLLECTOR = "10.0.0.7", "10.0.0.1"
TAIL_DROP = 259
HEADER = 128  # bytes of a packet that are sampled
FCS = 4
IN_A_DATAGRAM = 6  # samples
# Opcodes of a packet by its kind in the truth: what a switch shows of one that was lost.
OPCODES = {"write": 0x0A, "send": 0x04, "read_request": 0x0C, "read_response": 0x10, "ack": 0x11, "atomic_request": 0x14,
           "atomic_response": 0x12, "sequence_nak": 0x11, "rnr_nak": 0x11}


def words(*values):
    return b"".join(struct.pack(">I", value & 0xFFFFFFFF) for value in values)


def item(number, content):
    return words(number, len(content)) + content + bytes(-len(content) % 4)


def sampled_header(frame, length):
    kept = frame[:HEADER]
    return item(1, words(1, length + FCS, FCS, len(kept)) + kept + bytes(-len(kept) % 4))


def udp_frame(payload, number):
    ip = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), number & 0xFFFF, 0, 64, 17, 0,
                               ipaddress.ip_address(SWITCH).packed, ipaddress.ip_address(COLLECTOR).packed))
    total = sum(struct.unpack(">10H", ip))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    ip[10:12] = struct.pack(">H", total ^ 0xFFFF)
    mac = bytes.fromhex("5254000000fe5254000000070800")
    return mac + bytes(ip) + struct.pack(">HHHH", 50000, 6343, 8 + len(payload), 0) + payload


def roce_frame(source, destination, qp, psn, opcode):
    """A packet of which only the truth is left."""
    bth = struct.pack(">BBHII", opcode, 0x40, 0xFFFF, qp, psn) + bytes(20)
    ends = ipaddress.ip_address(source).packed, ipaddress.ip_address(destination).packed
    udp = struct.pack(">HHHH", 49152, 4791, 8 + len(bth), 0) + bth
    if len(ends[0]) == 4:
        return bytes.fromhex("5254000000fd5254000000fc0800") + struct.pack(
            ">BBHHHBBH4s4s", 0x45, 2, 20 + len(udp), 0, 0x4000, 64, 17, 0, *ends) + udp
    return bytes.fromhex("5254000000fd5254000000fc86dd") + struct.pack(">IHBB", 0x60200000, len(udp), 17, 64) + \
        ends[0] + ends[1] + udp


class Switch:
    """One agent, with a data source for each MAC address that sends to it."""

    def __init__(self, rate, seed):
        self.rate, self.random = rate, random.Random(seed)
        self.ports, self.pools, self.sequences = {}, {}, {}
        self.waiting, self.datagrams, self.records, self.drops = [], 0, [], 0

    def port(self, frame):
        return self.ports.setdefault(frame[6:12], len(self.ports) + 1)

    def flush(self, time):
        if self.waiting:
            self.datagrams += 1
            uptime = 1000 + time // 10**6 % 10**9
            payload = words(5, 1, int(ipaddress.ip_address(SWITCH)), 0, self.datagrams, uptime, len(self.waiting))
            frame = udp_frame(payload + b"".join(self.waiting), self.datagrams)
            self.records.append((time, len(frame), frame))
            self.waiting = []

    def add(self, time, sample):
        self.waiting.append(sample)
        if len(self.waiting) == IN_A_DATAGRAM:
            self.flush(time)

    def passes(self, time, length, frame):
        port = self.port(frame)
        self.pools[port] = self.pools.get(port, 0) + 1
        if self.random.random() * self.rate >= 1:
            return
        self.sequences[port] = self.sequences.get(port, 0) + 1
        self.add(time, item(1, words(self.sequences[port], port, self.rate, self.pools[port], 0, port, 0, 1) +
                            sampled_header(frame, length)))

    def drop(self, time, frame, port=12):
        self.drops += 1
        self.add(time, item(5, words(self.drops, 0, port, 0, 3, port, TAIL_DROP, 2) + sampled_header(frame, len(frame)) +
                            item(1036, words(3))))


def losses_of(truth):
    """(losses in their order: each with the number of captured frames before it), connections by number"""
    losses, connections, frames = [], {}, 0
    with open(truth, encoding="utf-8") as file:
        for line in file:
            told = json.loads(line)
            if "lost" in told:
                losses.append((frames, told))
            elif "posted" in told:
                connections[told["connection"]] = told
            elif "frame" in told:
                frames = told["frame"]
    return losses, connections


def export(records, rate, seed, losses=(), connections=None, told=1.0):
    """(records of the collector, losses of which a notification was sent)"""
    switch, notified, next_loss = Switch(rate, seed), [], 0
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
            switch.drop(time, roce_frame(ends[source]["address"], ends[destination]["address"], ends[destination]["qp"],
                                         loss["psn"], OPCODES.get(loss["kind"], 0x04)))
            notified.append((loss, ends[source]["address"], ends[destination]["address"], ends[destination]["qp"]))
    switch.flush(records[-1][0] if records else 0)
    return switch.records, notified


def main():
    capture, truth, rate, seed, output = sys.argv[1:6]
    losses, connections = losses_of(truth)
    told = float(sys.argv[6]) if len(sys.argv) > 6 else 0.99
    records, notified = export(variants.read(capture), int(rate), int(seed), losses, connections, told)
    variants.write(output, records)
    print(f"{len(records)} datagrams, {len(notified)} of {len(losses)} losses told")


if __name__ == "__main__":
    main()

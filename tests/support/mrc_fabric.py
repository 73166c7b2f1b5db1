# SPDX-License-Identifier: Apache-2.0
"""Hosts that speak MRC (Multipath Reliable Connection) over a fabric of many paths, and what a capture sees of them, with
exact truth. Written from the readers of the specification alone, so that program and test do not share a mistake; no frame
of hardware was at hand.

Each packet is sprayed: its entropy value, the UDP source port (with IPv6 half of the flow label as well), chooses its path.
A path keeps its order and has a delay of its own. Switches lose packets, or trim them; receivers answer with SACKs and
NACKs; senders send again, with RTX set and by another path.

As a program: mrc_fabric.py SEED KIND OUTPUT.pcap OUTPUT.json"""

import heapq
import ipaddress
import json
import os
import random
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import capture_variants as variants  # noqa: E402

US = 1000
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY, ACK, SACK, NACK = 0xC6, 0xC7, 0xC8, 0xCA, 0xD1, 0xDC, 0xDD
PROBE = 0xDE
DSCP_DATA, DSCP_TRIMMED, DSCP_CONTROL = 8, 11, 46
ECT0, CE = 2, 3
TRIM_SIZE = 128
MASK = 0xFFFFFF
START = 1_790_000_000 * 10**9

# What a scenario may have: paths, share of packets lost before and behind the point of capture, trimmed, marked; `bad`: a
# path that loses; `reorder`: by how many µs paths differ; `answers`: whether the other direction is captured.
KINDS = {
    "clean": {},
    "clean_reordered": {"spread": 40},
    "needless": {"spread": 30, "eager": 40},
    "eager_and_losses": {"spread": 12, "eager": 30, "before": 0.003, "after": 0.003},
    "loss": {"before": 0.004, "after": 0.004},
    "loss_reordered": {"before": 0.004, "after": 0.004, "spread": 30},
    "trims": {"trim": 0.006},
    "trims_behind": {"trim_after": 0.004, "trim_last": 0.004},
    "trims_and_losses": {"trim": 0.003, "trim_after": 0.003, "after": 0.003, "before": 0.003},
    "bad_path": {"after": 0.0005, "bad": 0.25, "paths": 32},
    "lost_answers": {"answers_lost": 0.3},
    "lost_answers_too": {"answers_lost": 0.2, "before": 0.004, "after": 0.004, "trim_after": 0.002},
    "marks": {"ce": 0.02},
    "ipv6": {"v6": True, "before": 0.003, "after": 0.003},
    "one_way": {"before": 0.004, "answers_captured": False},
    "some_paths": {"captured": 0.5, "after": 0.004},
    "both_ways": {"before": 0.003, "after": 0.003, "both": True},
}


def words(value, size):
    return value.to_bytes(size, "big")


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


class Host:
    def __init__(self, number, v6):
        self.address = ipaddress.ip_address(f"fd00::{number}" if v6 else f"10.1.0.{number}").packed
        self.mac = bytes([0x52, 0x54, 0, 0, 0, number])
        self.ip_id = number * 1000


def icrc(ip, rest):
    """IBTA 7.8.1 and A17.3.3: what changes on the way is taken as ones."""
    ip = bytearray(ip)
    if ip[0] >> 4 == 4:
        ip[1], ip[8], ip[10:12] = 0xFF, 0xFF, b"\xff\xff"
    else:
        ip[0:4] = b"\x6f\xff\xff\xff"
        ip[7] = 0xFF
    rest = bytearray(rest)
    rest[6:8] = b"\xff\xff"  # UDP checksum
    rest[12] = 0xFF  # the reserved byte of the BTH
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(ip) + bytes(rest)))


def frame(source, target, ev, dscp, ecn, bth, body):
    tos = dscp << 2 | ecn
    udp = struct.pack(">HHHH", ev >> 16, 4791, 8 + len(bth) + len(body) + 4, 0)
    length = len(udp) + len(bth) + len(body) + 4
    if len(source.address) == 4:
        source.ip_id = (source.ip_id + 1) & 0xFFFF
        ip = bytearray(struct.pack(">BBHHHBBH", 0x45, tos, 20 + length, source.ip_id, 0x4000, 64, 17, 0) +
                       source.address + target.address)
        ip[10:12] = words(checksum(bytes(ip)), 2)
        kind = b"\x08\x00"
    else:
        ip = struct.pack(">IHBB", 6 << 28 | tos << 20 | (ev & 0xFFFF), length, 17, 64) + source.address + target.address
        kind = b"\x86\xdd"
    rest = udp + bth + body
    return target.mac + source.mac + kind + bytes(ip) + rest + icrc(bytes(ip), rest)


def trimmed(whole):
    """As SAI has it: cut, the IP length renewed, another DSCP."""
    cut = bytearray(whole[:TRIM_SIZE])
    if cut[12:14] == b"\x08\x00":
        cut[15] = DSCP_TRIMMED << 2 | cut[15] & 3
        cut[16:18] = words(TRIM_SIZE - 14, 2)
        cut[24:26] = b"\0\0"
        cut[24:26] = words(checksum(bytes(cut[14:34])), 2)
    else:
        tos = DSCP_TRIMMED << 2 | ECT0
        cut[14:18] = words(6 << 28 | tos << 20 | int.from_bytes(cut[16:18], "big"), 4)
        cut[18:20] = words(TRIM_SIZE - 14 - 40, 2)
    return bytes(cut)


def bth(opcode, qp, psn, flags=0):
    return struct.pack(">BBHIBBH", opcode, 0, 0xFFFF, qp, flags, psn >> 16, psn & 0xFFFF)


class Copy:
    def __init__(self, stream, psn, ev, rtx, number):
        self.stream, self.psn, self.ev, self.rtx, self.number = stream, psn, ev, rtx, number
        self.fate = "arrived"  # lost_before, lost_after, trimmed_before, trimmed_after, trimmed_last_hop
        self.captured = 0  # number of the frame
        self.at = 0
        self.sent = 0
        self.arrived = 0
        self.shown = False


class Stream:
    """One direction of a connection."""

    def __init__(self, number, source, target, qp, answer_qp, ports, options, rng):
        self.number, self.source, self.target, self.qp, self.answer_qp = number, source, target, qp, answer_qp
        self.evs = [port << 16 | (rng.randrange(65536) if options.get("v6") else 0) for port in ports]
        self.first = self.next = rng.choice([0, MASK - 500, rng.randrange(MASK)])
        self.state = {}  # psn: [copies]
        self.received, self.cack, self.highest = set(), (self.first - 1) & MASK, (self.first - 1) & MASK
        self.known, self.known_cack = set(), self.cack  # by the sender
        self.outstanding = {}  # psn: time of the last copy
        self.ce_of = {}
        self.message, self.left, self.va = 0, 0, 0x10000
        self.turn = 0
        self.open = {}  # PSN: copies that were lost behind the capture, while nothing has told that one arrived


def ahead(a, b):
    return ((a - b + 0x800000) & MASK) - 0x800000


class Fabric:
    def __init__(self, seed, kind, packets=4000, streams=3):
        self.rng = random.Random(f"{seed} {kind}")
        self.options = {"paths": 256, "spread": 4, **KINDS[kind]}
        self.events, self.order, self.frames, self.now = [], 0, [], 0
        self.hosts = [Host(n, self.options.get("v6")) for n in (1, 2, 3)]
        self.delay, self.free = {}, {}
        self.streams, self.told = [], []
        self.packets = packets
        self.sent_copies = 0
        for number in range(streams):
            source, target = self.rng.sample(self.hosts, 2)
            ports = self.rng.sample(range(49152, 65536), self.options["paths"])
            qp = 0x100 + self.rng.randrange(0xF00) * 16 + number
            answer_qp = 0x10000 + self.rng.randrange(0xF00) * 16 + number
            self.streams.append(Stream(2 * number, source, target, qp, answer_qp, ports, self.options, self.rng))
            if self.options.get("both"):
                self.streams.append(Stream(2 * number + 1, target, source, answer_qp, qp, ports, self.options, self.rng))
        for stream in self.streams:
            stream.bad = stream.evs[self.rng.randrange(len(stream.evs))]
        hidden = 1 - self.options.get("captured", 1)
        self.unseen = {(s.number, ev) for s in self.streams for ev in s.evs if self.rng.random() < hidden}
        self.partner = {s.number: next((o for o in self.streams if o.qp == s.answer_qp), None) for s in self.streams}

    def at(self, time, action, *arguments):
        self.order += 1
        heapq.heappush(self.events, (time, self.order, action, arguments))

    def path_delay(self, stream, ev, hop):
        """Of one half of the way; a path keeps its order."""
        key = (stream.number, ev, hop)
        if key not in self.delay:
            self.delay[key] = 2 * US + self.rng.randrange(self.options["spread"] * US // 2)
        arrival = self.now + self.delay[key] + self.rng.randrange(US // 2)
        arrival = max(arrival, self.free.get(key, 0) + 80)
        self.free[key] = arrival
        return arrival

    def capture(self, data, wire):
        self.frames.append((START + self.now, wire, data))
        return len(self.frames)

    # the sender

    def send_more(self, stream):
        window = 1024
        if self.sent_copies < self.packets and ahead(stream.next, stream.known_cack) < window:
            if stream.left == 0:
                stream.message += 1
                stream.left = stream.size = self.rng.choice([1, 2, 8, 40])
                stream.va += 0x100000
            self.send(stream, stream.next, rtx=False)
            stream.next = (stream.next + 1) & MASK
        if self.sent_copies < self.packets:
            self.at(self.now + 300 + self.rng.randrange(300), self.send_more, stream)

    def send(self, stream, psn, rtx):
        copies = stream.state.setdefault(psn, [])
        if rtx:
            opcode, offset, size, va, message = copies[0].message
        else:
            offset = stream.size - stream.left
            stream.left -= 1
            opcode = WRITE_ONLY if stream.size == 1 else WRITE_FIRST if offset == 0 else \
                WRITE_LAST if stream.left == 0 else WRITE_MIDDLE
            size, va, message = stream.size, stream.va, stream.message - 1
        evs = [ev for ev in stream.evs if not copies or ev != copies[-1].ev]
        ev = evs[stream.turn % len(evs)] if not rtx else self.rng.choice(evs)
        stream.turn += not rtx
        copy = Copy(stream, psn, ev, rtx, len(copies))
        copy.message = (opcode, offset, size, va, message)
        copies.append(copy)
        self.sent_copies += 1
        copy.sent = self.now
        stream.outstanding[psn] = self.now
        payload = bytes(1024)
        header = words(message & 0xFFFF, 2) * 2 + words(va + 1024 * offset, 8) + words(0x1234, 4) + words(1024 * size, 4)
        stamped = self.rng.random() < 0.5
        if stamped:
            header = header[:4] + words(self.now // 128 & 0xFFFF, 2) + words(1, 2) + header[4:]
        ce = self.rng.random() < self.options.get("ce", 0)
        copy.ce = ce
        copy.data = frame(stream.source, stream.target, ev, DSCP_DATA, CE if ce else ECT0,
                          bth(opcode, stream.qp, psn, (0x20 if rtx else 0) | (0x10 if stamped else 0)), header + payload)
        draw = self.rng.random()
        for fate, share in (("lost_before", "before"), ("trimmed_before", "trim")):
            draw -= self.options.get(share, 0)
            if draw < 0:
                copy.fate = fate
                break
        if copy.fate == "lost_before":
            return
        self.at(self.path_delay(stream, ev, 0), self.pass_by, copy)

    def pass_by(self, copy):
        stream = copy.stream
        data = trimmed(copy.data) if copy.fate == "trimmed_before" else copy.data
        if (stream.number, copy.ev) not in self.unseen:
            copy.captured = self.capture(data, len(data))
        copy.at = self.now
        if copy.fate == "arrived":
            draw = self.rng.random()
            bad = self.options.get("bad", 0) if copy.ev == stream.bad else 0
            for fate, share in (("lost_after", self.options.get("after", 0) + bad),
                                ("trimmed_after", self.options.get("trim_after", 0)),
                                ("trimmed_last_hop", self.options.get("trim_last", 0))):
                draw -= share
                if draw < 0:
                    copy.fate = fate
                    break
        if copy.fate == "lost_after":
            stream.open.setdefault(copy.psn, []).append(copy)
        else:
            self.at(self.path_delay(stream, copy.ev, 1), self.receive, copy)

    # the receiver

    def receive(self, copy):
        stream = copy.stream
        if copy.fate != "arrived":
            reason = 2 if copy.fate == "trimmed_last_hop" else 1
            body = words(0, 2) + bytes([reason, 0]) + words(copy.ev, 4) + bytes(5) + words(copy.psn, 3) + bytes(4)
            self.answer(stream, NACK, copy.psn, body, lambda: self.told_missing(stream, copy.psn, copy.number))
            return
        copy.arrived = self.now
        stream.received.add(copy.psn)
        if ahead(copy.psn, stream.highest) > 0:
            stream.highest = copy.psn
        while (stream.cack + 1) & MASK in stream.received:
            stream.cack = (stream.cack + 1) & MASK
        self.sack(stream, copy)
        if copy.message[0] in (WRITE_LAST, WRITE_ONLY):
            body = bytes([31]) + words(copy.message[4] + 1, 3)
            self.answer(stream, ACK, copy.psn, body, lambda: None)

    def sack(self, stream, copy):
        offset = 1
        if ahead(copy.psn, stream.cack) > 64:
            offset = ahead(copy.psn, stream.cack) - 31 - self.rng.randrange(32)
        base = (stream.cack + offset) & MASK
        bitmap = 0
        for i in range(64):
            if (base + i) & MASK in stream.received and ahead((base + i) & MASK, stream.cack) > 0:
                bitmap |= 1 << i
        report = {"cack": stream.cack, "base": base, "bitmap": bitmap, "psn": copy.psn, "highest": stream.highest}
        body = words(0x20 if copy.ce else 0, 2) + words(ahead(copy.psn, stream.cack) & 0xFFFF, 2) + words(copy.ev, 4) + \
            bytes(5) + words(stream.cack, 3) + bytes([0, 8]) + words(offset & 0xFFFF, 2) + words(bitmap, 8) + bytes(8)
        self.answer(stream, SACK, stream.cack, body, lambda: self.take_sack(stream, report),
                    report)

    def show_holes(self, stream, report):
        """A SACK that is captured: what it lacks long after it had come by is seen to be lost."""
        if report is None:
            return
        longest = 2 * (5 + self.options["spread"]) * US
        for psn, copies in list(stream.open.items()):
            behind = ahead(psn, report["base"])
            if ahead(psn, report["cack"]) <= 0 or (0 <= behind < 64 and report["bitmap"] >> behind & 1):
                del stream.open[psn]
            elif ahead(psn, report["cack"]) == 1 or 0 <= behind < report["bitmap"].bit_length():
                for copy in copies:
                    copy.shown = copy.shown or self.now - copy.at > longest

    def answer(self, stream, opcode, psn, body, then, report=None):
        """Control packets take the path of one port."""
        if self.rng.random() < self.options.get("answers_lost", 0) / 2:
            return  # before it is captured
        data = frame(stream.target, stream.source, stream.evs[0], DSCP_CONTROL, 0, bth(opcode, stream.answer_qp, psn), body)

        def passes():
            if self.options.get("answers_captured", True):
                self.capture(data, len(data))
                self.show_holes(stream, report)
            if self.rng.random() >= self.options.get("answers_lost", 0) / 2:
                self.at(self.path_delay(stream, "answers", 3), then)

        self.at(self.path_delay(stream, "answers", 2), passes)

    # the sender again

    def take_sack(self, stream, report):
        if ahead(report["cack"], stream.known_cack) > 0:
            psn = stream.known_cack
            while psn != report["cack"]:
                psn = (psn + 1) & MASK
                stream.known.add(psn)
                stream.outstanding.pop(psn, None)
            stream.known_cack = report["cack"]
        for i in range(64):
            if report["bitmap"] >> i & 1:
                stream.known.add((report["base"] + i) & MASK)
                stream.outstanding.pop((report["base"] + i) & MASK, None)
        if "eager" in self.options:  # takes what is missing among others for lost
            for i in range(report["bitmap"].bit_length() - self.options["eager"]):
                psn = (report["base"] + i) & MASK
                if ahead(psn, stream.known_cack) > 0 and psn not in stream.known and len(stream.state.get(psn, ())) == 1:
                    self.send(stream, psn, rtx=True)

    def told_missing(self, stream, psn, number):
        if psn not in stream.known and len(stream.state[psn]) == number + 1:
            self.send(stream, psn, rtx=True)

    def watch(self):
        """Timers: each packet has one, a little longer than the longest way there and back."""
        limit = (30 + 4 * self.options["spread"]) * US
        pending = False
        for stream in self.streams:
            for psn, sent in list(stream.outstanding.items()):
                pending = True
                if self.now - sent > limit * (1 + self.rng.random()) and psn not in stream.known:
                    self.send(stream, psn, rtx=True)
        if pending or self.sent_copies < self.packets:
            self.at(self.now + 5 * US, self.watch)

    def run(self):
        # The capture runs for a while before.
        quiet = frame(self.hosts[0], self.hosts[1], 49152 << 16, DSCP_CONTROL, 0, bth(0xD8, 2, 1), bytes(16))
        self.capture(quiet, len(quiet))
        for stream in self.streams:
            self.at(5000 * US + self.rng.randrange(20 * US), self.send_more, stream)
        self.at(5001 * US, self.watch)
        while self.events:
            self.now, _, action, arguments = heapq.heappop(self.events)
            action(*arguments)

    def truth(self):
        streams = []
        for stream in self.streams:
            copies = [copy for psn in stream.state for copy in stream.state[psn]]
            losses, repeats = [], []
            # What came by of the first copies: before these nothing tells when it was sent.
            lowest = min((psn for psn, sent in stream.state.items() if sent[0].captured), default=stream.first,
                         key=lambda psn: ahead(psn, stream.first))
            for psn, sent in stream.state.items():
                for copy in sent:
                    if copy.fate != "arrived":
                        later = any(other.captured for other in sent[copy.number + 1:])
                        losses.append({"psn": psn, "fate": copy.fate, "copy": copy.number, "frame": copy.captured,
                                       "port": copy.ev >> 16, "label": copy.ev & 0xFFFF, "repeat_seen": later, "shown": copy.shown,
                                       "first": ahead(psn, lowest) < 0})
                    if copy.rtx and copy.captured:
                        before = sent[:copy.number]
                        repeats.append({"psn": psn, "frame": copy.captured,
                                        "needed": all(other.fate != "arrived" for other in before)})
            streams.append({
                "source": str(ipaddress.ip_address(stream.source.address)),
                "target": str(ipaddress.ip_address(stream.target.address)), "qp": stream.qp, "answer_qp": stream.answer_qp,
                "sent": len(copies), "captured": sum(1 for copy in copies if copy.captured),
                "bad_port": stream.bad >> 16, "ce": sum(1 for copy in copies if copy.captured and copy.ce),
                "losses": losses, "repeats": repeats})
        return {"streams": streams}


def make(seed, kind, packets=4000):
    fabric = Fabric(seed, kind, packets)
    fabric.run()
    return fabric.frames, fabric.truth()


def main():
    seed, kind, capture, truth = sys.argv[1:5]
    frames, told = make(seed, kind, int(sys.argv[5]) if len(sys.argv) > 5 else 4000)
    variants.write(capture, frames)
    with open(truth, "w", encoding="utf-8") as file:
        json.dump(told, file)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Reads captures and takes RoCE v2 packets apart, without roceanalyze: the oracle's own eyes.

Only what the samples need: pcap (both byte orders, µs and ns), pcapng, each plain or .zst; Ethernet and
LINUX_SLL2, VLAN tags, MPLS labels, IPv4 and IPv6, UDP port 4791. Tunnels are not opened.
"""

import subprocess
import zlib

RC_SERVICE, UC_SERVICE, UD_SERVICE, XRC_SERVICE = 0, 1, 3, 5
SEND_FIRST, SEND_LAST_INVALIDATE, SEND_ONLY_INVALIDATE = 0x00, 0x16, 0x17
READ_REQUEST, READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY = 0x0C, 0x0D, 0x0E, 0x0F, 0x10
ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, COMPARE_SWAP, FETCH_ADD = 0x11, 0x12, 0x13, 0x14
FLUSH, ATOMIC_WRITE = 0x1C, 0x1D
READ_RESPONSES = (READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY)
RESPONSES = READ_RESPONSES + (ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE)
WITH_RETH = (0x06, 0x0A, 0x0B, READ_REQUEST, ATOMIC_WRITE)
WITH_AETH = (READ_FIRST, READ_LAST, READ_ONLY, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE)
FIRSTS_AND_ONLYS = (0x00, 0x04, 0x05, 0x06, 0x0A, 0x0B, READ_REQUEST, COMPARE_SWAP, FETCH_ADD, 0x17, FLUSH,
                    ATOMIC_WRITE)
FIRSTS_AND_MIDDLES = (0x00, 0x01, 0x06, 0x07, READ_FIRST, READ_MIDDLE)

PSNS = 1 << 24
ROCE_PORT = 4791
ETHERNET, SLL2 = 1, 276


def later(a, b):
    """How far PSN a lies behind b on the circle, negative when it lies before it."""
    distance = (a - b) & (PSNS - 1)
    return distance - PSNS if distance & (PSNS >> 1) else distance


class Packet:
    """One frame with a BTH. `number` counts from 1, as frame.number does; time in nanoseconds.

    `whole` is false where the receiver's stack must refuse it: ICRC, IPv4 checksum or length do not hold.
    """

    __slots__ = ("number", "time", "interface", "src", "dst", "id", "ttl", "sport", "opcode", "ack_request", "qp",
                 "psn", "syndrome", "msn", "va", "dma_length", "payload", "icrc", "whole", "body")

    @property
    def service(self):
        return self.opcode >> 5

    @property
    def operation(self):
        return self.opcode & 0x1F

    @property
    def flow(self):
        return (self.src, self.dst, self.qp, self.service)

    def is_nak(self, kind):
        """kind 1: RNR NAK, 3: NAK."""
        return self.syndrome is not None and (self.syndrome >> 5) & 3 == kind

    @property
    def sequence_nak(self):
        return self.operation == ACKNOWLEDGE and self.syndrome == 0x60

    @property
    def rnr_nak(self):
        return self.operation == ACKNOWLEDGE and self.is_nak(1)


def unpacked(path):
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
    with open(path, "rb") as stream:
        return stream.read()


def pcap_records(data, order, per_second):
    link = int.from_bytes(data[20:24], order) & 0xFFFF
    at, unit = 24, 10**9 // per_second
    while at + 16 <= len(data):
        seconds, fraction, captured, wire = (int.from_bytes(data[at + i:at + i + 4], order) for i in (0, 4, 8, 12))
        yield 0, link, seconds * 10**9 + fraction * unit, wire, data[at + 16:at + 16 + captured]
        at += 16 + captured


def pcapng_records(data):
    at, order, interfaces = 0, "little", []
    while at + 12 <= len(data):
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "little" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else "big"
            interfaces = []
        kind, length = (int.from_bytes(data[at + i:at + i + 4], order) for i in (0, 4))
        if kind == 1:
            interfaces.append((int.from_bytes(data[at + 8:at + 10], order),
                               resolution(data[at + 16:at + length - 4], order)))
        elif kind == 6:
            index, high, low, captured, wire = (int.from_bytes(data[at + i:at + i + 4], order)
                                                for i in (8, 12, 16, 20, 24))
            link, per_second = interfaces[index]
            yield index, link, ((high << 32) | low) * 10**9 // per_second, wire, data[at + 28:at + 28 + captured]
        at += length


def resolution(options, order):
    at = 0
    while at + 4 <= len(options):
        code, length = (int.from_bytes(options[at + i:at + i + 2], order) for i in (0, 2))
        if code == 0:
            break
        if code == 9:
            value = options[at + 4]
            return 1 << (value & 0x7F) if value & 0x80 else 10**value
        at += 4 + (length + 3) // 4 * 4
    return 10**6


MAGIC = {b"\xd4\xc3\xb2\xa1": ("little", 10**6), b"\x4d\x3c\xb2\xa1": ("little", 10**9),
         b"\xa1\xb2\xc3\xd4": ("big", 10**6), b"\xa1\xb2\x3c\x4d": ("big", 10**9)}


def records(path):
    data = unpacked(path)
    if data[:4] in MAGIC:
        return pcap_records(data, *MAGIC[data[:4]])
    return pcapng_records(data)


def layer3(link, frame):
    """(ethertype, place of the layer 3 header)"""
    if link == SLL2:
        kind, at = int.from_bytes(frame[0:2], "big"), 20
    elif link == ETHERNET:
        kind, at = int.from_bytes(frame[12:14], "big"), 14
    else:
        return 0, 0
    while kind in (0x8100, 0x88A8):
        kind, at = int.from_bytes(frame[at + 2:at + 4], "big"), at + 4
    if kind == 0x8847:
        while not frame[at + 2] & 1:
            at += 4
        at += 4
        kind = {4: 0x0800, 6: 0x86DD}.get(frame[at] >> 4, 0)
    return kind, at


def icrc(header, transport):
    """What the ICRC of this datagram has to be (protocol.md 5)."""
    masked = bytearray(header)
    if header[0] >> 4 == 4:
        masked[1] = masked[8] = masked[10] = masked[11] = 0xFF
    else:
        masked[0] |= 0x0F
        masked[1] = masked[2] = masked[3] = masked[7] = 0xFF
    udp = bytearray(transport[:8])
    udp[6] = udp[7] = 0xFF
    rest = bytearray(transport[8:-4])
    rest[4] = 0xFF
    return zlib.crc32(b"\xff" * 8 + bytes(masked) + bytes(udp) + bytes(rest))


def checksum_holds(header):
    total = sum(int.from_bytes(header[i:i + 2], "big") for i in range(0, len(header), 2))
    return (total & 0xFFFF) + (total >> 16) in (0xFFFF, 0x1FFFE)


def packet_of(number, interface, link, time, wire, frame):
    kind, at = layer3(link, frame)
    if kind == 0x0800 and len(frame) >= at + 28:
        size = (frame[at] & 0xF) * 4
        if frame[at + 9] != 17:
            return None
        end = at + int.from_bytes(frame[at + 2:at + 4], "big")
        src, dst = frame[at + 12:at + 16], frame[at + 16:at + 20]
        identification, ttl = int.from_bytes(frame[at + 4:at + 6], "big"), frame[at + 8]
        whole = checksum_holds(frame[at:at + size])
    elif kind == 0x86DD and len(frame) >= at + 48:
        size = 40
        if frame[at + 6] != 17:
            return None
        end = at + 40 + int.from_bytes(frame[at + 4:at + 6], "big")
        src, dst = frame[at + 8:at + 24], frame[at + 24:at + 40]
        identification, ttl, whole = None, frame[at + 7], True
    else:
        return None
    udp = at + size
    if int.from_bytes(frame[udp + 2:udp + 4], "big") != ROCE_PORT or len(frame) < udp + 20:
        return None
    bth, packet = udp + 8, Packet()
    packet.number, packet.time, packet.interface = number, time, interface
    packet.src, packet.dst, packet.id, packet.ttl = src, dst, identification, ttl
    packet.sport = int.from_bytes(frame[udp:udp + 2], "big")
    packet.opcode, packet.ack_request = frame[bth], frame[bth + 8] >> 7
    packet.qp = int.from_bytes(frame[bth + 5:bth + 8], "big")
    packet.psn = int.from_bytes(frame[bth + 9:bth + 12], "big")
    packet.syndrome = packet.msn = packet.va = packet.dma_length = None
    operation, headers = packet.opcode & 0x1F, bth + 12
    if packet.service == XRC_SERVICE and operation not in RESPONSES:
        headers += 4
    if operation in WITH_RETH or operation == FLUSH:
        if operation == FLUSH:
            headers += 4
        if len(frame) >= headers + 16:
            packet.va = int.from_bytes(frame[headers:headers + 8], "big")
            packet.dma_length = int.from_bytes(frame[headers + 12:headers + 16], "big")
        headers += 16
    if operation in WITH_AETH and packet.service in (RC_SERVICE, XRC_SERVICE) and len(frame) >= headers + 4:
        packet.syndrome = frame[headers]
        packet.msn = int.from_bytes(frame[headers + 1:headers + 4], "big")
        headers += 4
    packet.payload = end - 4 - headers - ((frame[bth + 1] >> 4) & 3)
    packet.body = frame[bth:end]
    packet.icrc, packet.whole = None, whole and end - at <= wire - at
    if len(frame) >= end and operation != FLUSH:
        packet.icrc = icrc(frame[at:udp], frame[udp:end]) == int.from_bytes(frame[end - 4:end], "little")
        packet.whole = packet.whole and packet.icrc
    return packet


def roce_packets(path):
    """(packets with a BTH, number of all frames)"""
    packets, number = [], 0
    for number, record in enumerate(records(path), 1):
        packet = packet_of(number, *record)
        if packet is not None:
            packets.append(packet)
    return packets, number

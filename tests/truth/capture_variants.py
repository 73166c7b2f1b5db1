# SPDX-License-Identifier: Apache-2.0
"""What captures lack, made on purpose: a capture of which a mirror sampled, a filter left out, a disk did not keep, or
that has two points in one interface. Reads and writes pcap files of Ethernet frames."""

import random
import struct
import subprocess

NS_LITTLE = 0xA1B23C4D
ETHERNET = 1


def contents(path):
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout
    with open(path, "rb") as file:
        return file.read()


def read(path):
    """The records of a pcap file, (time in nanoseconds, length on the wire, frame), in their order."""
    data = contents(path)
    order = "<" if data[:4] in (b"\x4d\x3c\xb2\xa1", b"\xd4\xc3\xb2\xa1") else ">"
    magic, _, _, _, _, _, link = struct.unpack_from(order + "IHHiIII", data)
    assert link == ETHERNET, (path, link)
    unit = 1 if magic == NS_LITTLE else 1000
    records, at = [], 24
    while at + 16 <= len(data):
        seconds, fraction, kept, length = struct.unpack_from(order + "IIII", data, at)
        records.append((seconds * 10**9 + fraction * unit, length, data[at + 16:at + 16 + kept]))
        at += 16 + kept
    return records


def write(path, records):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", NS_LITTLE, 2, 4, 0, 0, 262144, ETHERNET))
        for time, length, frame in records:
            file.write(struct.pack("<IIII", time // 10**9, time % 10**9, len(frame), length) + frame)


def bth(frame):
    """Where the BTH of a frame begins; None if it is not RoCE v2 in plain Ethernet, with or without VLAN tags."""
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    kind, at = frame[at:at + 2], at + 2
    if kind == b"\x08\x00" and frame[at + 9] == 17:
        at += 4 * (frame[at] & 15)
    elif kind == b"\x86\xdd" and frame[at + 6] == 17:
        at += 40
    else:
        return None
    return at + 8 if frame[at + 2:at + 4] == struct.pack(">H", 4791) else None


def opcode(frame):
    at = bth(frame)
    return None if at is None else frame[at]


def source(frame):
    at = bth(frame)
    if at is None:
        return None
    return frame[at - 16:at - 12] if frame[12:14] == b"\x08\x00" else frame[at - 40:at - 24]


def regular(records, one_in, first=0):
    return records[first::one_in]


def at_random(records, one_in, seed):
    dice = random.Random(seed)
    return [record for record in records if dice.randrange(one_in) == 0]


def delayed(records, share, far, seed):
    """Some of them come behind up to `far` others, at their times."""
    dice = random.Random(seed)
    places = [place + (dice.uniform(1, far) if dice.random() < share else 0) for place in range(len(records))]
    order = sorted(range(len(records)), key=places.__getitem__)
    return [(records[place][0], *records[late][1:]) for place, late in enumerate(order)]


def only(records, wanted):
    """RoCE packets with wanted(opcode), and all else."""
    return [record for record in records if opcode(record[2]) is None or wanted(opcode(record[2]))]


def part(frame):
    """Kind and position of an RC packet: the low bits of its opcode; None of all else."""
    code = opcode(frame)
    return None if code is None or code >> 5 else code


def carries_psn(frame):
    """Whether it is a request or a READ response: ACKs have the PSN of what they confirm."""
    return part(frame) not in (None, 0x11, 0x12)


def without_some(records, count, at):
    """Without `count` RC packets at that share of the capture and what lies between them; and how many records are before."""
    places = [place for place, (_, _, frame) in enumerate(records) if part(frame) is not None]
    first = int(len(places) * at) - count // 2
    begin, end = places[first], places[first + count - 1] + 1
    return records[:begin] + records[end:], begin

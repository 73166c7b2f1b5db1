# SPDX-License-Identifier: Apache-2.0
"""What a mirror or a shell makes of the records of a capture (tests/truth/capture_variants.py). Written from
draft-foschiano-erspan-03 and RFC 4303 alone, so that program and test do not share a mistake.

As a program: erspan_mirror.py CAPTURE VERSION LOSS SEED OUTPUT"""

import ipaddress
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import capture_variants as variants  # noqa: E402

SWITCH, COLLECTOR = "10.9.0.7", "10.9.0.1"
SESSION = 5


def outer(protocol, payload, number):
    ip = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), number & 0xFFFF, 0, 64, protocol, 0,
                               ipaddress.ip_address(SWITCH).packed, ipaddress.ip_address(COLLECTOR).packed))
    total = sum(struct.unpack(">10H", ip))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    ip[10:12] = struct.pack(">H", total ^ 0xFFFF)
    return bytes.fromhex("5254000000fe5254000000070800") + bytes(ip) + payload


def header(version, sequence, time):
    """GRE with a sequence number, and ERSPAN; type III with time stamps of 100 ns and the upper half in a subheader."""
    if version == 2:
        return struct.pack(">HHIHHI", 0x1000, 0x88BE, sequence, 0x1000, SESSION, 0)
    ticks = time // 100
    return struct.pack(">HHIHHIHH", 0x1000, 0x22EB, sequence, 0x2000, SESSION, ticks & 0xFFFFFFFF, 0, 0x8000 | 1 << 1 | 1) + \
        struct.pack(">II", 3 << 26 | 12, ticks >> 32 & 0xFFFFFFFF)


def kept(count, loss, seed):
    """Which packets arrive. The first and the last do, so that the numbers show all that is missing."""
    chance = random.Random(seed)
    return [number in (0, count - 1) or chance.random() >= loss for number in range(count)]


def mirror(records, version=2, loss=0.0, seed=0, constant=False, first=1000):
    """The records that arrive, and how many do not."""
    arrives = kept(len(records), loss, seed)
    out = []
    for number, (time, length, frame) in enumerate(records):
        if not arrives[number]:
            continue
        head = header(version, 0 if constant else first + number & 0xFFFFFFFF, time)
        wrapped = outer(47, head + frame, number)
        out.append((time, len(wrapped) + length - len(frame), wrapped))
    return out, arrives.count(False)


def hide(records, loss=0.0, seed=0):
    """The same in ESP, as a tunnel hides it."""
    arrives = kept(len(records), loss, seed)
    out = []
    for number, (time, length, frame) in enumerate(records):
        if arrives[number]:
            wrapped = outer(50, struct.pack(">II", 0xC0DE, number + 1) + bytes(byte ^ 0x5A for byte in frame), number)
            out.append((time, len(wrapped) + length - len(frame), wrapped))
    return out, arrives.count(False)


def main():
    capture, version, loss, seed, output = sys.argv[1:6]
    mirrored, lost = mirror(variants.read(capture), int(version), float(loss), int(seed))
    variants.write(output, mirrored)
    print(f"{lost} of {len(mirrored) + lost} lost")


if __name__ == "__main__":
    main()

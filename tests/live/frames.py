# SPDX-License-Identifier: Apache-2.0
"""Captures as scapy reads them."""

import namespace

try:
    from scapy.utils import RawPcapNgReader, RawPcapReader
except ImportError:
    namespace.skip("python3-scapy is missing")


def read_capture(path):
    """[(bytes, length on the wire, nanoseconds)]"""
    frames = []
    try:
        reader = RawPcapReader(path)
    except EOFError:  # a capture without a packet
        return frames
    for data, facts in reader:
        if isinstance(reader, RawPcapNgReader):
            when = ((facts.tshigh << 32) + facts.tslow) * 1_000_000_000 // facts.tsresol
        else:
            when = facts.sec * 1_000_000_000 + facts.usec * (1 if reader.nano else 1000)
        frames.append((data, facts.wirelen, when))
    reader.close()
    return frames

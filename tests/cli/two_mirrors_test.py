#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A whole and a truncating mirror of the same flows in one capture: nothing is told as trimmed by a switch, and no more losses
than the whole mirror alone shows. The second one is at the same place, behind a router, or in ERSPAN without its T bit.

    two_mirrors_test.py PROGRAM SAMPLES"""

import json
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import capture_variants as variants  # noqa: E402

PROGRAM, SAMPLES = os.path.abspath(sys.argv[1]), sys.argv[2]
LEFT = 128  # bytes
NAMES = ("04_write_loss1.cb", "04_read_loss1.ca", "14_mtu1500_loss.cb")


def renewed(header):
    """An IPv4 header of 20 bytes with its checksum."""
    total = sum(struct.unpack(">10H", header[:10] + b"\0\0" + header[12:]))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return header[:10] + struct.pack(">H", 0xFFFF ^ total) + header[12:]


def here(frame):
    return frame[:LEFT]


def routed(frame):
    if variants.bth(frame) is None:
        return frame[:LEFT]
    macs = b"\x02\0\0\0\1\1\x02\0\0\0\1\2"
    return (macs + frame[12:14] + renewed(frame[14:22] + bytes([frame[22] - 1]) + frame[23:34]) + frame[34:])[:LEFT]


def erspan(frame):
    inside = struct.pack(">HHIHHI", 0x1000, 0x88BE, 0, 0x1001, 1, 1) + frame[:LEFT]
    ends = bytes((192, 168, 0, 1, 192, 168, 0, 2))
    outside = renewed(struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(inside), 0, 0, 64, 47, 0) + ends)
    return b"\x02\0\0\0\2\1\x02\0\0\0\2\2\x08\0" + outside + inside


def flows_of(path):
    done = subprocess.run([PROGRAM, "report", "--json", path], check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 3), (path, done.returncode, done.stderr)
    return json.loads(done.stdout)["flows"]


def lost(flows, place):
    return sum(flow["lost"][place] for flow in flows)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "two.pcap")
        for name in NAMES:
            one = os.path.join(SAMPLES, name + ".pcap.zst")
            records, alone = variants.read(one), lost(flows_of(one), "before_capture")
            assert alone > 0, name
            for mirror in (here, routed, erspan):
                for lag_ns in (3000, 200_000, -300_000):
                    cut = [(time + lag_ns, len(mirror(frame)), mirror(frame)) for time, _, frame in records]
                    variants.write(path, sorted(records + cut, key=lambda record: record[0]))
                    flows = flows_of(path)
                    what = (name, mirror.__name__, lag_ns)
                    assert lost(flows, "trimmed") == 0, what
                    assert lost(flows, "before_capture") <= alone, what
    print("two mirrors, one of them truncating: nothing trimmed")


main()

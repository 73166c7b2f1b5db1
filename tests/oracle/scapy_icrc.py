#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks our ICRC verdicts against two other computations and against the samples' manifest.

    scapy_icrc.py ROCEANALYZE [DIRECTORY]

Every RoCE v2 packet is computed anew here with zlib over the bytes that protocol text (IBTA A17.3.3)
names, found without our dissector: the last IP header before a UDP header to 4791. The first packets
of each kind in each file also go through scapy.contrib.roce, which knows IPv4 only and rebuilds the
headers from its own fields. The manifest's counts were made by a third program when the samples were
recorded. Exit status 77: no scapy here.
"""

import json
import os
import struct
import subprocess
import sys
import zlib

SKIP = 77
ROCE_PORT = struct.pack(">H", 4791)
SCAPY_PACKETS_A_FILE = 12
FLUSH = 0x1C

try:
    import logging
    logging.getLogger("scapy").setLevel(logging.ERROR)
    from scapy.contrib.roce import BTH
    from scapy.layers.inet import IP
    from scapy.packet import Raw
    from scapy.utils import RawPcapReader, RawPcapNgReader
except ImportError:
    print("scapy is not installed")
    sys.exit(SKIP)


def checksum_is_right(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total == 0xFFFF


def find_datagram(frame, corrupt=False):
    """(offset of the IP header, of UDP, end of the IP packet) of the innermost one to 4791, or None.
    A header that was corrupted is only looked for where no right one is."""
    found = None
    at = -1
    while (at := frame.find(ROCE_PORT, at + 1)) >= 0:
        udp = at - 2
        for length in range(20, 64, 4):
            ip = udp - length
            if ip >= 0 and frame[ip] == 0x40 + length // 4 and frame[ip + 9] == 17 and \
                    (corrupt or checksum_is_right(frame[ip:udp])):
                found = found or (ip, udp, ip + struct.unpack_from(">H", frame, ip + 2)[0])
        ip = udp - 40
        if ip >= 0 and frame[ip] >> 4 == 6 and frame[ip + 6] == 17:
            plen = struct.unpack_from(">H", frame, ip + 4)[0]
            if plen == struct.unpack_from(">H", frame, udp + 4)[0]:
                found = found or (ip, udp, ip + 40 + plen)
    return found if found or corrupt else find_datagram(frame, True)


def compute(frame, ip, udp, end):
    """The ICRC as the four bytes stand in the packet."""
    packet = bytearray(frame[ip:end - 4])
    u = udp - ip
    if packet[0] >> 4 == 4:
        packet[1] = packet[8] = 0xFF
        packet[10:12] = b"\xff\xff"
    else:
        packet[0] |= 0x0F
        packet[1:4] = b"\xff\xff\xff"
        packet[7] = 0xFF
    packet[u + 6:u + 8] = b"\xff\xff"
    packet[u + 8 + 4] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + packet) & 0xFFFFFFFF)


def scapy_compute(frame, ip, end):
    packet = IP(bytes(frame[ip:end]))
    if BTH not in packet:
        return None
    # What scapy made of the bytes behind the BTH is not the matter here, and its AETH and padding
    # would be built anew: give it the bytes.
    bth = packet[BTH]
    raw = bytes(frame[ip:end])
    offset = len(raw) - len(bytes(bth.original))
    header, payload = bth.original[:12], bth.original[12:-4]
    again = IP(raw[:offset] + header + b"\0\0\0\0")
    again[BTH].remove_payload()
    again[BTH].add_payload(Raw(payload))
    return again[BTH].compute_icrc(None)


def packets_of(data_path):
    reader = RawPcapNgReader if data_path.endswith("ng") else RawPcapReader
    source = reader(data_path)
    for frame, _ in source:
        yield frame
    source.close()


def verdicts_of(program, path):
    fields = ["frame.number", "roce.icrc.status", "infiniband.invariant.crc", "roce.icrc.computed",
              "roce.icrc.soft_roce_flush"]
    command = [program, "packets", path, "-T", "fields"]
    for field in fields:
        command += ["-e", field]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout.decode()
    return [line.split("\t") for line in out.splitlines()]


class Check:
    def __init__(self, program):
        self.program = program
        self.failures = []
        self.computed = self.with_scapy = self.counts = 0

    def fail(self, *what):
        self.failures.append(" ".join(str(w) for w in what))

    def file(self, path, name, expected, scratch):
        plain = os.path.join(scratch, name.removesuffix(".zst"))
        if name.endswith(".zst"):
            with open(plain, "wb") as out:
                subprocess.run(["zstd", "-dcq", path], stdout=out, check=True)
        else:
            plain = path
        verdicts = verdicts_of(self.program, path)
        seen = {"good": 0, "bad": 0}
        by_scapy = 0
        number = 0
        for frame, verdict in zip(packets_of(plain), verdicts):
            number += 1
            _, status, found, ours, soft_flush = verdict
            if status == "match" and not soft_flush:
                seen["good"] += 1
            elif status in ("match", "mismatch"):
                seen["bad"] += 1
            if status not in ("match", "mismatch"):
                continue
            place = find_datagram(frame)
            if place is None or place[2] > len(frame):
                self.fail(name, number, "we say", status, "but there is no whole RoCE v2 packet")
                continue
            ip, udp, end = place
            standard = compute(frame, ip, udp, end)
            self.computed += 1
            if "0x" + standard.hex() != ours:
                self.fail(name, number, "computed", ours, "here", standard.hex())
            matches = standard == frame[end - 4:end]
            if matches != (status == "match" and not soft_flush) or "0x" + frame[end - 4:end].hex() != found:
                self.fail(name, number, "we say", status, found, "here", matches)
            if soft_flush and frame[udp + 8] != FLUSH:
                self.fail(name, number, "no FLUSH, but said to have Soft-RoCE's ICRC")
            if by_scapy < SCAPY_PACKETS_A_FILE and frame[ip] == 0x45:
                by_scapy += 1
                value = scapy_compute(frame, ip, end)
                self.with_scapy += 1
                if value != standard:
                    self.fail(name, number, "scapy computes", value, "here", standard.hex())
        if len(verdicts) != number:
            self.fail(name, "packets:", len(verdicts), "ours,", number, "scapy's")
        if expected is not None:
            self.counts += 1
            if any(seen[kind] != expected[kind] for kind in seen):
                self.fail(name, "counts", seen, "manifest", expected["good"], expected["bad"])


def main():
    import tempfile
    program = sys.argv[1]
    here = os.path.dirname(os.path.abspath(__file__))
    directory = sys.argv[2] if len(sys.argv) > 2 else os.path.join(here, "..", "..", "samples")
    expected = {}
    with open(os.path.join(directory, "manifest.json"), encoding="utf-8") as manifest:
        for scenario in json.load(manifest):
            for entry in scenario["files"]:
                expected[entry["file"].removesuffix(".zst")] = entry.get("icrc")
    check = Check(program)
    with tempfile.TemporaryDirectory() as scratch:
        for name in sorted(os.listdir(directory)):
            if name.removesuffix(".zst").endswith((".pcap", ".pcapng")):
                check.file(os.path.join(directory, name), name, expected.get(name.removesuffix(".zst")), scratch)
    for failure in check.failures[:40]:
        print(failure)
    print(f"{check.computed} ICRCs computed with zlib, {check.with_scapy} with scapy, "
          f"{check.counts} files counted; {len(check.failures)} failures")
    return 1 if check.failures or check.computed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

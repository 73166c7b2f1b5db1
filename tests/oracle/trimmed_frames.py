#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which frames a switch trimmed, by the lengths that tshark reads, against what roceanalyze says.

    trimmed_frames.py ROCEANALYZE ROCE_FAULT_GENERATE

The frames are made by the generator, which follows documents: no capture of a switch that trims was at hand. tshark knows
nothing of trimming, but reads ip.len, ipv6.plen, udp.length, the DSCP and the length of the frame, and the rules are
few (docs/fabrics.md). Exit status 77: there is no tshark here."""

import os
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
DSCP = 20
FIELDS = ("frame.number", "frame.len", "ip.len", "ipv6.plen", "udp.length", "ip.dsfield.dscp", "ipv6.tclass.dscp",
          "ip.dsfield", "ip.checksum", "ip.checksum_calculated")
ETHERNET, IPV4, IPV6 = 14, 20, 40


def lines(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.splitlines()


def number(text):
    return int(text, 0) if text else 0


def of_the_packet_before(tos, stored, calculated, shorter):
    """Whether the checksum is right for a header with another DSCP, whose length was that much more."""
    changed = (calculated - stored - shorter) % 0xffff
    return any((tos ^ before) & 3 == 0 and (before - tos) % 0xffff == changed for before in range(256))


def expected(path, told):
    """(numbers of trimmed frames -> (length before, bytes cut off))"""
    arguments = [argument for field in FIELDS for argument in ("-e", field)]
    found = {}
    for line in lines(["tshark", "-r", path, "-o", "ip.check_checksum:TRUE", "-T", "fields", *arguments]):
        frame, length, v4, v6, udp, dscp4, dscp6, tos, stored, calculated = map(number, (line.split("\t") + [""] * len(FIELDS))[:len(FIELDS)])
        header = IPV4 if v4 else IPV6
        ip_end = ETHERNET + (v4 if v4 else IPV6 + v6)
        udp_end = ETHERNET + header + udp
        renewed = ip_end < udp_end and udp_end > length
        stale = v4 and of_the_packet_before(tos, stored, calculated, 0) and stored != calculated
        kept = ip_end > length and ((told and (dscp4 if v4 else dscp6) == DSCP) or stale)
        if renewed or kept:
            found[frame] = (udp_end, udp_end - length)
    return found


def said(program, path, told):
    command = [program, "packets", path, "-Y", "roce.trimmed", "-T", "fields", "-e", "frame.number", "-e", "roce.trimmed.was",
               "-e", "roce.trimmed.bytes", "--no-analysis"]
    rows = (line.split("\t") for line in lines(command + (["--trimmed-dscp", str(DSCP)] if told else [])))
    return {int(frame): (int(was), int(cut)) for frame, was, cut in rows}


def main():
    program, generate = sys.argv[1:3]
    if shutil.which("tshark") is None:
        print("no tshark here")
        return SKIP
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trimmed.pcap")
        for variant in ("a", "b", "remarked"):
            for ip in ((), ("--ipv6",)):
                subprocess.run([generate, path, "--packets", "3000", "--path-mtu", "1024", "--trim-percent", "3", "--trim-variant",
                                variant, "--trim-dscp", str(DSCP), *ip], check=True)
                for told in (False, True):
                    want, got = expected(path, told), said(program, path, told)
                    right = want == got and bool(want) == (variant == "a" or (variant == "b" and (told or not ip)))
                    failed += not right
                    print(f"{variant} {'IPv6' if ip else 'IPv4'} {'DSCP told' if told else ''}: {len(want)} by tshark, "
                          f"{len(got)} said, {'ok' if right else 'FAIL'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every count of the matrix of marks, and of the rows of flows, equals what tshark's fields add up to.

    marking_counts.py ROCEANALYZE [FILE|DIRECTORY...]

Without files: samples/ of the project, and a capture made here in which every class has many marks. tshark tells
the fields of each packet; the classes come from the opcode's number by a table of this script. Exit status 77:
there is no tshark here.
"""

import collections
import json
import os
import random
import shutil
import struct
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays clean
import synthetic  # noqa: E402
from tshark_fields import DECODE_AS, DISABLED, PREFERENCES, SKIP, files_of, readable, run  # noqa: E402

ECN = ("not_ect", "ect1", "ect0", "ce")
# IBTA table 38, A17.9.3 (CNP), A19 (FLUSH, ATOMIC WRITE): operation, for the services that have it.
RC, UC, RD, UD, XRC = 0, 1, 2, 3, 5
DATA, ACK, RESPONSE, ATOMIC = "data", "ack", "response", "atomic"
ALL = (RC, UC, RD, XRC)
OPERATIONS = {**{o: (DATA, ALL) for o in range(0x0C)}, 0x04: (DATA, ALL + (UD,)), 0x05: (DATA, ALL + (UD,)),
              0x0C: (DATA, (RC, RD, XRC)), **{o: (RESPONSE, (RC, RD, XRC)) for o in range(0x0D, 0x11)},
              0x11: (ACK, (RC, RD, XRC)), **{o: (ATOMIC, (RC, RD, XRC)) for o in (0x12, 0x13, 0x14, 0x1D)},
              0x15: (DATA, (RD,)), 0x16: (DATA, (RC, XRC)), 0x17: (DATA, (RC, XRC)), 0x1C: (DATA, (RC, RD, XRC))}
# Ours -> tshark's, of the innermost network header.
NETWORKS = (("ip.src", "ip.dst", "ip.dsfield.dscp", "ip.dsfield.ecn", "ip.ttl"),
            ("ipv6.src", "ipv6.dst", "ipv6.tclass.dscp", "ipv6.tclass.ecn", "ipv6.hlim"))
GRH = ("infiniband.grh.sgid", "infiniband.grh.dgid", "infiniband.grh.tclass", "infiniband.grh.hoplmt")
OTHERS = ("frame.number", "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.p_key",
          "vlan.priority", "vlan.id", "frame.protocols")
COLUMNS = OTHERS + GRH + NETWORKS[0] + NETWORKS[1]


def traffic_class(opcode, qp):
    if qp == 1:
        return "cm"
    if opcode == 0x81:
        return "cnp"
    name, services = OPERATIONS.get(opcode & 0x1F, ("other", ()))
    return name if opcode >> 5 in services else "other"


def last(text):
    return text.split(",")[-1]


def outer_of(values):
    """Marks of the outermost IP header of a packet in a tunnel; a mirror's headers (ERSPAN) are none."""
    protocols = values["frame.protocols"].split(":")
    networks = [p for p in protocols if p in ("ip", "ipv6")]
    if "erspan" in protocols or len(networks) < 2:
        return {}
    source, target, dscp, ecn, _ = NETWORKS[networks[0] == "ipv6"]
    return {"outer_src": values[source].split(",")[0], "outer_dst": values[target].split(",")[0],
            "outer_dscp": int(values[dscp].split(",")[0]), "outer_ecn": ECN[int(values[ecn].split(",")[0])]}


def packets_of(path):
    """Number and marks of each RoCE packet, as tshark tells them."""
    with tempfile.TemporaryDirectory() as directory:
        command = ["tshark", "-n", "-r", readable(path, directory), "-T", "fields", "-Y", "infiniband.bth"]
        for name in DISABLED:
            command += ["--disable-protocol", name]
        for preference in PREFERENCES:
            command += ["-o", preference]
        for rule in DECODE_AS:
            command += ["-d", rule]
        for column in COLUMNS:
            command += ["-e", column]
        _, out, _ = run(command)
    for line in out.splitlines():
        values = dict(zip(COLUMNS, line.split("\t")))
        if values["infiniband.bth.opcode"] == "":
            continue
        opcode, qp = int(last(values["infiniband.bth.opcode"])), int(last(values["infiniband.bth.destqp"]), 16)
        protocols = values["frame.protocols"].split(":")
        inner = protocols[len(protocols) - protocols[::-1].index("eth") if "eth" in protocols else 0:]
        tagged = "vlan" in inner and values["vlan.priority"] != ""
        marks = {"class": traffic_class(opcode, qp), "p_key": int(last(values["infiniband.bth.p_key"]), 0),
                 "pcp": int(last(values["vlan.priority"])) if tagged else None,
                 "vlan": int(last(values["vlan.id"])) if tagged else None}
        networks = [p for p in inner if p in ("ip", "ipv6")]
        if networks:
            source, target, dscp, ecn, ttl = NETWORKS[networks[-1] == "ipv6"]
            marks.update(src=last(values[source]), dst=last(values[target]), dscp=int(last(values[dscp])),
                         ecn=ECN[int(last(values[ecn]))], ttl=int(last(values[ttl])), **outer_of(values))
        elif values[GRH[0]] != "":
            tclass = int(last(values[GRH[2]]), 0)
            marks.update(src=last(values[GRH[0]]), dst=last(values[GRH[1]]), dscp=tclass >> 2, ecn=ECN[tclass & 3],
                         ttl=int(last(values[GRH[3]]), 0))
        else:
            continue  # native InfiniBand without GRH has no marks
        yield int(values["frame.number"]), marks


def copies_of(program, path):
    """Numbers of packets that no flow counts: second copies made by the capture."""
    _, out, _ = run([program, "packets", path, "--no-icrc", "-Y", "roce.analysis.duplicate_capture", "-T", "fields",
                     "-e", "frame.number"])
    return {int(line) for line in out.splitlines()}


MATRIX = ("class", "src", "dst", "dscp", "pcp", "ecn")
OUTER = ("outer_src", "outer_dst", "outer_dscp", "outer_ecn", "src", "dst", "dscp", "ecn")
ROWS = ("class", "src", "dst", "dscp", "pcp", "ecn", "vlan", "ttl", "p_key")


def compare(program, path):
    """Returns packets compared, and lines of what differs."""
    status, out, _ = run([program, "report", "--json", "--no-icrc", path])
    if status != 0:
        return 0, []
    report = json.loads(out)
    copies = copies_of(program, path) if any(f["duplicate_captures"] for f in report["flows"]) else set()
    theirs = {MATRIX: collections.Counter(), ROWS: collections.Counter()}
    outer, first = collections.Counter(), {}
    for number, marks in packets_of(path):
        if "outer_src" in marks:
            outer[tuple(marks[k] for k in OUTER)] += 1
        if number in copies:
            continue
        for keys, counts in theirs.items():
            key = tuple(marks[k] for k in keys)
            counts[key] += 1
            first.setdefault(key, number)
    ours = {MATRIX: collections.Counter(), ROWS: collections.Counter()}
    our_first = {}
    listed = {f["src"] for f in report["flows"] if f["version"] == "native_ib"}
    for row in report["markings"]:
        if row["src"] not in listed:
            key = tuple(row[k] for k in MATRIX)
            ours[MATRIX][key] += row["packets"]
            our_first[key] = row["first_packet"]
    for flow in report["flows"]:
        if flow["version"] == "native_ib":
            continue
        for row in flow["marks"]:
            key = tuple({**row, "src": flow["src"], "dst": flow["dst"]}[k] for k in ROWS)
            ours[ROWS][key] += row["packets"]
            our_first[key] = min(row["first_packet"], our_first.get(key, row["first_packet"]))
    theirs[OUTER], ours[OUTER] = outer, collections.Counter()
    for flow in report["flows"]:
        for row in flow["outer"]:
            key = (row["src"], row["dst"], row["dscp"], row["ecn"], flow["src"], flow["dst"], row["inner_dscp"],
                   row["inner_ecn"])
            ours[OUTER][key] += row["packets"]
    wrong = []
    for keys, counts in theirs.items():
        for key in sorted(set(counts) | set(ours[keys]), key=str):
            if counts[key] != ours[keys][key]:
                wrong.append(f"{dict(zip(keys, key))}: ours {ours[keys][key]}, tshark {counts[key]}")
            elif keys != OUTER and first[key] != our_first[key]:
                wrong.append(f"{dict(zip(keys, key))}: first packet ours {our_first[key]}, tshark {first[key]}")
    if report["markings_others"] != 0:
        wrong.append(f"{report['markings_others']} packets in no row")
    return sum(theirs[MATRIX].values()), wrong


def made(path):
    """Four flows a class, marked in every way; each packet has its flow's next PSN."""
    choose = random.Random(4)
    psns = collections.Counter()
    opcodes = (0x0A, 0x04, 0x11, 0x10, 0x13, 0x12, 0x81, 0x64, 0xC0)
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 0x40000, 1))
        for i in range(20000):
            opcode, host = choose.choice(opcodes), choose.randrange(4)
            qp = 1 if opcode == 0x64 and host < 2 else 0x100 + opcode
            psns[(host, qp)] += 1
            p_key = choose.choice((0xFFFF, 0x8001)) if host == 1 else 0xFFFF
            bth = struct.pack(">BBHII", opcode, 0x40, p_key, qp, psns[(host, qp)])
            datagram = synthetic.udp(bth + bytes(64) + b"\1\2\3\4", 4791)
            # A flow keeps 128 rows: of the marks that differ, half a flow has those and half these.
            dscp, ecn = choose.choice((0, 26, 48)), choose.randrange(4)
            ttl = choose.choice((63, 64)) if host % 2 == 0 else 64
            header = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, dscp << 2 | ecn, 20 + len(datagram), i & 0xFFFF, 0x4000,
                                           ttl, 17, 0, bytes([10, 0, 0, host]), bytes([10, 0, 1, host])))
            header[10:12] = synthetic.checksum(bytes(header))
            packet = bytes(header) + datagram
            tag = ((0x8100, choose.choice((3, 5)) << 13 | 100),) if host == 3 else ()
            frame = synthetic.tagged(*tag, 0x0800, payload=packet) if tag else synthetic.ethernet(0x0800, packet)
            out.write(struct.pack("<IIII", i // 1000, i % 1000 * 1000, len(frame), len(frame)) + frame)


def main():
    program = sys.argv[1]
    if shutil.which("tshark") is None:
        print("tshark is not installed")
        return SKIP
    here = os.path.dirname(os.path.abspath(__file__))
    own = len(sys.argv) < 3
    files = files_of(sys.argv[2:] or [os.path.join(here, "..", "..", "samples")])
    packets = failures = 0
    with tempfile.TemporaryDirectory() as directory:
        if own:
            made(os.path.join(directory, "made.pcap"))
            files.append(os.path.join(directory, "made.pcap"))
        for path in files:
            compared, wrong = compare(program, path)
            packets += compared
            failures += len(wrong)
            for line in wrong[:6]:
                print(f"{os.path.basename(path)}: {line}")
    print(f"{packets} packets of {len(files)} files, {failures} differences")
    return 1 if failures or packets == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

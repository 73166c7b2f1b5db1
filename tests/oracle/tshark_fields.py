#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares every field that roceanalyze shares with tshark, packet by packet, value by value.

    tshark_fields.py ROCEANALYZE [FILE|DIRECTORY...]

Without files: samples/ of the project and packets made here that the samples lack. Where the two differ, either we are wrong, or tshark is and
the difference is an exception in EXCEPTIONS with its reason. Over the project's samples an exception
that no packet needs any more is a failure too. Exit status 77: there is no tshark here.
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays clean
import synthetic  # noqa: E402

SKIP = 77
SUFFIXES = (".pcap", ".pcapng", ".cap", ".zst", ".gz", ".lz4")

# Names that both have, but that do not hold the same thing.
NOT_COMPARED = {
    "frame.protocols": "tshark names protocols that this program does not follow",
    "frame.interface_id": "tshark has none for pcap, and numbers interfaces anew in each section",
    "frame.interface_name": "tshark says 'unknown' where the capture has no name",
}
# Upper layers: tshark decides by the conversation whether a payload is one, this program by its bytes.
NOT_COMPARED_PREFIXES = ("nvme", "iser", "iscsi", "rpcordma", "rpc", "smb", "roce")

# tshark takes any payload that resembles an ethertype for one; and some Ethernet trailers for an FCS.
PREFERENCES = ["infiniband.identify_payload:FALSE"]
DISABLED = ["rpcordma", "smb_direct", "iser", "nvme-rdma", "iscsi", "eth_maybefcs"]
HEURISTICS = ["metamako_eth", "exablaze_eth"]  # trailers of switches, which tshark looks for only when it is told to
DECODE_AS = ["udp.port==8472,vxlan", "udp.port==4790,vxlan"]

# The payload, where tshark may not guess what it is.
NAMES_OF_TSHARK = {"infiniband.payload": "data.data"}

FLUSH, ATOMIC_WRITE, CNP = 0x1C, 0x1D, 0x81
BEHIND_HEADERS = ("infiniband.payload", "infiniband.invariant.crc", "infiniband.variant.crc")
RD, XRC, MRC = 2, 5, 6
ERF = "98"  # Wireshark's number of the encapsulation
WITHOUT_PAYLOAD = (0x0C, 0x11, 0x12, 0x13, 0x14)  # READ request, ACK, atomics and their answer


class Packet:
    """One packet as both programs print it."""

    def __init__(self, columns, ours, theirs, stop):
        self.ours = dict(zip(columns, ours))
        self.stop = stop  # why our dissection ended early, or empty
        self.theirs = dict(zip(columns, theirs))

    def opcode(self):
        text = self.ours["infiniband.bth.opcode"].split(",")[-1]
        return int(text) if text else None

    def operation(self):
        return None if self.opcode() is None else self.opcode() & 0x1F

    def service(self):
        return None if self.opcode() is None else self.opcode() >> 5


class Exception_:
    def __init__(self, name, reason, applies):
        self.name, self.reason, self.applies = name, reason, applies
        self.count = 0


def starts(field, *prefixes):
    return any(field == p or field.startswith(p + ".") for p in prefixes)


def extended(field):
    """Fields behind the BTH, which tshark finds by its own table of opcodes."""
    return field.startswith("infiniband.") and not starts(
        field, "infiniband.bth", "infiniband.grh", "infiniband.lrh")


def known_opcode(opcode):
    service, operation = opcode >> 5, opcode & 0x1F
    if service == 0:
        return operation <= 0x17 and operation != 0x15
    return (service == 1 and operation <= 0x0B) or (service == 3 and operation in (4, 5))


EXCEPTIONS = []


def exception(name, reason):
    def add(function):
        EXCEPTIONS.append(Exception_(name, reason, function))
        return function
    return add


# -- exceptions are added below this line, each with its reason --


@exception("flush, atomic write", "tshark 4.0 does not know opcodes 0x1c and 0x1d and stops behind the BTH")
def _(packet, field, ours, theirs):
    return packet.operation() in (FLUSH, ATOMIC_WRITE) and extended(field) and theirs == ""


@exception("CNP", "the opcode is 0x81; tshark takes 0x80 for it and stops behind the BTH of the real one")
def _(packet, field, ours, theirs):
    return packet.opcode() == CNP and extended(field) and theirs == ""


@exception("XRC", "tshark 4.0 knows no service 5: no XRCETH, and nothing behind it")
def _(packet, field, ours, theirs):
    return packet.service() == XRC and extended(field) and theirs == ""


@exception("MRC", "tshark 4.0 knows no service 6 and stops behind the BTH")
def _(packet, field, ours, theirs):
    return packet.service() == MRC and extended(field) and theirs == ""


@exception("RD", "tshark 4.0 counts the RDETH's place from the wrong end (IBTA 9.2: it follows the BTH)")
def _(packet, field, ours, theirs):
    return packet.service() == RD and (extended(field) or field == "infiniband.bth")


@exception("unknown opcode", "tshark stops behind the BTH; what follows is payload up to the ICRC")
def _(packet, field, ours, theirs):
    return packet.opcode() is not None and not known_opcode(packet.opcode()) and theirs == "" and \
        field in BEHIND_HEADERS


@exception("payload where none belongs", "tshark stops; the length leaves room for it, and the ICRC is last")
def _(packet, field, ours, theirs):
    return packet.operation() in WITHOUT_PAYLOAD and theirs == "" and \
        field in BEHIND_HEADERS


@exception("too short", "tshark reads headers over the ICRC's place where the length leaves no room")
def _(packet, field, ours, theirs):
    return packet.stop == "contradicts itself" and (starts(field, "infiniband.deth") or theirs == "")


@exception("cut payload", "tshark shows nothing of a payload whose end was not captured")
def _(packet, field, ours, theirs):
    return field == "infiniband.payload" and packet.stop == "cut by the capture" and theirs == ""


@exception("ERF", "tshark takes time and lengths from the record's own header, here they are the capture's")
def _(packet, field, ours, theirs):
    return field.startswith("frame.") and packet.ours["frame.encap_type"] == ERF


@exception("shown twice", "tshark adds the item of immediate data and of the invalidated key twice")
def _(packet, field, ours, theirs):
    return field in ("infiniband.immdt", "infiniband.ieth") and theirs == f"{ours},{ours}"


@exception("reserved bytes", "one name of tshark for all reserved bytes; here only those of MADs have it, the "
           "BTH's hold FECN and BECN")
def _(packet, field, ours, theirs):
    return field == "infiniband.reserved" and (theirs.endswith(ours) or
                                               packet.theirs["infiniband.mad.attributeid"] in ("0x0017", "0x0018"))


@exception("MAD bytes", "tshark's item is the whole MAD, here it is the header; a CM message is no plain data")
def _(packet, field, ours, theirs):
    return (field == "infiniband.mad" and ours != "" and theirs.startswith(ours)) or (
        field == "infiniband.mad.data" and ours == "" and packet.ours["infiniband.mad.mgmtclass"] == "0x07")


@exception("payload by its name", "what tshark shows as data is no payload of InfiniBand, or a MAD's bytes")
def _(packet, field, ours, theirs):
    return field == "infiniband.payload" and ((ours == "" and not packet.ours["infiniband.bth"]) or
                                              (theirs == "" and packet.ours["infiniband.mad"] != ""))


@exception("REQ flow label", "tshark reads three bytes where the words of a REQ have four")
def _(packet, field, ours, theirs):
    return field in ("infiniband.cm.req.prim_flowlabel", "infiniband.cm.req.prim_reserved0",
                     "infiniband.cm.req.prim_pktrate", "infiniband.cm.req.alt_flowlabel",
                     "infiniband.cm.req.alt_reserved0", "infiniband.cm.req.alt_pktrate") and theirs != ""


@exception("SIDR", "tshark does not decode SIDR requests, whose private data begin like those of a REQ")
def _(packet, field, ours, theirs):
    return starts(field, "infiniband.cm.req.ip_cm") and theirs == "" and \
        packet.theirs["infiniband.mad.attributeid"] == "0x0017"


# -- end of the exceptions --


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def common_fields(program):
    _, out, _ = run([program, "packets", "--list-fields"])
    ours = {}
    for line in out.splitlines():
        name, kind, _ = line.split("\t", 2)
        ours[name] = kind
    _, out, _ = run(["tshark", "-G", "fields"])
    theirs = {line.split("\t")[2] for line in out.splitlines() if line.startswith("F\t")}
    return [name for name, kind in ours.items()
            if name in theirs and kind != "presence" and name not in NOT_COMPARED
            and not name.startswith(NOT_COMPARED_PREFIXES)]


def arguments(columns, names=None):
    out = []
    for name in columns:
        out += ["-e", (names or {}).get(name, name)]
    return out


def readable(path, directory):
    """tshark wants some compressed files unpacked."""
    tool = {".zst": ["zstd", "-dcq"], ".lz4": ["lz4", "-dcq"]}.get(os.path.splitext(path)[1])
    if tool is None:
        return path
    name = os.path.join(directory, "plain")
    with open(name, "wb") as out:
        subprocess.run(tool + [path], stdout=out, stderr=subprocess.DEVNULL, check=False)
    return name


def compare(program, path, columns, report):
    with tempfile.TemporaryDirectory() as directory:
        command = ["tshark", "-n", "-r", readable(path, directory), "-T", "fields"]
        for name in DISABLED:
            command += ["--disable-protocol", name]
        for preference in PREFERENCES:
            command += ["-o", preference]
        for name in HEURISTICS:
            command += ["--enable-heuristic", name]
        for rule in DECODE_AS:
            command += ["-d", rule]
        status, theirs, message = run(command + arguments(columns, NAMES_OF_TSHARK))
    ours_status, ours, ours_message = run([program, "packets", "--no-icrc", path, "-T", "fields"] +
                                          arguments(columns) + ["-e", "roce.stop"])
    theirs, ours = theirs.split("\n")[:-1], ours.split("\n")[:-1]
    name = os.path.basename(path)
    if len(theirs) != len(ours):
        if status != 0 and ours_status != 0:
            print(f"{name}: both refuse: {ours_message.strip()} | {message.strip().splitlines()[-1:]}")
        else:
            report.fail(name, 0, "packets", f"{len(ours)} ({ours_message.strip()})",
                        f"{len(theirs)} ({message.strip()})")
    report.packets += min(len(ours), len(theirs))
    for number, (mine, other) in enumerate(zip(ours, theirs), 1):
        mine, _, stop = mine.rpartition("\t")
        if mine == other:
            continue
        packet = Packet(columns, mine.split("\t"), other.split("\t"), stop)
        for field in columns:
            a, b = packet.ours.get(field), packet.theirs.get(field)
            if a == b:
                continue
            for known in EXCEPTIONS:
                if known.applies(packet, field, a, b):
                    known.count += 1
                    break
            else:
                report.fail(name, number, field, a, b)


class Report:
    def __init__(self):
        self.packets = 0
        self.failures = {}

    def fail(self, name, number, field, ours, theirs):
        self.failures.setdefault(field, []).append((name, number, ours, theirs))

    def print(self):
        for field, places in sorted(self.failures.items()):
            print(f"{field}: {len(places)} differences")
            for name, number, ours, theirs in places[:4]:
                print(f"    {name} packet {number}: ours {ours[:120]!r}, tshark {theirs[:120]!r}")


def files_of(arguments_):
    out = []
    for argument in arguments_:
        if os.path.isdir(argument):
            for root, _, names in os.walk(argument):
                out += [os.path.join(root, n) for n in sorted(names) if n.endswith(SUFFIXES)]
        else:
            out.append(argument)
    return sorted(out)


def main():
    program = sys.argv[1]
    if shutil.which("tshark") is None:
        print("tshark is not installed")
        return SKIP
    here = os.path.dirname(os.path.abspath(__file__))
    own = len(sys.argv) < 3
    files = files_of(sys.argv[2:] or [os.path.join(here, "..", "..", "samples")])
    columns = common_fields(program)
    report = Report()
    with tempfile.TemporaryDirectory() as directory:
        for path in files + (synthetic.write_all(directory) if own else []):
            compare(program, path, columns, report)
    report.print()
    print(f"{report.packets} packets of {len(files)} files, {len(columns)} fields")
    for known in EXCEPTIONS:
        print(f"exception {known.name!r}: {known.count} values ({known.reason})")
    unused = [known.name for known in EXCEPTIONS if own and known.count == 0]
    if unused:
        print("these exceptions never occur any more, remove them:", ", ".join(unused))
    return 1 if report.failures or unused or report.packets == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

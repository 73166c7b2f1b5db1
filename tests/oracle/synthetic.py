# SPDX-License-Identifier: Apache-2.0
"""Packets that the sample captures lack: every opcode in every encapsulation, PAUSE and PFC frames, sFlow, IPFIX,
shells and mirrors."""

import os
import struct

MAC = bytes.fromhex("525400000b01525400000a01")
ETHERNET, ERF = 1, 197
GID_A = bytes(10) + b"\xff\xff" + bytes([10, 77, 0, 1])
GID_B = bytes.fromhex("fe80000000000000505400fffe000b01")


def body(opcode, size=64):
    """BTH with FECN and BECN, then bytes that every extended header finds its place in, and an ICRC."""
    bth = struct.pack(">BBHBBHI", opcode, 0x80, 0xFFFF, 0xC0, 0x00, 0x0123, 0x80ABCDEF)
    return bth + bytes((7 * i + opcode) & 0xFF for i in range(size)) + b"\x11\x22\x33\x44"


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", total ^ 0xFFFF)


def udp(payload, port=4791):
    return struct.pack(">HHHH", 0xC001, port, 8 + len(payload), 0) + payload


def ipv4(payload, options=b"", protocol=17):
    header = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45 + len(options) // 4, 0x6A, 20 + len(options) + len(payload),
                                   0x1234, 0x4000, 64, protocol, 0, bytes([10, 77, 0, 1]), bytes([10, 77, 0, 2])))
    header += options
    header[10:12] = checksum(bytes(header))
    return bytes(header) + payload


def ipv6(payload):
    return struct.pack(">IHBB", 0x66A12345, len(payload), 17, 64) + GID_A + GID_B + payload


def grh(payload):
    return struct.pack(">IHBB", 0x66A12345, len(payload), 0x1B, 64) + GID_A + GID_B + payload


def lrh(next_header, payload):
    words = (8 + len(payload)) // 4
    return struct.pack(">BBHHH", 0x30, 0x40 | next_header, 7, words, 9) + payload + b"\x55\x66"


def ethernet(ethertype, payload):
    return (MAC + struct.pack(">H", ethertype) + payload).ljust(60, b"\0")


def tagged(*tags_and_type, payload):
    return MAC + b"".join(struct.pack(">HH", *tag) for tag in tags_and_type[:-1]) + \
        struct.pack(">H", tags_and_type[-1]) + payload


def words(*values):
    return b"".join(struct.pack(">I", value) for value in values)


def item(number, content):
    """A sample or a record of sFlow."""
    return words(number, len(content)) + content + bytes(-len(content) % 4)


def sflow_frames():
    """Datagrams of sFlow with what tshark 4.0 knows: samples 1 to 4, records 1 and 1001, counters 1 and 2."""
    frame = ethernet(0x0800, ipv4(udp(body(0x11, 4))))
    header = item(1, words(1, len(frame) + 4, 4, len(frame)) + frame + bytes(-len(frame) % 4))
    cut = item(1, words(1, 1082, 4, 64) + ethernet(0x0800, ipv4(udp(body(0x0A, 1000))))[:64])
    switch = item(1001, words(100, 3, 200, 5))
    flow = item(1, words(41, 9, 1024, 70000, 3, 9, 0x80000004, 2) + header + switch)
    expanded = item(3, words(42, 0, 70000, 4096, 1, 0, 0, 70000, 0, 4, 1) + cut)
    ports = item(1, words(9, 6, 0x17, 0x4876E800, 1, 3, 1, 2, *range(30, 36), 4, 5, *range(60, 66)))
    counters = item(2, words(5, 0x03000009, 2) + ports + item(2, words(*range(13))))
    counters_expanded = item(4, words(6, 0, 70000, 1) + ports)
    ipv4_agent = words(5, 1, 0x0A000007, 2, 77, 60000)
    ipv6_agent = words(5, 2) + GID_B + words(0, 78, 61000)
    datagrams = [ipv4_agent + words(1) + flow, ipv6_agent + words(1) + expanded,
                 ipv4_agent + words(2) + counters + counters_expanded, ipv4_agent + words(2) + flow + counters,
                 ipv6_agent + words(0)]
    return [ethernet(0x0800, ipv4(udp(datagram, port=6343))) for datagram in datagrams]


def halves(*values):
    return b"".join(struct.pack(">H", value) for value in values)


def ipfix_set(number, content):
    return halves(number, 4 + len(content)) + content


def ipfix_frames():
    """Messages of IPFIX and NetFlow version 9: templates of both kinds, data, and what nobody described. None of the data has
    a section of a frame: what is in one, tshark shows by no fields."""
    rows = halves(301, 4, 10, 4, 14, 4, 312, 2, 315, 0xFFFF)
    options = halves(257, 3, 1, 301, 4, 305, 4, 306, 4)
    flows = halves(258, 4, 8, 4, 12, 4, 7, 2, 11, 2) + halves(259, 1, 4, 1)

    def ipfix(sequence, *sets):
        content = b"".join(sets)
        return struct.pack(">HHIII", 10, 16 + len(content), 1700000000, sequence, 9) + content

    def netflow(sequence, count, *sets):
        return struct.pack(">HHIIII", 9, count, 60000, 1700000000, sequence, 5) + b"".join(sets)

    messages = [ipfix(0, ipfix_set(2, halves(256, 5) + rows + flows), ipfix_set(3, options)),
                ipfix(0, ipfix_set(257, struct.pack(">III", 7, 1, 63)), ipfix_set(259, bytes([17, 6]))),
                ipfix(2, ipfix_set(300, bytes(20)))]
    netflows = [netflow(1, 1, ipfix_set(0, halves(260, 2, 8, 4, 12, 4))),
                netflow(2, 1, ipfix_set(1, halves(261, 4, 8, 1, 4, 34, 4, 50, 4))),
                netflow(3, 1, ipfix_set(260, bytes([10, 0, 0, 1, 10, 0, 0, 2])))]
    # What a flow record and a sampler may say, some of it shorter than its type; then data before its template.
    wide = ((1, 8), (2, 4), (4, 1), (5, 1), (7, 2), (8, 4), (9, 1), (10, 4), (11, 2), (12, 4), (13, 1), (14, 2), (15, 4),
            (27, 16), (28, 16), (48, 1), (49, 1), (50, 4), (56, 6), (58, 2), (60, 1), (61, 1), (80, 6), (84, 7), (136, 1),
            (138, 4), (148, 8), (192, 1), (195, 1), (243, 2), (244, 1), (252, 4), (253, 4), (301, 8), (302, 4), (304, 2),
            (305, 4), (306, 4), (309, 4), (310, 4), (312, 2), (318, 8), (319, 8), (408, 2), (409, 2), (410, 2), (34, 4), (35, 1))
    length = sum(size for _, size in wide)
    record = bytes(0x30 + 7 * i % 43 for i in range(length))  # a name among them is printable
    messages += [ipfix(2, ipfix_set(2, halves(262, len(wide)) + b"".join(halves(*row) for row in wide)),
                       ipfix_set(262, record + record[::-1])),
                 ipfix(4, ipfix_set(263, bytes(8))), ipfix(5, ipfix_set(2, halves(263, 2, 8, 4, 4, 4)))]
    return [ethernet(0x0800, ipv4(udp(message, port=4739))) for message in messages] + \
        [ethernet(0x0800, ipv4(udp(message, port=2055))) for message in netflows]


def gre(protocol, payload, sequence=None, key=None):
    flags = (0x1000 if sequence is not None else 0) | (0x2000 if key is not None else 0)
    head = struct.pack(">HH", flags, protocol)
    for value in (key, sequence):
        if value is not None:
            head += struct.pack(">I", value)
    return ethernet(0x0800, ipv4(head + payload, protocol=47))


def shell_frames():
    """What hides RoCE, and what mirrors add: as far as tshark 4.0 knows it. PSP, UET, Falcon and IFA it does not."""
    inner = ethernet(0x0800, ipv4(udp(body(0x0A))))
    esp = struct.pack(">II", 0xC0DE, 7) + bytes(range(64))
    ah = struct.pack(">BBHII", 17, 4, 0, 0x100, 42) + bytes(12)
    frames = [ethernet(0x0800, ipv4(esp, protocol=50)), ethernet(0x0800, ipv4(udp(esp, port=4500))),
              ethernet(0x0800, ipv4(ah + udp(body(0x11, 4)), protocol=51)),
              MAC + bytes.fromhex("88e52e000000000b525400000a010001") + bytes(range(80)),
              gre(0x88BE, struct.pack(">HHI", 0x1007, 0x6005, 9) + inner, sequence=41),
              gre(0x6558, inner, sequence=43, key=0x2A)]
    head = struct.pack(">HHIHH", 0x2007, 0x6005, 0x11223344, 7, 0x8003)
    for platform in (1, 3, 5, 6, 7):
        frames.append(gre(0x22EB, head + struct.pack(">II", platform << 26 | 0x1234567, 0xABCDEF) + inner, sequence=50 + platform))
    return frames


def trailer_frames():
    """Stamps of Metamako and Exablaze behind a packet, with the FCS of the link and without it, with extensions and padding.
    Times are those of write_pcap()."""
    packet = MAC + struct.pack(">H", 0x0800) + ipv4(udp(body(0x0A)))
    short = MAC + struct.pack(">H", 0x0800) + ipv4(udp(body(0x11, 4)))
    old, new = b"\xde\xad\xbe\xef", b"\x01\x02\x03\x04"
    stamp = struct.pack(">II", 1700000000, 123456789)
    metamako = old + stamp + bytes([1, 0x12, 0x34, 7])
    sequence = bytes([0, 0x01, 0x02, 0x20])  # the last one, of tag 0
    fraction = bytes([0x80, 0, 1, 0x01])  # of tag 1, behind another
    long = bytes(range(8)) + bytes([1, 2, 3, 0x80 | 0x20 | 9])  # two words in front of tag 9
    extended = [old + extensions + stamp + bytes([2, 0, 1, 2]) for extensions in (sequence, sequence + fraction, long,
                                                                                  long + fraction)]
    exablaze = old + bytes([3, 9]) + struct.pack(">I", 1700000000) + (3 << 38).to_bytes(5, "big") + b"\0"
    return [frame + trailer + fcs for trailer in [metamako, exablaze] + extended for frame in (packet, short)
            for fcs in (b"", new)]


def ethernet_frames():
    opcodes = list(range(256))
    frames = [ethernet(0x0800, ipv4(udp(body(o)))) for o in opcodes]
    frames += [ethernet(0x86DD, ipv6(udp(body(o)))) for o in opcodes]
    frames += [ethernet(0x8915, grh(body(o))) for o in opcodes]
    # Too little behind the BTH for the headers that the opcode wants.
    frames += [ethernet(0x0800, ipv4(udp(body(o, 4)))) for o in opcodes]
    frames.append(ethernet(0x0800, ipv4(udp(body(0x0A)), options=b"\x01\x01\x01\x00")))
    frames.append(tagged((0x88A8, 0x6064), (0x8100, 0xB0C8), 0x0800, payload=ipv4(udp(body(0x0A)))))
    # Two IP headers: IP-in-IP, and through VXLAN.
    frames.append(ethernet(0x0800, ipv4(ipv4(udp(body(0x11))), protocol=4)))
    inner = ethernet(0x0800, ipv4(udp(body(0x11))))
    frames.append(ethernet(0x0800, ipv4(udp(b"\x08\0\0\0\0\0\x64\0" + inner, port=4789))))
    # MAC control: PAUSE, PFC for priorities 3 and 4, and an opcode of its own.
    control = bytes.fromhex("0180c2000001525400000a018808")
    frames.append((control + struct.pack(">HH", 1, 0xFFFF)).ljust(60, b"\0"))
    frames.append((control + struct.pack(">HH8H", 0x0101, 0x18, 0, 0, 0, 0xFFFF, 0, 0, 0, 0)).ljust(60, b"\0"))
    return frames


def infiniband_frames():
    """In ERF records of type 21: tshark 4.0 does not take the link type of bare InfiniBand."""
    opcodes = list(range(256))
    frames = [lrh(2, body(o)) for o in opcodes] + [lrh(3, grh(body(o))) for o in opcodes]
    return [struct.pack(">QBBHHH", 0, 21, 4, 16 + len(f), 0, len(f)) + f for f in frames]


def write_pcap(path, link_type, frames):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, link_type))
        for number, frame in enumerate(frames):
            out.write(struct.pack("<IIII", 1700000000, 1000 * number, len(frame), len(frame)) + frame)


def write_all(directory):
    """Paths of the captures written."""
    made = [("synthetic_ethernet.pcap", ETHERNET, ethernet_frames()),
            ("synthetic_infiniband.pcap", ERF, infiniband_frames()),
            ("synthetic_sflow.pcap", ETHERNET, sflow_frames()),
            ("synthetic_ipfix.pcap", ETHERNET, ipfix_frames()),
            ("synthetic_shells.pcap", ETHERNET, shell_frames()),
            ("synthetic_trailers.pcap", ETHERNET, trailer_frames())]
    paths = []
    for name, link_type, frames in made:
        paths.append(os.path.join(directory, name))
        write_pcap(paths[-1], link_type, frames)
    return paths

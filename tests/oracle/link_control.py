#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PAUSE, PFC and LLDP frames, byte for byte after the standards: what tshark reads in them, added up here by
intervals in exact fractions, is what the report says of pauses and DCBX; at 10, 25, 100, 400 and 800 Gb/s, in any
container, with any number of threads, in one file or two.

    link_control.py ROCEANALYZE      Exit status 77: there is no tshark here.
"""

import collections
import csv
import io
import json
import os
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

SKIP = 77
PROGRAM = os.path.abspath(sys.argv.pop(1))
SPEEDS = (10, 25, 100, 400, 800)
BASE_NS = 1_795_171_301_000_000_000
PORTS = [bytes.fromhex("020000000001"), bytes.fromhex("0200000000f1"), bytes.fromhex("aabbccddee03")]
CONTROL, NEAREST_BRIDGE = bytes.fromhex("0180c2000001"), bytes.fromhex("0180c200000e")
GLOBAL = "pause"


def padded(frame):
    return frame.ljust(60, b"\0")


def pfc(source, times, reserved=0):
    vector = reserved << 8 | sum(1 << priority for priority in times)
    body = struct.pack(">HH8H", 0x0101, vector, *(times.get(p, 0) for p in range(8)))
    return padded(CONTROL + source + b"\x88\x08" + body)


def pause(source, time):
    return padded(CONTROL + source + struct.pack(">HHH", 0x8808, 0x0001, time))


def tlv(kind, value):
    return struct.pack(">H", kind << 9 | len(value)) + value


def lldp(source, *more):
    body = tlv(1, b"\x04" + source) + tlv(2, b"\x05eth0") + tlv(3, struct.pack(">H", 120)) + b"".join(more) + tlv(0, b"")
    return padded(NEAREST_BRIDGE + source + b"\x88\xcc" + body)


def ieee(subtype, value):
    return tlv(127, b"\x00\x80\xc2" + bytes([subtype]) + value)


def ieee_pfc(willing, enabled):
    return ieee(0x0B, bytes([willing << 7 | 8, enabled]))


def ieee_applications(*entries):
    return ieee(0x0C, b"\0" + b"".join(bytes([priority << 5 | selector]) + struct.pack(">H", protocol)
                                       for priority, selector, protocol in entries))


def ieee_ets(willing, classes, shares):
    packed = bytes(classes[i] << 4 | classes[i + 1] for i in range(0, 8, 2))
    return ieee(0x09, bytes([willing << 7]) + packed + bytes(shares) + bytes([2] * 8))


def roce(target, source, dscp, psn, pcp=None, size=64):
    """RC SEND Only, with a checked IPv4 header and an ICRC of zeros."""
    bth = struct.pack(">BBHII", 0x04, 0, 0xFFFF, 0x15, psn) + bytes(size) + bytes(4)
    udp = struct.pack(">HHHH", 0xC1B9, 4791, 8 + len(bth), 0)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, dscp << 2, 28 + len(bth), psn, 0x4000, 64, 17, 0, bytes([10, 0, 0, 2]),
                     bytes([10, 0, 0, 1]))
    tag = b"" if pcp is None else struct.pack(">HH", 0x8100, pcp << 13 | 5)
    return target + source + tag + b"\x08\x00" + ip + udp + bth


def write_pcap(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
        for time_ns, frame in frames:
            file.write(struct.pack("<IIII", *divmod(time_ns, 1_000_000_000), len(frame), len(frame)) + frame)


def write_pcapng(path, frames, speed):
    def block(kind, body):
        body += b"\0" * (-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    with open(path, "wb") as file:
        file.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        options = struct.pack("<HHQ", 8, 8, speed) + struct.pack("<HHB3x", 9, 1, 9) + struct.pack("<HH", 0, 0)
        file.write(block(1, struct.pack("<HHI", 1, 0, 0) + options))
        for time_ns, frame in frames:
            file.write(block(6, struct.pack("<IIIII", 0, time_ns >> 32, time_ns & 0xFFFFFFFF, len(frame), len(frame)) + frame))


def report(path, *options, files=()):
    done = subprocess.run([PROGRAM, "report", "--json", path, *files, *options], check=False, timeout=300,
                          capture_output=True)
    assert done.returncode == 0, (path, options, done.returncode, done.stderr.decode())
    return json.loads(done.stdout)


def tshark(path, *names):
    """Rows of fields as tshark reads them."""
    words = ["tshark", "-r", path, "-T", "fields", "-E", "occurrence=a"]
    for name in names:
        words += ["-e", name]
    done = subprocess.run(words, check=True, timeout=300, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    return [line.split("\t") for line in done.stdout.decode().splitlines()]


class Lane:
    """What is said of one priority of one port: its frames as (time, quanta)."""

    def __init__(self):
        self.events = []

    def figures(self, speed, end_ns):
        quantum = Fraction(512 * 10**9, speed)
        pauses = []  # [from, until] in exact nanoseconds, touching ones joined
        needless = expired = refreshed = 0
        # In quanta: whole ones of an XOFF whose time runs out, else what its time comes to.
        self.quanta, last = Fraction(0), None

        def count(end):
            if last is not None:
                whole = end == pauses[-1][1]
                self.quanta += last[1] if whole else (end - last[0]) / quantum

        for i, (time, quanta) in enumerate(self.events):
            running = bool(pauses) and pauses[-1][1] >= time and not pauses[-1][2]
            if quanta == 0:
                needless += not running
                if running:
                    count(time)
                    last = None
                    pauses[-1][1:] = [time, True]  # ended by XON
                continue
            # The program keeps whole nanoseconds.
            until = time + int(quanta * quantum + Fraction(1, 2))
            if last is not None:
                count(time if running else pauses[-1][1])
            last = (time, quanta)
            if running:
                refreshed += 1
                pauses[-1][1] = until
            else:
                pauses.append([time, until, False])
        if last is not None:
            count(min(pauses[-1][1], end_ns))
        at_end = bool(pauses) and not pauses[-1][2] and pauses[-1][1] >= end_ns
        expired = sum(not ended for _, _, ended in pauses) - at_end
        lengths = [min(until, end_ns) - start for start, until, _ in pauses]
        return {"pauses": len(pauses), "refreshed": refreshed, "expired": expired, "needless_xon": needless,
                "paused_at_end": at_end, "paused_ns": sum(lengths), "longest_ns": max(lengths, default=0)}


def lanes_of(path):
    """Lanes by (port, priority), from what tshark reads."""
    names = ["frame.time_epoch", "eth.src", "macc.opcode", "macc.pause_time", "macc.cbfc.enbv"]
    names += [f"macc.cbfc.enbv.c{p}" for p in range(8)] + [f"macc.cbfc.pause_time.c{p}" for p in range(8)]
    lanes = collections.defaultdict(Lane)
    for row in tshark(path, *names):
        seconds, fraction = row[0].split(".")
        time = int(seconds) * 10**9 + int(fraction.ljust(9, "0"))
        if row[2] == "0x0001":
            lanes[row[1], GLOBAL].events.append((time, int(row[3])))
        elif row[2] == "0x0101":
            for p in range(8):
                if row[5 + p] in ("1", "True"):
                    lanes[row[1], p].events.append((time, int(row[13 + p])))
    return lanes


def random_frames(seed, count=400):
    rng = random.Random(seed)
    time = BASE_NS
    frames = []
    for _ in range(count):
        time += rng.choice([1, 100, 5_120, 335_539, 335_540, 1_000_000, rng.randrange(1, 4_000_000)])
        source = rng.choice(PORTS)
        quanta = [0, 0, 1, 1000, 65535, rng.randrange(65536)]
        if rng.random() < 0.15:
            frames.append((time, pause(source, rng.choice(quanta))))
        else:
            chosen = rng.sample(range(8), rng.choice([1, 1, 2, 8]))
            frames.append((time, pfc(source, {p: rng.choice(quanta) for p in chosen})))
    return frames


class LinkControl(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def check_lanes(self, got, path, speed, end_ns):
        lanes = lanes_of(path)
        pauses = got["congestion"]["pause"]
        self.assertEqual(len(pauses), len(lanes))
        for row in pauses:
            key = (row["port"], GLOBAL if row["kind"] == "pause" else row["priority"])
            lane = lanes[key]
            self.assertEqual(row["xoff"], sum(q != 0 for _, q in lane.events), key)
            self.assertEqual(row["xon"], sum(q == 0 for _, q in lane.events), key)
            expected = lane.figures(speed, end_ns)
            self.assertEqual({name: row[name] for name in expected}, expected, key)
            self.assertLessEqual(abs(row["paused_quanta"] - lane.quanta), Fraction(1, 2), key)

    def test_pauses_at_every_speed(self):
        for seed in range(4):
            frames = random_frames(seed)
            path = self.path(f"{seed}.pcap")
            write_pcap(path, frames)
            for gigabits in SPEEDS:
                with self.subTest(seed=seed, gigabits=gigabits):
                    speed = gigabits * 10**9
                    got = report(path, "--link-speed", f"{gigabits}G")
                    self.check_lanes(got, path, speed, frames[-1][0])
                    ng = self.path(f"{seed}-{gigabits}.pcapng")
                    write_pcapng(ng, frames, speed)
                    self.assertEqual(
                        [{k: v for k, v in row.items() if k != "interface"} for row in report(ng)["congestion"]["pause"]],
                        [{k: v for k, v in row.items() if k != "interface"} for row in got["congestion"]["pause"]])

    def test_threads_and_cuts_change_nothing(self):
        frames = random_frames(9, 3000)
        path = self.path("whole.pcap")
        write_pcap(path, frames)
        want = report(path, "--link-speed", "100G")
        for options in (["--jobs", "1"], ["--jobs", "3"]):
            got = report(path, "--link-speed", "100G", *options)
            self.assertEqual(got["congestion"], want["congestion"])
            self.assertEqual(got["findings"], want["findings"])
        first, second = self.path("a.pcap"), self.path("b.pcap")
        write_pcap(first, frames[:1234])
        write_pcap(second, frames[1234:])
        got = report(first, "--link-speed", "100G", files=[second])
        self.assertEqual(got["congestion"], want["congestion"])
        self.assertEqual(got["findings"], want["findings"])

    def test_filters_choose_what_is_followed(self):
        frames = random_frames(5)
        path = self.path("filtered.pcap")
        write_pcap(path, frames)
        want = report(path, "--link-speed", "100G")["congestion"]["pause"]
        one = "eth.src == aa:bb:cc:dd:ee:03"
        for expression in ("macc", "macc && !roce.flow", f"macc && !({one})"):
            got = report(path, "--link-speed", "100G", "-Y", expression)["congestion"]["pause"]
            chosen = [row for row in want if one not in expression or not row["port"].startswith("aa:")]
            # The capture ends with the last frame that was chosen.
            keys = ("port", "kind", "priority", "xoff", "xon", "packets")
            self.assertEqual([[row[key] for key in keys] for row in got], [[row[key] for key in keys] for row in chosen])
            if one not in expression:
                self.assertEqual(got, want)
        self.assertEqual(report(path, "-Y", "infiniband.bth")["congestion"]["pause"], [])

    def test_tables_say_what_the_report_says(self):
        path = self.path("tables.pcap")
        frames = random_frames(1)
        announced = lldp(PORTS[0], ieee_pfc(True, 8), ieee_applications((3, 3, 4791), (4, 1, 0x8915)))
        write_pcap(path, frames + [(frames[-1][0] + 1, announced)])
        whole = report(path, "--link-speed", "100G")

        def table(command, *options):
            done = subprocess.run([PROGRAM, command, path, "--link-speed", "100G", *options], check=True, timeout=300,
                                  capture_output=True)
            return done.stdout.decode()

        rows = list(csv.DictReader(io.StringIO(table("pauses", "--csv"), newline="")))
        want = whole["congestion"]["pause"]
        self.assertEqual(len(rows), len(want))
        for row, lane in zip(rows, want):
            self.assertEqual((row["port"], row["kind"]), (lane["port"], lane["kind"]))
            self.assertEqual(row["priority"], "" if lane["priority"] is None else str(lane["priority"]))
            for key in ("xoff", "xon", "pauses", "refreshed", "expired", "needless_xon", "paused_ns", "longest_ns",
                        "paused_quanta", "storms", "longest_packet"):
                self.assertEqual(row[key], str(lane[key] if lane[key] is not None else 0), (key, lane))
        told = json.loads(table("pauses", "--json"))
        self.assertEqual({key: told[key] for key in ("pause", "pause_ports", "pause_mutual", "pause_storm_ns", "pfc_watchdog")},
                         {key: whole["congestion"][key] for key in ("pause", "pause_ports", "pause_mutual", "pause_storm_ns", "pfc_watchdog")})
        by_xoff = [lane["xoff"] for lane in json.loads(table("pauses", "--json", "--sort", "xoff"))["pause"]]
        self.assertEqual(by_xoff, sorted(by_xoff, reverse=True))
        port, = csv.DictReader(io.StringIO(table("dcbx", "--csv"), newline=""))
        self.assertEqual((port["version"], port["pfc"], port["pfc_willing"], port["roce_v2"], port["roce_v1"]),
                         ("ieee", "3", "true", "3", "4"))
        self.assertEqual(json.loads(table("dcbx", "--json"))["dcbx"], whole["dcbx"])
        lines = subprocess.run([PROGRAM, "packets", path, "-Y", "macc", "--link-speed", "100G"], check=True, timeout=300,
                               capture_output=True).stdout.decode().splitlines()
        self.assertEqual(len(lines), len(frames))
        self.assertTrue(any("65535 (336 µs)" in line for line in lines), lines[:9])
        plain = subprocess.run([PROGRAM, "packets", path, "-Y", "macc"], check=True, timeout=300, capture_output=True)
        self.assertNotIn("µs)", plain.stdout.decode())

    def test_unknown_speed_gives_quanta(self):
        path = self.path("unknown.pcap")
        write_pcap(path, [(BASE_NS, pfc(PORTS[0], {3: 65535})), (BASE_NS + 10**6, pfc(PORTS[0], {3: 100})),
                          (BASE_NS + 10**7, pfc(PORTS[0], {3: 0}))])
        row, = report(path)["congestion"]["pause"]
        for key in ("link_speed_bps", "paused_ns", "longest_ns", "duty", "refreshed", "expired", "traffic_while_paused"):
            self.assertIsNone(row[key], key)
        self.assertEqual((row["xoff"], row["xon"], row["paused_quanta"]), (2, 1, 65635))
        self.assertEqual(row["paused_at_least_ns"], 41_942 + 64)

    def test_mutual_pauses(self):
        for seed in range(4):
            frames = [f for f in random_frames(seed) if f[1][6:12] != PORTS[2]]
            path = self.path(f"mutual{seed}.pcap")
            write_pcap(path, frames)
            got = report(path, "--link-speed", "100G")
            end = frames[-1][0]
            intervals = {}
            for key, lane in lanes_of(path).items():
                held = []
                for time, quanta in lane.events:
                    if held and held[-1][1] >= time:
                        held[-1][1] = time
                    if quanta:
                        held.append([time, time + int(quanta * Fraction(512, 100) + Fraction(1, 2))])
                intervals[key] = [(start, min(until, end)) for start, until in held]
            want = {}
            for (port, lane), held in intervals.items():
                for (other, same), others in intervals.items():
                    if same == lane and port < other:
                        total = sum(max(0, min(b, d) - max(a, c)) for a, b in held for c, d in others)
                        if total:
                            want[tuple(sorted((port, other))), lane] = total
            self.assertEqual({(tuple(sorted(row["ports"])), GLOBAL if row["kind"] == "pause" else row["priority"]):
                              row["total_at_least_ns"] for row in got["congestion"]["pause_mutual"]}, want)

    def test_commands_show_the_evidence(self):
        """A link with everything wrong: what each finding says to type shows the packets that prove it."""
        host, switch, other = PORTS
        frames = [(0, lldp(switch, ieee_pfc(0, 0x08), ieee_applications((3, 3, 4791)))),
                  (1000, lldp(host, ieee_pfc(0, 0x10), ieee_applications((5, 3, 4791))))]
        for i in range(100):
            time = 2000 + i * 300_000
            frames += [(time, pfc(host, {3: 65535})), (time + 10, pfc(switch, {3: 65535}))]
            frames += [(time + 50_000, roce(host, switch, 26, 4 * i)), (time + 60_000, roce(host, switch, 0, 4 * i + 1)),
                       (time + 70_000, roce(host, switch, 0, 4 * i + 2, pcp=3)),
                       (time + 80_000, roce(host, switch, 26, 4 * i + 3, pcp=6))]
        end = frames[-1][0]
        frames += [(end + 1, pfc(switch, {1: 100})), (end + 2, pause(host, 100)), (end + 3, pfc(host, {}, reserved=2))]
        for i in range(20):
            frames.append((end + 200_000_000 + i * 1_000_000, pfc(switch, {7: 65535})))
        frames = [(BASE_NS + time, frame) for time, frame in frames]
        path, without_pause = self.path("everything.pcap"), self.path("pfc.pcap")
        write_pcap(path, frames)
        # PAUSE protects every priority, so where it is used none is without protection.
        write_pcap(without_pause, [(time, frame) for time, frame in frames if frame[14:16] != b"\x00\x01"])
        of_ports = {"pause_storm", "pause_heavy", "pause_mutual", "pause_unused_priority", "roce_not_lossless",
                    "traffic_while_paused", "global_pause_beside_pfc", "pause_malformed", "dcbx_mismatch",
                    "dcbx_priority_differs", "dcbx_policy_differs"}
        options = ("--no-icrc", "--link-speed", "100G", "--pause-storm", "10ms")
        seen = set()
        for file, more in ((path, ()), (without_pause, ()), (path, ("--policy", "nvidia"))):
            for finding in report(file, *options, *more)["findings"]:
                if finding["id"] not in of_ports:
                    continue
                seen.add(finding["id"])
                with self.subTest(finding["id"], subject=finding["subject"]):
                    command, = re.findall(r"All [^.:?]*: (roceanalyze packets FILE.*? -Y '[^']*')", finding["advice"])
                    words = shlex.split(command)
                    words[0], words[2] = PROGRAM, file
                    done = subprocess.run(words + ["-T", "fields", "-e", "frame.number"], check=True,
                                          capture_output=True)
                    self.assertLessEqual(set(finding["packets"]), {int(n) for n in done.stdout.split()}, command)
        self.assertEqual(seen, of_ports)

    def test_lldp(self):
        frames = [
            (BASE_NS, lldp(PORTS[0], ieee_pfc(1, 0x18), ieee_applications((3, 3, 4791), (4, 1, 0x8915), (5, 5, 26)),
                           ieee_ets(1, [0, 1, 2, 3, 4, 5, 6, 7], [5, 10, 15, 20, 25, 10, 10, 5]))),
            (BASE_NS + 10**9, lldp(PORTS[1], ieee_pfc(0, 0x08)))]
        path = self.path("lldp.pcap")
        write_pcap(path, frames)
        got = report(path)["dcbx"]
        self.assertEqual([link["pfc_winner"] for link in got["links"]], ["b"])
        names = ["eth.src", "lldp.dcbx.ieee.willing", "lldp.dcbx.ieee.app.prio", "lldp.dcbx.iee.app.sf",
                 "lldp.dcbx.feature.app.proto", "lldp.time_to_live", "lldp.port.id"]
        names += [f"lldp.dcbx.feature.pfc.prio{p}" for p in range(8)]
        names += [f"lldp.dcbx.feature.pg.pgid_prio{p}" for p in range(8)] + [f"lldp.dcbx.feature.pg.per{p}" for p in range(8)]
        selectors = {1: "ethertype", 3: "udp", 5: "dscp"}
        rows = tshark(path, *names)
        self.assertEqual(len(rows), len(got["ports"]))
        for row, port in zip(rows, got["ports"]):
            self.assertEqual(port["mac"], row[0])
            self.assertEqual(port["ttl"], int(row[5]))
            self.assertEqual(port["port"], row[6])
            enabled = [p for p in range(8) if row[7 + p] in ("1", "True")]
            self.assertEqual(port["ieee"]["pfc"]["enabled"], enabled)
            willing = [text in ("1", "True") for text in row[1].split(",")]
            self.assertEqual(port["ieee"]["pfc"]["willing"], willing[0])
            applications = list(zip(*(text.split(",") for text in row[2:5]))) if row[2] else []
            self.assertEqual([(a["priorities"], a["selector"], a["protocol"]) for a in port["ieee"]["applications"]],
                             [([int(p, 0)], selectors[int(s, 0)], int(n, 0)) for p, s, n in applications])
            if port["ieee"]["ets"]:
                self.assertEqual(port["ieee"]["ets"]["class_of_priority"], [int(v) for v in row[15:23]])
                self.assertEqual(port["ieee"]["ets"]["bandwidth"], [int(v) for v in row[23:31]])


if __name__ == "__main__":
    if shutil.which("tshark") is None:
        print("tshark is not installed")
        sys.exit(SKIP)
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Batches of hosts that never were, as their captures would have left them in spools, and what is true of them.

Each host captures its own traffic, so each flow has a row at its sender and one at its receiver in each interval of 10 s. Losses
are between the two. Clocks differ by up to `skew_ns`; `restarts`: flows that begin anew, with the same queue pairs."""

import os
import random
import struct

START = 1_795_132_800  # midnight, UTC
INTERVAL = 10
BATCH_ROWS = 50_000
INTERVALS = ("time", "host", "device", "run", "seq", "row", "pair_key", "flow_key", "conn_key", "src", "dst", "src_qp", "dst_qp", "service",
             "state", "place", "epoch", "start_ns", "span_ms", "packets", "bytes", "goodput_bytes", "operations", "retransmitted",
             "lost_before", "lost_at_least", "lost_at_most", "mark_psn", "mark_ns", "mark_packets", "lat_p50_ns", "lat_p99_ns", "lat_max_ns")
PAIRS = ("time", "host", "device", "run", "seq", "row", "pair_key", "src", "dst", "place", "span_ms", "flows", "packets", "bytes", "retransmitted",
         "lost_at_least", "lost_at_most", "lat_max_ns", "lat_bucket", "lat_count")
NODES = ("time", "address", "host", "device", "rack", "tor", "tor_port")
HEARTBEATS = ("time", "host", "device", "run", "seq", "row", "span_ms", "rows", "packets", "roce_packets", "dropped")


def _rotl(x, b):
    return (x << b | x >> (64 - b)) & 0xffffffffffffffff


def sip_hash(text):
    """SipHash-2-4 with key 0."""
    mask = 0xffffffffffffffff
    v = [0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573]

    def rounds(times):
        a, b, c, d = v
        for _ in range(times):
            a = (a + b) & mask
            b = _rotl(b, 13) ^ a
            a = _rotl(a, 32)
            c = (c + d) & mask
            d = _rotl(d, 16) ^ c
            a = (a + d) & mask
            d = _rotl(d, 21) ^ a
            c = (c + b) & mask
            b = _rotl(b, 17) ^ c
            c = _rotl(c, 32)
        v[:] = [a, b, c, d]

    data = text.encode()
    whole = len(data) // 8 * 8
    last = data[whole:].ljust(7, b"\0") + bytes([len(data) & 0xff])
    for word, in struct.iter_unpack("<Q", data[:whole] + last):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def key(*parts):
    return sip_hash("|".join(("",) + tuple(str(part) for part in parts))) & (1 << 63) - 1


class Batches:
    """The batches of one run, written into a spool."""

    def __init__(self, folder, host, run):
        self.folder, self.host, self.run = folder, host, run
        self.seq = self.rows = 0
        self.tables = {}

    def add(self, table, columns, *cells):
        lines = self.tables.setdefault(table, (columns, []))[1]
        if table == "nodes":
            lines.append("\t".join(map(str, cells)))
        else:
            lines.append("\t".join(map(str, (cells[0], self.host, "eth0", self.run, self.seq, len(lines), *cells[1:]))))
        self.rows += 1
        if self.rows >= BATCH_ROWS:
            self.flush(cells[0])

    def flush(self, time):
        if self.rows == 0:
            return
        rows, self.rows = self.rows, 0
        self.add("heartbeats", HEARTBEATS, time, 10_000, rows, 1000, 900, 0)
        order = ("intervals", "pairs", "nodes", "heartbeats")
        blocks = [(name, *self.tables[name]) for name in order if name in self.tables]
        name = f"{self.folder}/{self.run:019}-{self.seq:010}.batch"
        with open(name + ".new", "w", encoding="utf-8") as file:
            file.write(f"roceanalyze-batch\t1\t{self.run}\t{self.seq}\t{len(blocks)}\n")
            for table, columns, lines in blocks:
                text = "\n".join(lines) + "\n"
                file.write(f"{table}\t{len(lines)}\t{len(text)}\t{', '.join(columns)}\n{text}")
        os.rename(name + ".new", name)
        self.tables, self.rows = {}, 0
        self.seq += 1


class Truth:
    """What answers have to say."""

    def __init__(self):
        self.rows = self.batches = self.runs = self.flows = self.packets = self.lost = 0
        self.loss = {}  # (src, dst): lost between the first and the last mark
        self.host_of = {}
        self.skew = {}  # ns that a host's clock is ahead


def address(host):
    return f"10.{host >> 16 & 255}.{host >> 8 & 255}.{host & 255}"


def generate(folder, hosts=300, flows=2, intervals=10, seed=1, skew_ns=4_000_000, restarts=False):
    os.makedirs(folder, exist_ok=True)
    draw = random.Random(seed)
    truth = Truth()
    out = {}
    for i in range(hosts):
        name = f"host{i:03}"
        out[i] = Batches(folder, name, key("run", seed, i))
        truth.host_of[address(i + 1)] = name
        truth.skew[name] = draw.randint(-skew_ns, skew_ns) if skew_ns else 0
        out[i].add("nodes", NODES, START, address(i + 1), name, "eth0", f"rack{i // 16}", f"tor{i // 16}", f"port{i % 16}")
    steps = [1 + n * 7 for n in range(flows)]
    for i in range(hosts):
        for n, step in enumerate(steps):
            j = (i + step) % hosts
            src, dst, qp = address(i + 1), address(j + 1), 100 + n
            pair = key(min(src, dst), max(src, dst))
            flow = key(src, dst, qp)
            ends = sorted(((src, qp), (dst, qp)))
            conn = key(*ends[0], *ends[1])
            truth.flows += 1
            truth.loss[src, dst] = 0
            sent_so_far = got_so_far = epoch = 0
            lossy = draw.random() < 0.2
            for k in range(intervals):
                if restarts and k == intervals // 2:  # the host restarts and uses the same numbers
                    epoch, sent_so_far, got_so_far = 1, 0, 0
                sent = draw.randint(1000, 100_000)
                lost = draw.randint(1, 30) if lossy and draw.random() < 0.5 else 0
                time = START + INTERVAL * k
                truth.packets += sent
                truth.lost += lost
                if k > 0 and not (restarts and k == intervals // 2):
                    truth.loss[src, dst] += lost
                sent_so_far += sent
                got_so_far += sent - lost
                psn = (k * 0x10000 + 0x8000) & 0xffffff
                latency = 5000 + 100 * (i % 50)
                for host, place, count, so_far, before in ((i, "sender", sent, sent_so_far, 0), (j, "receiver", sent - lost, got_so_far, lost)):
                    mark = (time + 9) * 1_000_000_000 + truth.skew[out[host].host] + (0 if host == i else 2000)
                    out[host].add("intervals", INTERVALS, time, pair, flow, conn, src, dst, qp, qp, "RC", "open", place, epoch,
                                  START * 1_000_000_000 + truth.skew[out[host].host], 10_000, count, count * 1086, count * 1024, count // 8,
                                  lost, before, before, lost if place == "sender" else before, psn, mark, so_far, latency, 2 * latency,
                                  3 * latency)
                    out[host].add("pairs", PAIRS, time, pair, src, dst, place, 10_000, 1, count, count * 1086, lost, before, before,
                                  3 * latency, "[80,96,97]", f"[{count // 8},3,1]")
    for batches in out.values():
        batches.flush(START + INTERVAL * (intervals - 1))
        truth.batches += batches.seq
    truth.runs = hosts
    truth.rows = 2 * hosts * flows * intervals
    return truth

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
POINT = ("time", "host", "device", "run", "seq", "row")
INCIDENTS = (*POINT, "incident", "pair_key", "flow_key", "conn_key", "src", "dst", "src_qp", "dst_qp", "what", "place", "learned_by", "start_ns",
             "end_ns", "lost_at_least", "lost_at_most", "repeated_packets", "stalled_ns", "confidence", "file", "number", "first_packet", "last_packet")
FINDINGS = (*POINT, "finding", "id", "severity", "title", "subject", "count", "first_ns", "last_ns", "confidence", "flow_keys")
DIAGNOSES = (*POINT, "diagnosis", "cause", "severity", "sentence", "at_least", "at_most", "since_ns", "until_ns", "confidence", "findings")
MARKINGS = (*POINT, "class", "src", "dst", "dscp", "packets", "expected", "verdict")
PAUSES = (*POINT, "port", "switch", "switch_port", "kind", "priority", "paused_ns", "longest_ns", "storm_ns")
DROPS = (*POINT, "agent", "port", "queue", "reason", "packets", "roce", "matched", "first_ns", "last_ns")
ORDER = ("intervals", "pairs", "incidents", "findings", "diagnoses", "drops", "pauses", "markings", "nodes", "heartbeats")
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

    def add(self, table, columns, time, cells):
        """`cells`: those that come after `row`, as TSV; of `nodes` those after `time`."""
        lines = self.tables.setdefault(table, (columns, []))[1]
        lines.append(f"{time}\t{cells}" if table == "nodes" else f"{time}\t{self.host}\teth0\t{self.run}\t{self.seq}\t{len(lines)}\t{cells}")
        self.rows += 1
        if self.rows >= BATCH_ROWS:
            self.flush(time)

    def flush(self, time):
        if self.rows == 0:
            return
        rows, self.rows = self.rows, 0
        self.add("heartbeats", HEARTBEATS, time, f"10000\t{rows}\t1000\t900\t0")
        blocks = [(name, *self.tables[name]) for name in ORDER if name in self.tables]
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
        self.rows = self.pair_rows = self.batches = self.runs = self.flows = self.packets = self.lost = 0
        self.loss = {}  # (src, dst): lost between the first and the last mark
        self.host_of = {}
        self.skew = {}  # ns that a host's clock is ahead
        self.sent = {}  # (src, dst): packets
        self.gone = {}  # (src, dst): lost, of the whole span
        self.half, self.halves = 0, {}  # seconds; (src, dst): packets of rows of `pairs` in the last so many seconds but one, and in the last
        self.latency = {}  # src: of its operations
        self.incidents = []  # (stalled, lost, begin, number)
        self.found, self.diagnosed, self.wrong, self.dropped, self.storms = {}, [], {}, {}, []


def address(host):
    return f"10.{host >> 16 & 255}.{host >> 8 & 255}.{host & 255}"


class Flow:
    """One direction between two hosts, and what was so far seen of it at both."""

    def __init__(self, i, j, number, lossy):
        self.i, self.j, self.lossy = i, j, lossy
        self.src, self.dst = address(i + 1), address(j + 1)
        qp = 100 + number
        pair = key(min(self.src, self.dst), max(self.src, self.dst))
        ends = sorted(((self.src, qp), (self.dst, qp)))
        self.ends = f"{self.src}\t{self.dst}\t{qp}\t{qp}"
        self.keys = f"{pair}\t{key(self.src, self.dst, qp)}\t{key(*ends[0], *ends[1])}"
        self.names = f"{self.keys}\t{self.ends}\tRC\topen"
        self.pair = f"{pair}\t{self.src}\t{self.dst}"
        self.latency = 5000 + 100 * (i % 50)
        self.epoch = self.sent = self.got = 0
        self.sums = [0, 0]  # of its pair: sent, lost


def add_incident(batches, truth, flow, time, lost):
    """At the receiver, that has the gap."""
    number = len(truth.incidents) + 1
    begin, stalled = (time + 3) * 1_000_000_000 + number, 1000 * (number * 7919 % 100_003)
    incident = key("incident", batches.run, number)
    batches.add("incidents", INCIDENTS, time, f"{incident}\t{flow.keys}\t{flow.ends}\tloss\tupstream\tnak\t{begin}\t{begin + stalled}"
                f"\t{lost}\t{lost}\t{lost}\t{stalled}\t1\t/var/ring/{batches.host}.pcapng\t{number}\t{10 * number}\t{10 * number + 9}")
    truth.incidents.append((stalled, lost, begin, incident, batches.host))


def add_troubles(batches, truth, i):
    """What a host tells once: two findings, one of which each third host has; a diagnosis; wrong marks; drops of its ToR's switch;
    a pause storm that goes from port to port."""
    now, own = START * 1_000_000_000, address(i + 1)
    for name, severity, each in (("retransmission_rate", "warning", 1), ("pause_storm", "error", 3)):
        if i % each == 0:
            batches.add("findings", FINDINGS, START, f"{key('finding', name, i)}\t{name}\t{severity}\tTitle of {name}\t{own}\t{i + 1}"
                        f"\t{now + i}\t{now + 2 * i}\t1\t[]")
            had = truth.found.setdefault(name, [severity, 0, 0])
            had[1] += 1
            had[2] += i + 1
    if i % 5 == 0:
        batches.add("diagnoses", DIAGNOSES, START, f"{key('diagnosis', i)}\tdrops\tdegraded\t{own} loses packets\t{i}\t{i + 1}\t{now}\t{now}\t0.5\t[]")
        truth.diagnosed.append((i, batches.host))
    wrong = 1000 + i if i % 7 == 0 else 0
    batches.add("markings", MARKINGS, START, f"data\t{own}\t10.9.9.9\t26\t5000\tDSCP 26\tas wanted")
    if wrong:
        batches.add("markings", MARKINGS, START, f"data\t{own}\t10.9.9.9\t0\t{wrong}\tDSCP 26\tviolation")
        truth.wrong[batches.host] = wrong
    if i % 16 == 0:
        batches.add("drops", DROPS, START, f"10.200.0.{i // 16}\t{i}\t3\tno buffer\t{100 + i}\t{90 + i}\t{80 + i}\t{now}\t{now + 1}")
        truth.dropped[f"10.200.0.{i // 16}"] = (100 + i, 90 + i, 80 + i)
    if i % 10 == 0:
        port = f"02:00:00:00:{i >> 8:02x}:{i & 255:02x}"
        batches.add("pauses", PAUSES, START, f"{port}\ttor{i // 16}\tport{i % 16}\tpfc\t3\t{1_000_000 + i}\t500000\t{now + 1_000_000 * (i + 1)}")
        truth.storms.append((now + 1_000_000 * (i + 1), port, f"tor{i // 16}", batches.host))


def generate(folder, hosts=300, flows=2, intervals=10, seed=1, skew_ns=4_000_000, restarts=False, per_batch=None, per_pair=1):
    """`flows`: of each host to others; `per_batch`: intervals that are shipped together, None: as many as fit;
    `per_pair`: intervals that a row of `pairs` sums up."""
    os.makedirs(folder, exist_ok=True)
    draw = random.Random(seed)
    truth = Truth()
    out = []
    for i in range(hosts):
        name = f"host{i:03}"
        out.append(Batches(folder, name, key("run", seed, i)))
        truth.host_of[address(i + 1)] = name
        truth.skew[name] = draw.randint(-skew_ns, skew_ns) if skew_ns else 0
        out[i].add("nodes", NODES, START, f"{address(i + 1)}\t{name}\teth0\track{i // 16}\ttor{i // 16}\tport{i % 16}")
    steps = [1 + n * 7 for n in range(flows)]
    all_flows = [Flow(i, (i + step) % hosts, n, draw.random() < 0.2) for i in range(hosts) for n, step in enumerate(steps)]
    truth.flows = len(all_flows)
    truth.loss = {(flow.src, flow.dst): 0 for flow in all_flows}
    truth.gone, truth.sent = dict(truth.loss), dict(truth.loss)
    truth.half = INTERVAL * intervals // 2
    truth.halves = {ends: [0, 0] for ends in truth.loss}
    pair_span = INTERVAL * per_pair
    last_pair = START + INTERVAL * (intervals - 1) // pair_span * pair_span
    truth.latency = {flow.src: flow.latency for flow in all_flows}
    for i, batches in enumerate(out):
        add_troubles(batches, truth, i)
    for k in range(intervals):
        time = START + INTERVAL * k
        begins_anew = restarts and k == intervals // 2  # the host restarts and uses the same numbers
        psn = (k * 0x10000 + 0x8000) & 0xffffff
        pair_time = time - time % pair_span
        told = (k + 1) % per_pair == 0 or k + 1 == intervals
        for flow in all_flows:
            if begins_anew:
                flow.epoch, flow.sent, flow.got = 1, 0, 0
            sent = draw.randint(1000, 100_000)
            lost = draw.randint(1, 30) if flow.lossy and draw.random() < 0.5 else 0
            truth.packets += sent
            truth.lost += lost
            if k > 0 and not begins_anew:
                truth.loss[flow.src, flow.dst] += lost
            flow.sent += sent
            flow.got += sent - lost
            flow.sums[0] += sent
            flow.sums[1] += lost
            truth.sent[flow.src, flow.dst] += sent
            if lost > 25:
                add_incident(out[flow.j], truth, flow, time, lost)
            if lost:
                truth.gone[flow.src, flow.dst] += lost
            latencies = f"{flow.latency}\t{2 * flow.latency}\t{3 * flow.latency}"
            for host, place, count, so_far, before in ((flow.i, "sender", sent, flow.sent, 0), (flow.j, "receiver", sent - lost, flow.got, lost)):
                batches = out[host]
                skew = truth.skew[batches.host]
                mark = (time + 9) * 1_000_000_000 + skew + (0 if host == flow.i else 2000)
                batches.add("intervals", INTERVALS, time, f"{flow.names}\t{place}\t{flow.epoch}\t{START * 1_000_000_000 + skew}\t10000\t{count}"
                            f"\t{count * 1086}\t{count * 1024}\t{count // 8}\t{lost}\t{before}\t{before}\t{lost if place == 'sender' else before}"
                            f"\t{psn}\t{mark}\t{so_far}\t{latencies}")
                if told:
                    sum_sent, sum_lost = flow.sums
                    count = sum_sent if place == "sender" else sum_sent - sum_lost
                    before = 0 if place == "sender" else sum_lost
                    batches.add("pairs", PAIRS, pair_time, f"{flow.pair}\t{place}\t{10000 * per_pair}\t1\t{count}"
                                f"\t{count * 1086}\t{sum_lost}\t{before}\t{sum_lost if place == 'sender' else before}\t{3 * flow.latency}"
                                f"\t[80,96,97]\t[{count // 8},3,1]")
            if told:
                if pair_time > last_pair - 2 * truth.half:
                    truth.halves[flow.src, flow.dst][pair_time > last_pair - truth.half] += flow.sums[0]
                flow.sums = [0, 0]
        if per_batch and (k + 1) % per_batch == 0:
            for batches in out:
                batches.flush(time)
    for batches in out:
        batches.flush(START + INTERVAL * (intervals - 1))
        truth.batches += batches.seq
    truth.runs = hosts
    truth.rows = 2 * len(all_flows) * intervals
    truth.pair_rows = 2 * len(all_flows) * -(-intervals // per_pair)
    return truth

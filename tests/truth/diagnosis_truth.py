# SPDX-License-Identifier: Apache-2.0
"""What the generator's truth says of a scenario, by ways: (address of the sender, address of the receiver)."""

import collections

import measure

ANSWERS = {"read_response", "atomic_response", "ack", "sequence_nak", "rnr_nak", "access_nak"}


MOST_RETRIES = 7  # the CM has three bits for the count: who repeated a packet so often gives up


def address(host, ipv6):
    """fault_frames.cpp: host_ipv4, host_ipv6."""
    return f"fd78::{host:x}" if ipv6 else f"10.78.{host >> 8}.{host & 255}"


def mac(host):
    return f"52:54:00:00:{host >> 8:02x}:{host & 255:02x}"


def back(way):
    return way[1], way[0]


class Facts:
    def __init__(self, trouble, path, passed=list):
        """`passed()`: [(frame, time in nanoseconds, sender, receiver)] of the capture."""
        self.passed = passed
        truth = measure.Truth(path)
        self.frames = truth.totals["frames"]
        self.connections = {c["connection"]: c for c in truth.connections}
        ipv6 = "--ipv6" in trouble.scenario.arguments
        self.scope = tuple(address(host, ipv6) if host else None for host in trouble.hosts)
        self.paused = address(trouble.hosts[1], ipv6), mac(trouble.hosts[1])
        self.requests, self.answers = set(), set()  # ways that carry them
        for connection in truth.connections:
            way = connection["a"]["address"], connection["b"]["address"]
            for requests, answers, posted in ((way, back(way), connection["posted"][0]),
                                              (back(way), way, connection["posted"][1])):
                if posted:
                    self.requests.add(requests)
                    self.answers.add(answers)
        self.lost = truth.losses
        self.late = {frame for frame, e in truth.frames.items() if e.get("out_of_order")}
        self.repeats = collections.Counter()       # by cause; only what the capture shows to be repeats
        self.repeated = collections.defaultdict(set)  # cause -> ways
        for e in truth.frames.values():
            if "retransmission" in e and e.get("decidable", True) and not measure.is_copy(e):
                self.repeats[e["retransmission"]] += 1
                self.repeated[e["retransmission"]].add(self.way(e))
        self.ended = {}        # state -> ways of the connections' ends whose requests ended so
        self.seen_to_end = set()  # the same ways, of which the capture shows why: a NAK, or all retries
        self.end_connections(truth)
        self.marks = collections.defaultdict(list)
        for e in truth.marks:
            for kind in measure.MARKS & e.keys():
                self.marks[kind].append(e)

    def end_connections(self, truth):
        repeated = collections.Counter((e["connection"], e["direction"], e["psn"]) for e in truth.frames.values()
                                       if "retransmission" in e and e["kind"] not in ANSWERS)
        exhausted = {(connection, direction) for (connection, direction, _), times in repeated.items()
                     if times >= MOST_RETRIES}
        for connection in truth.connections:
            way = connection["a"]["address"], connection["b"]["address"]
            for state, direction, of in zip(connection["state"], ("a_to_b", "b_to_a"), (way, back(way))):
                if state != "working":
                    self.ended.setdefault(state, set()).add(of)
                if state in ("access_error", "rnr_exceeded") or (
                        state == "retries_exceeded" and (connection["connection"], direction) in exhausted):
                    self.seen_to_end.add(of)

    def way(self, entry):
        connection = self.connections[entry["connection"]]
        way = connection["a"]["address"], connection["b"]["address"]
        return way if entry["direction"] == "a_to_b" else back(way)

    def in_scope(self, ways):
        sender, receiver = self.scope
        return {way for way in ways if sender in (None, way[0]) and receiver in (None, way[1])}

    def lost_ways(self, entries):
        return {self.way(e) for e in entries}

    def got_through(self, since, until):
        """Ways on which a packet arrived between those times, in nanoseconds; at their edges it was under way."""
        edge = (until - since) // 16
        lost = {e["frame"] for e in self.lost if e["lost"] == "after_capture"}
        return {(sender, receiver) for frame, time, sender, receiver in self.passed()
                if since + edge < time < until - edge and frame not in lost}

    @property
    def decidable(self):
        return [e for e in self.lost if e["decidable"]]

    @property
    def lost_answers(self):
        return [e for e in self.lost if e["kind"] in ANSWERS]

    @property
    def lost_requests(self):
        return [e for e in self.lost if e["kind"] not in ANSWERS]

    @property
    def damaged(self):
        """Captured with a wrong ICRC."""
        return [e for e in self.lost if e.get("damaged") and e["lost"] == "before_capture" and e["frame"]]

    @property
    def by_timer(self):
        """Something was sent again without a NAK."""
        return self.repeats["timeout"] + self.repeats["read_retry"] > 0

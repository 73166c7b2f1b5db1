# SPDX-License-Identifier: Apache-2.0
"""The truth about one scenario: for each of its captures what every packet was, and what is to be counted.

Rules: retransmission_truth.py.
"""

import collections

import truth_frames as frames
import truth_match
from truth_frames import later
from truth_rules import NAK, Requests, Responses

UNKNOWN_PMTU = 1 << 30
SHORTER_THAN_TIMERS = 10**6  # nanoseconds
RC = frames.RC_SERVICE


def host_of(address):
    """Which machine has the address: A, or B. The switch C, where it talks, stands on A's side."""
    if len(address) == 16 and address[:2] == b"\xfe\x80":
        return "B" if address[-2] == 0x0B else "A"
    return "B" if address[-1] == 2 else "A"


class Told:
    """What the truth says about one packet of one capture."""

    __slots__ = ("frame", "retransmission", "cause", "also", "trigger", "original", "spurious", "seen_acknowledged",
                 "out_of_order", "late", "dup_network", "dup_capture", "lost_downstream", "named", "damaged",
                 "decidable", "flow", "psn", "opcode", "time")

    def __init__(self, packet):
        self.frame, self.flow, self.psn, self.opcode = packet.number, packet.flow[:3], packet.psn, packet.opcode
        self.time = packet.time
        self.retransmission = self.spurious = self.seen_acknowledged = self.out_of_order = self.late = 0
        self.dup_network = self.dup_capture = self.lost_downstream = self.named = self.damaged = 0
        self.cause = self.also = self.trigger = self.original = ""
        self.decidable = 1

    @property
    def tells(self):
        return (self.retransmission or self.spurious or self.out_of_order or self.late or self.dup_network or
                self.dup_capture or self.lost_downstream or self.damaged)


class FlowTruth:
    """What is to be counted for one flow (source, destination, destination QP) of one capture."""

    def __init__(self):
        self.packets = 0
        self.retransmitted = collections.Counter()      # by cause, every repeat
        self.undecidable = collections.Counter()        # of these: nothing in the capture shows them to be repeats
        self.lost_before = self.lost_before_head = self.lost_before_tail = 0
        self.lost_after_named = self.lost_after_window = self.lost_acks = 0
        self.atomic_before = self.atomic_after = 0      # of lost_before and lost_after_named: atomic ACKs
        self.answers_tail = 0                           # of lost_before_tail: READ responses and atomic ACKs
        self.damaged = 0
        self.naks = self.rnr_naks = self.naks_of_late = 0
        self.out_of_order = self.late_repeats = self.dup_network = self.dup_capture = 0
        self.spurious = self.seen_acknowledged = 0


class Capture:
    def __init__(self, name, packets, total):
        self.name, self.packets, self.total = name, packets, total
        self.sighting = None
        self.told = {}
        self.flows = collections.defaultdict(FlowTruth)


class Exchange:
    """The requests of one queue pair and the answers to them, in the requester's PSN space."""

    def __init__(self, pmtu):
        self.requests, self.responses = Requests(pmtu), Responses()


class Scenario:
    """`captures`: name -> (packets, number of frames). `near`: which stands nearest to A, and which to B.

    `sides`: name -> the host on whose side of the impairment the capture stands, where it stands on one side.
    `incomplete`: the impairment stood before every capture, so that gaps in the nearest one are losses.
    """

    def __init__(self, captures, near, sides, duplicated_by_network=False, incomplete=False):
        self.captures = {name: Capture(name, *content) for name, content in captures.items()}
        self.near = {host: self.captures[name] for host, name in near.items()}
        self.sides = {self.captures[name]: host for name, host in sides.items()}
        self.duplicated_by_network, self.incomplete = duplicated_by_network, incomplete
        self.transmissions, self.exchanges, self.of_packet, self.far = [], {}, {}, {}
        self.identify()
        self.follow()
        for capture in self.captures.values():
            self.tell(capture)

    # -- which transmissions there were, and where each was seen

    def identify(self):
        for host, capture in self.near.items():
            own = truth_match.same(capture.packets)
            self.transmissions += [p for p in own.first if host_of(p.src) == host]
        for capture in self.captures.values():
            capture.sighting = truth_match.match(self.transmissions, capture.packets) \
                if len(self.captures) > 1 else truth_match.same(capture.packets)
        for transmission in self.transmissions:
            other = "B" if host_of(transmission.src) == "A" else "A"
            self.far[transmission] = self.near[other]

    def arrived(self, transmission):
        """Did it reach the capture nearest to its receiver, and whole?"""
        shown = self.far[transmission].sighting.first.get(transmission)
        return shown is not None and shown.whole

    # -- what each transmission was

    def exchange(self, requester, packet):
        key = (requester, packet.sport, frozenset((packet.src, packet.dst)))
        if key not in self.exchanges:
            sizes = [p.payload for c in self.captures.values() for p in c.packets
                     if p.sport == packet.sport and p.operation in frames.FIRSTS_AND_MIDDLES]
            self.exchanges[key] = Exchange(collections.Counter(sizes).most_common(1)[0][0] if sizes else UNKNOWN_PMTU)
        return self.exchanges[key]

    def follow(self):
        for host, capture in self.near.items():
            for packet in self.distinct(capture):
                answer, mine = packet.operation in frames.RESPONSES, host_of(packet.src) == host
                if mine and not answer:
                    self.of_packet[packet] = self.exchange(host, packet).requests.sent(packet)
                elif not mine and answer:
                    self.exchange(host, packet).requests.answered(packet)
        for host, capture in self.near.items():
            for packet in self.distinct(capture):
                answer, mine = packet.operation in frames.RESPONSES, host_of(packet.src) == host
                other = "B" if host == "A" else "A"
                if mine and answer:
                    self.of_packet[packet] = self.exchange(other, packet).responses.sent(packet)
                elif not mine and not answer:
                    request = self.of_packet.get(capture.sighting.shown.get(packet))
                    if request is not None and packet.whole:
                        self.exchange(other, packet).responses.arrived(request)

    @staticmethod
    def distinct(capture):
        """In the order of the capture; of one transmission the first sight only; RC only."""
        first = capture.sighting.first
        return [p for p in capture.packets if p.service == RC and p in capture.sighting.shown and
                first[capture.sighting.shown[p]] is p]

    # -- what one capture shows of it

    def tell(self, capture):
        order = {t: i for i, t in enumerate(self.transmissions)}
        highest, acknowledged, furthest = {}, {}, {}
        known, alike = set(), {}
        for packet in capture.packets:
            flow = capture.flows[packet.flow[:3]]
            flow.packets += 1
            sent = capture.sighting.shown.get(packet)
            told = Told(packet)
            capture.told[packet.number] = told
            if sent is None:
                told.damaged = 1
                continue
            told.damaged = int(not packet.whole)
            flow.damaged += told.damaged
            if sent in known:
                self.copy(flow, told)
                continue
            known.add(sent)
            if packet.service != RC:
                continue
            told.lost_downstream = int(host_of(sent.src) == self.host_near(capture) and not self.arrived(sent))
            self.order(capture, packet, sent, order, furthest, told, flow)
            is_answer = packet.operation in frames.RESPONSES
            requester = host_of(packet.dst) if is_answer else host_of(packet.src)
            space = (requester, packet.sport)
            if is_answer:
                self.acknowledge(acknowledged, space, packet)
            what = self.of_packet.get(sent)
            if what is None:
                continue
            if what.repeat:
                self.repeat(told, flow, what, packet, highest.get((space, is_answer)), acknowledged.get(space))
                if self.host_near(capture) not in ("", requester) and what.packet.operation == frames.READ_REQUEST:
                    told.seen_acknowledged = 0  # what became of the answers cannot be known here
                if is_answer and what.request is not None and self.seen_before(capture, what.request, packet) and \
                        what.request.repeat and capture.told[self.number(capture, what.request)].decidable:
                    told.decidable = 1
                # A host that was held up sends at once what timers had queued: only IDs tell that from copies.
                if packet.id is None and packet.time - alike.get(truth_match.key(packet), -SHORTER_THAN_TIMERS) < \
                        SHORTER_THAN_TIMERS:
                    told.decidable = 0
                if not told.decidable:
                    flow.undecidable[what.cause] += 1
                original = capture.sighting.first.get(what.first.packet) if what.first else None
                told.original = original.number if original and original.number < packet.number else ""
            if packet.id is None:
                alike[truth_match.key(packet)] = packet.time
            end = (packet.psn + what.span) & (frames.PSNS - 1)
            place = (space, is_answer)
            if place not in highest or later(end, highest[place]) > 0:
                highest[place] = end
            if told.out_of_order and what.repeat:
                told.out_of_order = 0
                flow.late_repeats += 1
            flow.out_of_order += told.out_of_order
        self.losses(capture)

    def number(self, capture, what):
        return capture.sighting.first[what.packet].number

    def seen_before(self, capture, what, packet):
        shown = capture.sighting.first.get(what.packet)
        return shown is not None and shown.number < packet.number

    def copy(self, flow, told):
        if self.duplicated_by_network:
            told.dup_network = 1
            flow.dup_network += 1
        else:
            told.dup_capture = 1
            flow.dup_capture += 1

    def host_near(self, capture):
        """Whose transmissions it holds all of; nobody's where it stands for both ends or between others."""
        return self.sides.get(capture, "")

    @staticmethod
    def order(capture, packet, sent, order, furthest, told, flow):
        """Out of order: a transmission sent later, of a higher PSN, was captured earlier; late: any sent later."""
        if packet.operation == frames.ACKNOWLEDGE:
            return
        stream = (packet.flow, packet.operation in frames.RESPONSES)
        seen = furthest.setdefault(stream, [])
        for other_order, other_psn in seen[-256:]:
            if other_order > order[sent]:
                told.late = 1
                if later(other_psn, packet.psn) > 0:
                    told.out_of_order = 1
                    break
        seen.append((order[sent], packet.psn))

    @staticmethod
    def acknowledge(acknowledged, space, packet):
        end = packet.psn
        if not (packet.sequence_nak or packet.rnr_nak or packet.is_nak(3)) or packet.operation != frames.ACKNOWLEDGE:
            end = (end + 1) & (frames.PSNS - 1)
        if packet.whole and (space not in acknowledged or later(end, acknowledged[space]) > 0):
            acknowledged[space] = end

    @staticmethod
    def repeat(told, flow, what, packet, highest, acknowledged):
        told.retransmission, told.cause, told.also, told.trigger = 1, what.cause, what.also, what.trigger
        told.spurious = int(what.acknowledged)
        own_answer = packet.operation in (frames.READ_REQUEST, frames.COMPARE_SWAP, frames.FETCH_ADD, frames.FLUSH,
                                          frames.ATOMIC_WRITE)
        if own_answer or packet.operation in frames.RESPONSES:
            told.seen_acknowledged = told.spurious
        else:
            told.seen_acknowledged = int(acknowledged is not None and later(packet.psn, acknowledged) < 0)
        told.decidable = int(highest is not None and later(packet.psn, highest) < 0)
        flow.retransmitted[what.cause] += 1
        flow.spurious += told.spurious
        flow.seen_acknowledged += told.seen_acknowledged

    # -- what was lost, and what of it can be known here

    def losses(self, capture):
        host = self.host_near(capture)
        for (requester, _, _), exchange in self.exchanges.items():
            before = [t for run in exchange.requests.runs for t in self.beyond(capture, run)]
            for run in exchange.requests.runs:
                if self.incomplete and run.sent:
                    capture.flows[run.sent[0].packet.flow[:3]].lost_before += run.holes
            for run in exchange.responses.runs:
                before += self.beyond(capture, run)
            for kind, transmission in before:
                flow = capture.flows[transmission.packet.flow[:3]]
                setattr(flow, kind, getattr(flow, kind) + 1)
                if kind == "lost_before" and transmission.packet.operation == frames.ATOMIC_ACKNOWLEDGE:
                    flow.atomic_before += 1
                if kind == "lost_before_tail" and transmission.packet.operation in frames.RESPONSES:
                    flow.answers_tail += 1
            if host == requester and not self.incomplete:
                self.ahead_of_requests(capture, exchange)
            self.ahead_of_responses(capture, exchange)
        self.notices(capture)
        for transmission in self.transmissions:
            if transmission.operation == frames.ACKNOWLEDGE and transmission.service == RC and \
                    not self.arrived(transmission):
                capture.flows[transmission.flow[:3]].lost_acks += 1

    def beyond(self, capture, run):
        """(kind, transmission) of what a run lacks here."""
        if len(self.captures) == 1:
            return
        shown = capture.sighting.first
        here = [i for i, t in enumerate(run.sent) if t.packet in shown and shown[t.packet].whole]
        for i, transmission in enumerate(run.sent):
            if i in here or (transmission.packet in shown and shown[transmission.packet].whole):
                continue
            if not here or i > here[-1]:
                yield "lost_before_tail", transmission
            elif i > here[0] or run.named:
                yield "lost_before", transmission
            else:
                yield "lost_before_head", transmission

    def ahead_of_requests(self, capture, exchange):
        """The loss that each sequence NAK names: the last sending of its PSN before it."""
        named = set()
        for notice in exchange.requests.notices:
            if notice.kind != NAK:
                continue
            sendings = [t for run in exchange.requests.runs for t in run.sent
                        if later(notice.psn, t.packet.psn) in range(t.span) and self.before_nak(t, notice)]
            flow = capture.flows[sendings[-1].packet.flow[:3]] if sendings else None
            # A slow responder may write the NAK after a later sending passed the capture beside it.
            lost = [t for t in sendings if not self.arrived(t.packet) and t not in named]
            if lost:
                named.add(lost[-1])
                flow.lost_after_named += 1
                capture.told[self.number(capture, lost[-1])].named = 1
            elif sendings and not self.follows_rnr(exchange, notice):
                flow.naks_of_late += 1
        for run in exchange.requests.runs:
            for transmission in run.sent:
                if not self.arrived(transmission.packet) and transmission not in named:
                    capture.flows[transmission.packet.flow[:3]].lost_after_window += 1

    def before_nak(self, sending, notice):
        """Could the responder know of it when it wrote the NAK?"""
        if sending.packet.number > notice.packet.number:
            return False
        nak = self.transmission_of(notice.packet)
        shown = self.far[sending.packet].sighting.first.get(sending.packet)
        return shown is None or nak is None or shown.number < nak.number

    def transmission_of(self, packet):
        """A NAK as the capture nearest to its sender, the responder, shows it."""
        return next((c.sighting.shown.get(packet) for c in self.near.values() if packet in c.sighting.shown), None)

    @staticmethod
    def follows_rnr(exchange, notice):
        return any(n.kind != NAK and n.psn == notice.psn for n in exchange.requests.notices)

    def ahead_of_responses(self, capture, exchange):
        """The loss that each READ issued again names: the first response it asks for, seen here before."""
        sent = [t for run in exchange.responses.runs for t in run.sent]
        if not sent or host_of(sent[0].packet.src) != self.host_near(capture):
            return
        named = set()
        by_psn = collections.defaultdict(list)
        for transmission in sent:
            by_psn[transmission.packet.psn].append(transmission)
        for run in exchange.requests.runs[1:]:
            if not run.sent:
                continue
            first = run.sent[0]
            shown = capture.sighting.first.get(first.packet)
            before = [t for t in by_psn[first.packet.psn] if shown and self.seen_before(capture, t, shown)]
            if before and not self.arrived(before[-1].packet) and before[-1] not in named:
                named.add(before[-1])
                flow = capture.flows[before[-1].packet.flow[:3]]
                flow.lost_after_named += 1
                flow.atomic_after += int(before[-1].packet.operation == frames.ATOMIC_ACKNOWLEDGE)
                capture.told[self.number(capture, before[-1])].named = 1
            elif before:
                capture.flows[before[-1].packet.flow[:3]].naks_of_late += 1
        for transmission in sent:
            if not self.arrived(transmission.packet) and transmission not in named:
                capture.flows[transmission.packet.flow[:3]].lost_after_window += 1

    def notices(self, capture):
        """The NAKs that it holds: some do not reach the requester."""
        for sent, shown in capture.sighting.first.items():
            if sent.service == RC and shown.whole:
                flow = capture.flows[sent.flow[:3]]
                flow.naks += int(sent.sequence_nak)
                flow.rnr_naks += int(sent.rnr_nak)


def split_by_interface(packets, total):
    """A capture of several interfaces as one capture for each."""
    by_interface = collections.defaultdict(list)
    for packet in packets:
        by_interface[packet.interface].append(packet)
    return {index: (found, total) for index, found in sorted(by_interface.items())}

# SPDX-License-Identifier: Apache-2.0
"""What each transmission was: first or repeat, why repeated, and what became of it. Rules: retransmission_truth.py."""

import truth_frames as frames
from truth_frames import later

NAK, RNR, IMPLIED, SILENCE = "nak", "rnr", "implied", "silence"


class Transmission:
    """One sending of one packet. `packet` is how the capture nearest to its sender shows it."""

    __slots__ = ("packet", "span", "repeat", "cause", "also", "trigger", "run", "acknowledged", "first", "request",
                 "covers")

    def __init__(self, packet, span):
        self.packet, self.span = packet, span
        self.repeat, self.cause, self.also, self.trigger = False, "", "", ""
        self.run = None
        self.acknowledged = False  # the sender had the acknowledgement before it sent this
        self.first = None          # the first transmission of its first PSN
        self.request = None        # of a response: the latest request that asks for it


class Run:
    """What a sender sends in one pass of ascending PSNs: up to the point where it goes back."""

    def __init__(self, trigger, time):
        self.trigger, self.time, self.sent, self.named = trigger, time, [], False
        self.holes = 0  # packets of the run that not even the nearest capture holds


class Notice:
    def __init__(self, kind, packet):
        self.kind, self.psn, self.time, self.packet = kind, packet.psn, packet.time, packet
        self.used = self.passed = False  # passed: the sender went back since it came


class Requests:
    """One requester, as the capture nearest to it shows it: what it sent and what answers reached it."""

    def __init__(self, pmtu):
        self.pmtu = pmtu
        self.runs, self.by_packet, self.notices = [], {}, []
        self.next_new = self.next_in_run = self.unacknowledged = None
        self.latest, self.owed, self.implied = {}, set(), False
        self.oddities = []

    def span(self, packet):
        if packet.operation == frames.READ_REQUEST and packet.dma_length:
            return max(1, -(-packet.dma_length // self.pmtu))
        return 1

    def sent(self, packet):
        out = Transmission(packet, self.span(packet))
        psn = packet.psn
        if self.next_new is None:
            self.next_new = self.next_in_run = self.unacknowledged = psn
            self.runs.append(Run("", packet.time))
        if later(psn, self.next_in_run) < 0:
            self.go_back(psn, packet.time)
        elif later(psn, self.next_in_run) > 0:
            self.runs[-1].holes += later(psn, self.next_in_run)
        run = self.runs[-1]
        if later(psn, self.next_new) < 0:
            out.repeat, out.trigger = True, run.trigger
            out.cause = self.cause(packet, run.trigger)
            out.first = self.latest.get(psn)
            out.acknowledged = later(psn + out.span - 1, self.unacknowledged) < 0
        out.run = run
        run.sent.append(out)
        self.by_packet[packet] = out
        for step in range(out.span):
            place = (psn + step) & (frames.PSNS - 1)
            self.latest.setdefault(place, out)
            if packet.operation in (frames.READ_REQUEST, frames.COMPARE_SWAP, frames.FETCH_ADD, frames.FLUSH,
                                    frames.ATOMIC_WRITE):
                self.owed.add(place)
        self.next_in_run = (psn + out.span) & (frames.PSNS - 1)
        if later(self.next_in_run, self.next_new) > 0:
            self.next_new = self.next_in_run
        return out

    @staticmethod
    def cause(packet, trigger):
        if trigger in (NAK, RNR):
            return trigger
        return "read_retry" if packet.operation == frames.READ_REQUEST else "timeout"

    def go_back(self, psn, time):
        fresh = [n for n in self.notices if not n.used]
        exact = [n for n in fresh if n.psn == psn]
        ahead = [n for n in fresh if n.kind == RNR and later(n.psn, psn) > 0 and not n.passed]
        # Progress since the NAK moves the point of return on; a lost first packet lets it seem to be further on. What
        # the sender went back past waits for its own PSN only.
        passed = [n for n in fresh if later(n.psn, psn) < 0 and self.unacknowledged in (psn, n.psn) and not n.passed]
        if exact:
            # They are handled in the order in which they came.
            cause = next((n for n in exact if not n.passed), exact[0])
        elif ahead:
            cause = ahead[0]  # an RNR NAK does not move Soft-RoCE's point of return to its own PSN
        else:
            cause = passed[-1] if passed else None
        trigger = cause.kind if cause is not None else IMPLIED if self.implied else SILENCE
        for notice in self.notices:
            # A notice of the other kind that follows can make the sender go back once more: an RNR NAK waits for its
            # timer, and a NAK that comes meanwhile or behind it for its turn. One that acknowledges what is sent again
            # was not handled yet: a slow sender may go back by its timer meanwhile.
            beyond = later(notice.psn, psn)
            waits = notice is not cause and (beyond > 0 or (beyond == 0 and exact and notice.kind != trigger))
            notice.used, notice.passed = notice.used or not waits, True
        self.implied = False
        run = Run(trigger, time)
        run.named = trigger in (NAK, RNR)
        if passed and psn != self.unacknowledged and not exact and trigger == NAK:
            run.holes = later(psn, self.unacknowledged)
        self.runs.append(run)

    def answered(self, packet):
        if self.next_new is None or not packet.whole:
            return
        if packet.sequence_nak or packet.rnr_nak:
            self.notices.append(Notice(RNR if packet.rnr_nak else NAK, packet))
            self.acknowledge(packet.psn)
        elif packet.operation == frames.ACKNOWLEDGE:
            if not packet.is_nak(3):
                self.acknowledge((packet.psn + 1) & (frames.PSNS - 1))
        else:
            self.acknowledge(packet.psn)
            if packet.psn == self.unacknowledged:
                self.owed.discard(packet.psn)
                self.acknowledge((packet.psn + 1) & (frames.PSNS - 1))

    def acknowledge(self, end):
        if later(end, self.next_new) > 0:
            return
        while later(self.unacknowledged, end) < 0:
            if self.unacknowledged in self.owed:
                self.implied = True
                return
            self.unacknowledged = (self.unacknowledged + 1) & (frames.PSNS - 1)


class Responses:
    """One responder, as the capture nearest to it shows it: what requests reached it, what it answered."""

    def __init__(self):
        self.first, self.asked, self.by_packet, self.runs, self.next_in_run = {}, {}, {}, [], None

    def arrived(self, request):
        for step in range(request.span):
            place = (request.packet.psn + step) & (frames.PSNS - 1)
            self.asked.setdefault(place, []).append(request)

    def sent(self, packet):
        if packet.operation == frames.ACKNOWLEDGE:
            return None
        out = Transmission(packet, 1)
        asked = self.asked.get(packet.psn, [])
        out.request = asked[-1] if asked else None
        repeats = [r for r in asked if r.repeat]
        out.first = self.first.get(packet.psn)
        if out.first is not None:
            out.repeat = True
            out.cause = repeats[-1].cause if repeats else "unknown"
            if packet.operation in frames.READ_RESPONSES and repeats and \
                    repeats[-1].packet.operation == frames.READ_REQUEST:
                out.cause, out.also = "read_retry", out.cause
            out.trigger = repeats[-1].trigger if repeats else ""
        else:
            self.first[packet.psn] = out
        if self.next_in_run is None or packet.psn != self.next_in_run:
            self.runs.append(Run(out.trigger, packet.time))
        self.next_in_run = (packet.psn + 1) & (frames.PSNS - 1)
        out.run = self.runs[-1]
        out.run.sent.append(out)
        self.by_packet[packet] = out
        return out

# SPDX-License-Identifier: Apache-2.0
"""What the first diagnosis of a scenario must name, and whether it does. docs/truth.md states the rules ("Diagnoses")."""

import dataclasses

from diagnosis_truth import back

RIGHT, UNDECIDED, WRONG, EXCLUDED = "right", "undecided", "wrong", "excluded"
SIDE = {"before": "upstream", "after": "downstream", "": None}
ANYWHERE = frozenset({"upstream", "downstream", "between_points", "responder", "several", "not_known", None})
OPEN = frozenset({"not_known", "several", None})


@dataclasses.dataclass
class Expected:
    right: set                          # causes
    ways: set                           # that suffered
    universe: set                       # that carry what could have
    seen: frozenset = ANYWHERE
    open_causes: set = dataclasses.field(default_factory=set)  # all that the capture can decide
    open_seen: frozenset = frozenset()
    either_order: set = dataclasses.field(default_factory=set)  # causes whose ways may be named from either end
    visible: set = dataclasses.field(default_factory=set)      # ways of which the capture shows trouble
    names: frozenset = frozenset()      # a host, as `host`, whatever its ways
    kinds: frozenset = frozenset()      # of loss; None is always right
    needed: bool = True                 # else silence is right, too

    @property
    def quiet(self):
        """The capture shows no trouble, or none that must be told: silence is right."""
        return not self.needed or not self.visible


def shape_of(trouble):
    """Kinds of loss that a right diagnosis may name."""
    if any(a.startswith("--outage") for a in trouble.scenario.arguments):
        return frozenset({"outage", "bursts"})
    return frozenset({"bursts"}) if trouble.rows >= 8 else frozenset({"single", "bursts"} if trouble.rows > 1 else {"single"})


def visible_losses(facts):
    """Ways with losses, if anything was sent again for any of them, or shows a hole."""
    if not facts.repeats and not facts.decidable:
        return set()
    return facts.lost_ways(facts.lost)


def outage_may_be_named(trouble, diagnosis, expected):
    """Where everything was lost for a while, silence need not tell which direction was dead, nor where. That packets were lost
    in a row, and nothing else was sent meanwhile, looks the same: excluded() asks whether something got through."""
    if diagnosis["cause"] != "outage":
        return
    (expected.right if heals(trouble) else expected.open_causes).add("outage")
    expected.either_order.add("outage")
    expected.open_seen = expected.open_seen | OPEN


def heals(trouble):
    return "--outage-ns" in trouble.scenario.arguments


def retries_may_end(expected, facts):
    """Where that many packets are lost, one may be lost at every retry."""
    if "retries_exceeded" in facts.ended:
        expected.open_causes.add("no_answer")
        expected.either_order.add("no_answer")
        expected.open_seen = OPEN


def lossy(trouble, facts):
    universe = facts.requests | facts.answers
    expected = Expected({"loss"}, facts.in_scope(universe), universe, frozenset({SIDE[trouble.side]}),
                        visible=visible_losses(facts), kinds=shape_of(trouble))
    if trouble.side == "after":
        expected.open_causes.add("loss_or_reordering")
    if not (facts.repeats["nak"] if trouble.side == "after" else facts.decidable and facts.repeats["nak"]):
        # The capture may have begun just behind what a NAK names.
        expected.open_causes |= {"request_or_answer_lost"} | ({"unexplained"} if facts.repeats["nak"] else set())
        expected.either_order.add("request_or_answer_lost")
        expected.open_seen = OPEN
    if facts.lost_answers:
        expected.open_causes.add("answers_lost")
    retries_may_end(expected, facts)
    return expected


def lost_answers(trouble, facts):
    expected = Expected({"answers_lost"}, facts.in_scope(facts.answers), facts.answers, frozenset({SIDE[trouble.side]}),
                        visible=visible_losses(facts))
    if trouble.side == "before":
        expected.open_causes.add("request_or_answer_lost")
        expected.either_order.add("request_or_answer_lost")
        expected.open_seen = OPEN
    retries_may_end(expected, facts)
    return expected


def lost_read_responses(trouble, facts):
    expected = Expected({"loss", "answers_lost"}, facts.in_scope(facts.answers), facts.answers,
                        frozenset({SIDE[trouble.side]}), visible=visible_losses(facts), kinds=shape_of(trouble))
    if trouble.side == "after":
        expected.open_causes.add("loss_or_reordering")
    if not facts.decidable:
        expected.open_causes.add("request_or_answer_lost")
        expected.either_order.add("request_or_answer_lost")
        expected.open_seen = OPEN
    retries_may_end(expected, facts)
    return expected


def corruption(trouble, facts):
    if trouble.side == "after":  # nobody sees what is damaged behind the capture
        return lossy(trouble, facts)
    universe = facts.requests | facts.answers
    return Expected({"corruption"}, facts.in_scope(universe), universe, frozenset({"upstream"}),
                    visible=facts.lost_ways(facts.damaged))


def reordering(trouble, facts):
    answers = trouble.option("--victims") == "responses"
    universe = facts.answers if answers else facts.requests
    expected = Expected({"reordering"}, facts.in_scope(universe), universe, frozenset({SIDE[trouble.side]}),
                        visible=facts.in_scope(universe) if facts.repeats else set())
    if trouble.side == "after":
        expected.open_causes.add("loss_or_reordering")
    return expected


def receiver_not_ready(_, facts):
    return Expected({"receiver_not_ready"}, facts.in_scope(facts.requests), facts.requests, frozenset({"responder"}),
                    visible=facts.repeated["rnr"] | facts.ended.get("rnr_exceeded", set()))


def request_refused(_, facts):
    refused = facts.in_scope(facts.ended.get("access_error", set()) & facts.requests)
    return Expected({"request_refused"}, facts.in_scope(facts.requests), facts.requests, frozenset({"responder"}),
                    visible=refused)


def slow_responder(_, facts):
    visible = facts.in_scope((facts.repeated["timeout"] | facts.repeated["read_retry"]) & facts.requests)
    expected = Expected({"timer_too_short"}, facts.in_scope(facts.requests), facts.requests,
                        frozenset({"responder", "upstream", "not_known", None}), visible=visible,
                        either_order={"timer_too_short", "request_or_answer_lost"})
    if facts.repeats["timeout"]:  # an ACK does not tell which of two requests it answers
        expected.open_causes.add("request_or_answer_lost")
    return expected


def dead_direction(trouble, facts):
    universe = facts.requests | facts.answers
    expected = Expected({"no_answer"}, facts.in_scope(universe), universe, frozenset({SIDE[trouble.side]}),
                        visible=visible_losses(facts), open_seen=OPEN, kinds=frozenset({"outage"}),
                        either_order={"no_answer", "request_or_answer_lost"})
    if not facts.seen_to_end:  # retries passed the capture no more: a capture may end so
        expected.open_causes.add("request_or_answer_lost")
        expected.visible = set()
    if trouble.side == "after":
        expected.right |= {"answers_lost"} if facts.lost_answers else set()
        expected.right |= {"loss"} if facts.lost_requests else set()
    elif facts.decidable:
        expected.open_causes.add("loss")
    return expected


def pause_storm(_, facts):
    ways = {way for way in facts.requests | facts.answers if way[1] == facts.paused[0]}
    return Expected({"pause"}, ways, facts.requests | facts.answers, visible=ways if facts.marks["pause"] else set(),
                    either_order={"pause"}, names=frozenset(facts.paused))


def wrong_marks(_, facts):
    universe = facts.requests | facts.answers
    return Expected({"marking"}, facts.in_scope(universe), universe,
                    visible={(e["src"], e["dst"]) for e in facts.marks["marking"]})


def congestion(trouble, facts):
    universe = facts.requests | facts.answers
    expected = Expected({"congestion"}, facts.in_scope(universe), universe, either_order={"congestion", "marking", "settings"},
                        visible={(e["src"], e["dst"]) for e in facts.marks["congestion"]})
    fault = trouble.option("--cnp-fault")
    if fault:
        expected.right |= {"marking", "settings"}
    expected.needed = fault == "missing"  # senders that are told slow down: so it is meant to be
    return expected


EXPECTED = {"loss_upstream": lossy, "loss_downstream": lossy, "lost_answers": lost_answers,
            "lost_read_responses": lost_read_responses, "corruption": corruption, "reordering": reordering,
            "receiver_not_ready": receiver_not_ready, "request_refused": request_refused,
            "slow_responder": slow_responder, "dead_direction": dead_direction, "pause_storm": pause_storm,
            "wrong_marks": wrong_marks, "congestion": congestion}


def something_got_through(diagnosis, trouble, facts, expected):
    """Whether packets arrived, whichever direction an outage was of, while nothing is said to have got through."""
    if diagnosis["cause"] != "outage" or heals(trouble):  # of a real one its length is an upper bound
        return False
    if expected is None or diagnosis["at_least"] != 1:  # clean, or several with traffic between them
        return True
    through = facts.got_through(diagnosis["since"], diagnosis["until"])
    of_all = dataclasses.replace(expected, universe=facts.requests | facts.answers)
    return all(ways & through for ways in claims(diagnosis["place"], of_all, True) if ways)


def excluded(diagnosis, trouble, facts, expected=None):
    """Why the capture excludes this cause, or None."""
    nothing_lost_upstream = not any(e["lost"] == "before_capture" and not e.get("damaged") for e in facts.lost)
    captured_all = nothing_lost_upstream and trouble.side == "before"
    reasons = {
        "loss": ("every packet passes the capture, the late ones too", captured_all and not facts.lost),
        "loss_or_reordering": ("what is asked for again did not pass the capture, or passed it late", trouble.side == "before"
                               and not facts.by_timer),
        "answers_lost": ("nothing is sent again without a NAK", not facts.by_timer and not facts.damaged),
        "request_or_answer_lost": ("nothing is sent again without a NAK", not facts.by_timer),
        "corruption": ("every ICRC is right", diagnosis["place"]["seen"] == "upstream" and not facts.damaged),
        "reordering": ("no packet passes the capture late", trouble.side == "before" and not facts.late),
        "timer_too_short": ("nothing is sent again without a NAK", not facts.by_timer),
        "receiver_not_ready": ("there is no RNR NAK", not facts.repeats["rnr"] and "rnr_exceeded" not in facts.ended),
        "request_refused": ("there is no NAK that refuses", "access_error" not in facts.ended),
        "no_answer": ("every request is answered at last", not facts.ended),
        "outage": ("something gets through meanwhile", something_got_through(diagnosis, trouble, facts, expected)),
        "connection_refused": ("there is no REJ", True),
        "connection_unanswered": ("every REQ is answered", True),
        "pause": ("there is no pause frame", not facts.marks["pause"]),
        "congestion": ("there is no CE, no CNP and no pause", not facts.marks["congestion"] and not facts.marks["pause"]
                       and not facts.lost),
        "marking": ("all is marked alike", not any(facts.marks[k] for k in ("marking", "cnp_marking", "congestion"))),
        "path_mtu": ("packets of all sizes arrive", True),
        "duplicates": ("no packet is there twice", True),
        "capture": ("the capture misses nothing", "--snap" not in trouble.scenario.arguments or trouble.option("--snap") == "0"),
    }
    why, holds = reasons.get(diagnosis["cause"], ("", False))
    return why if holds else None


def claims(place, expected, either):
    """What a diagnosis may mean: sets of ways, of those that carry what could suffer."""
    sender, receiver, host = (place.get(key) for key in ("from", "to", "host"))

    def between(one, other):
        return {w for w in expected.universe if one in (None, w[0]) and other in (None, w[1])}

    if sender is None and receiver is None and host is not None:
        return between(None, host), between(host, None)
    return (between(sender, receiver), between(receiver, sender)) if either else (between(sender, receiver),)


def misplaced(diagnosis, expected):
    """(why the place is wrong or None, whether some of what suffers is not in it)"""
    place = diagnosis["place"]
    if place.get("host") in expected.names:
        return None, False
    meant = [ways for ways in claims(place, expected, diagnosis["cause"] in expected.either_order) if ways]
    right = [ways for ways in meant if ways <= expected.ways]
    if right:
        return None, not any(expected.visible <= ways for ways in right)
    named = " ".join(f"{key} {place.get(key)}" for key in ("level", "from", "to", "host") if place.get(key))
    if not meant:
        return f"{named}: no such traffic", False
    return f"{named}: nothing happened from {' to '.join(min(meant[0] - expected.ways))}", False


@dataclasses.dataclass
class Verdict:
    outcome: str
    why: str = ""
    narrow: bool = False    # right, and not all ways that suffer
    kind: bool = True       # of loss; severity: fatal where a connection ended
    severity: bool = True


def described(diagnosis):
    return f"{diagnosis['cause']}, seen {diagnosis['place'].get('seen')}"


def judge(trouble, facts, diagnoses):
    first = diagnoses[0] if diagnoses else None
    if trouble.cause == "clean":
        if first is None:
            return Verdict(RIGHT)
        why = excluded(first, trouble, facts)
        return Verdict(EXCLUDED if why else WRONG, f"{described(first)}: {why or 'nothing is wrong'}")
    expected = EXPECTED[trouble.cause](trouble, facts)
    if first is not None:
        outage_may_be_named(trouble, first, expected)
    if first is None:
        return Verdict(RIGHT if expected.quiet else WRONG, "" if expected.quiet else "no diagnosis")
    why = excluded(first, trouble, facts, expected)
    if why:
        return Verdict(EXCLUDED, f"{described(first)}: {why}")
    if first["cause"] not in expected.right | expected.open_causes:
        return Verdict(WRONG, f"{described(first)}, not {' or '.join(sorted(expected.right))}")
    seen = first["place"].get("seen")
    if seen not in expected.seen | expected.open_seen:
        return Verdict(WRONG, f"{described(first)}, not {' or '.join(sorted(map(str, expected.seen)))}")
    why, narrow = misplaced(first, expected)
    if why:
        return Verdict(WRONG, f"{described(first)}, {why}")
    decided = first["cause"] in expected.right and seen in expected.seen
    return Verdict(RIGHT if decided else UNDECIDED, described(first), narrow,
                   not expected.kinds or first.get("kind") in expected.kinds | {None},
                   (first.get("severity") == "fatal") == bool(facts.seen_to_end))

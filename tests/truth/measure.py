# SPDX-License-Identifier: Apache-2.0
"""Holds the program's verdicts on a generated capture against the generator's truth."""

import collections
import json

import sums

FLAGS = ["retransmission", "duplicate_capture", "duplicate_network", "out_of_order"]
FIELDS = ["frame.number", "roce.analysis.retransmission", "roce.analysis.retransmission.cause",
          "roce.analysis.retransmission.original", "roce.analysis.duplicate_capture", "roce.analysis.duplicate_network",
          "roce.analysis.out_of_order", *sums.FIELDS]
FILTER = " or ".join("roce.analysis." + flag for flag in FLAGS)
MARKS = {"marking", "cnp_marking", "congestion", "pause"}
WHERE = ["before_capture", "after_capture", "by_capture", "trimmed"]

# Asked of the analysis (issue: truth by construction).
PRECISION = RECALL = 0.999
CAUSES = 0.995
ENOUGH_ANSWERS = 20


class Truth:
    """What roce_fault_generate wrote beside the capture (fault_truth_file.hpp)."""

    def __init__(self, path):
        self.frames, self.connections, self.totals = {}, [], {}
        self.lost = collections.Counter()   # decidable, by where
        self.all_lost = collections.Counter()
        self.losses = []
        self.marks = []  # wrong marks, congestion, pauses
        with open(path, encoding="ascii") as file:
            for line in file:
                entry = json.loads(line)
                if "totals" in entry:
                    self.totals = entry["totals"]
                elif MARKS & entry.keys():
                    self.marks.append(entry)
                elif "lost" in entry:
                    self.all_lost[entry["lost"]] += 1
                    self.lost[entry["lost"]] += entry["decidable"]
                    self.losses.append(entry)
                elif "frame" in entry:
                    self.frames[entry["frame"]] = entry
                else:
                    self.connections.append(entry)


def is_copy(entry):
    return "duplicate_network" in entry or "duplicate_capture" in entry


def must_be_flagged(entry):
    return ("retransmission" in entry and not is_copy(entry) and entry.get("decidable", True)
            and not entry.get("contract_silent", False))


def may_be_flagged(entry):
    return "retransmission" in entry or entry.get("contract_silent", False) or entry.get("late_original", False)


ANY_CAUSE = 4  # an answer to a READ that the sender sent once: the network doubled it behind the capture


def alike_without_ids(truth, longest_read):
    """Frames that only an IPv4 ID could tell from others, by what they really are: a repeat and the original that
    comes after it; a late answer behind the repeated request, which looks like the answer to that; an answer given
    again to a request that no one is seen to repeat, which looks like a copy."""
    late, repeated, alike = collections.defaultdict(list), collections.defaultdict(list), set()
    for frame, e in truth.frames.items():
        if e.get("late_original", False):
            late[e["connection"], e["direction"], e["psn"]].append(frame)
        if "retransmission" in e and e["kind"] in ("read_request", "atomic_request"):
            repeated[e["connection"], e["direction"], e["psn"]].append(frame)
    for frame, e in truth.frames.items():
        if "retransmission" in e and any(f > frame for f in late.get((e["connection"], e["direction"], e["psn"]), ())):
            alike.add(frame)
        if e.get("out_of_order", False) and e["kind"] in ("read_response", "atomic_response"):
            other = "b_to_a" if e["direction"] == "a_to_b" else "a_to_b"
            before = longest_read if e["kind"] == "read_response" else 0
            asked = ((e["connection"], other, (e["psn"] - i) % PSNS) for i in range(before + 1))
            if any(f < frame for place in asked for f in repeated.get(place, ())):
                alike.add(frame)
        if e["kind"] == "read_response" and len(e.get("also", ())) == ANY_CAUSE:
            alike.add(frame)
    return alike


PSNS = 1 << 24


def read_verdicts(lines):
    """(frame -> (cause or None, original or 0, set of flags), those sent again as sums.py wants them)"""
    verdicts, repeats = {}, []
    for line in lines:
        frame, again, cause, original, copy, doubled, late, *cells = line.rstrip("\n").split("\t")
        flags = {flag for flag, value in zip(FLAGS, (again, copy, doubled, late)) if value == "1"}
        verdicts[int(frame)] = (cause or None, int(original or 0), flags)
        if again == "1":
            repeats.append(sums.repeat(cells))
    return verdicts, repeats


def ratio(part, whole):
    return part / whole if whole else 1.0


class Result:
    def __init__(self):
        self.failures = []
        self.sums = []  # of the failures those that mean: the report contradicts itself
        self.notes = []
        self.figures = {}

    def require(self, name, value, limit):
        if value < limit:
            self.failures.append(f"{name} {value:.5f} < {limit}")

    def note(self, text):
        self.notes.append(text)


def some(frames, count=4):
    return " ".join(map(str, sorted(frames)[:count]))


def describe_misses(result, title, entries):
    """entries: (frame, kind of miss). The most frequent kinds with their first frames."""
    groups = collections.defaultdict(list)
    for frame, kind in entries:
        groups[kind].append(frame)
    for kind, frames in sorted(groups.items(), key=lambda item: -len(item[1]))[:6]:
        result.note(f"{title} {kind}: {len(frames)}, frames {some(frames)}")


def measure_retransmissions(result, scenario, truth, verdicts):
    asked = {frame for frame, entry in truth.frames.items() if must_be_flagged(entry)}
    flagged = {frame for frame, verdict in verdicts.items() if "retransmission" in verdict[2]}
    if not scenario.ids:
        alike = alike_without_ids(truth, scenario.longest_read)
        result.note(f"alike without IDs: {len(alike)}, of them asked for {len(asked & alike)}")
        asked -= alike
        flagged -= alike
    found = asked & flagged
    wrong = {frame for frame in flagged - asked if not may_be_flagged(truth.frames.get(frame, {}))}
    if not scenario.first_answers:
        first = {frame for frame in wrong if truth.frames.get(frame, {}).get("first_answer", False)}
        wrong -= first
        if first:
            result.note(f"first answers to repeated READs called retransmissions: {len(first)}")
    result.figures.update(retransmissions=len(asked), found=len(found), false=len(wrong),
                          precision=ratio(len(found), len(found) + len(wrong)), recall=ratio(len(found), len(asked)))
    describe_misses(result, "missed", ((f, truth.frames[f]["kind"] + "/" + truth.frames[f]["retransmission"])
                                       for f in asked - flagged))
    describe_misses(result, "false", ((f, "a copy" if is_copy(truth.frames.get(f, {})) else
                                       "late" if "out_of_order" in truth.frames.get(f, {}) else
                                       str(verdicts[f][0])) for f in wrong))
    silent = {f for f, e in truth.frames.items() if e.get("contract_silent", False) and not is_copy(e)}
    if silent:
        result.note(f"answers to repeated atomics: {len(silent)}, called retransmissions {len(silent & flagged)}")
    undecidable = {f for f, e in truth.frames.items() if "retransmission" in e and not is_copy(e)} - asked - silent
    if undecidable:
        result.note(f"undecidable retransmissions: {len(undecidable)}, found {len(undecidable & flagged)}")
    if scenario.innocent:
        if flagged:
            result.failures.append(f"{len(flagged)} false retransmissions")
    else:
        result.require("precision", result.figures["precision"], scenario.today.get("precision", PRECISION))
        result.require("recall", result.figures["recall"], RECALL)
    return found


def measure_causes(result, scenario, truth, verdicts, found):
    judged = right = exact = pointed = with_original = 0
    misses = []
    for frame in found:
        entry, (cause, original, _) = truth.frames[frame], verdicts[frame]
        if "original" in entry:
            with_original += 1
            pointed += original in (entry["original"], entry["previous"])
        if not entry.get("cause_decidable", True):
            continue
        judged += 1
        exact += cause == entry["retransmission"]
        if cause == entry["retransmission"] or cause in entry.get("also", ()):
            right += 1
        else:
            misses.append((frame, f"{entry['kind']} {entry['retransmission']} called {cause}"))
    result.figures.update(judged=judged, right=right, causes=ratio(right, judged), causes_exact=ratio(exact, judged),
                          originals=ratio(pointed, with_original))
    describe_misses(result, "cause of", misses)
    if scenario.causes and not scenario.innocent:
        result.require("causes", result.figures["causes"], scenario.today.get("causes", CAUSES))


def measure_flag(result, truth, verdicts, name, asked):
    flagged = {frame for frame, verdict in verdicts.items() if name in verdict[2]}
    if asked or flagged:
        result.note(f"{name}: {len(asked)}, precision {ratio(len(asked & flagged), len(flagged)):.5f}, "
                    f"recall {ratio(len(asked & flagged), len(asked)):.5f}")


def measure_copies_and_order(result, truth, verdicts):
    for name in ("duplicate_capture", "duplicate_network"):
        measure_flag(result, truth, verdicts, name, {f for f, e in truth.frames.items() if name in e})
    measure_flag(result, truth, verdicts, "out_of_order",
                 {f for f, e in truth.frames.items() if "out_of_order" in e and not e.get("late_original", False)})


def pair_key(a, b):
    return frozenset([(a["address"], a["qp"]), (b["address"], b["qp"])])


def measure_pairing(result, scenario, truth, report):
    real = {}
    for c in truth.connections:  # of several with the same queue pairs the one with the most answers
        other = real.setdefault(pair_key(c["a"], c["b"]), c)
        if sum(c["answered"]) > sum(other["answered"]):
            real[pair_key(c["a"], c["b"])] = c
    told = [c for c in report.get("connections", [])
            if str(c.get("service", "RC")).upper() == "RC" and c["a"] and c["b"] and c["a"]["qp"] is not None and c["b"]["qp"] is not None]
    keys = [pair_key(c["a"], c["b"]) for c in told]
    wrong = [c["id"] for c, key in zip(told, keys) if key not in real]
    enough = {key for key, c in real.items() if sum(c["answered"]) >= ENOUGH_ANSWERS}
    missing = enough - set(keys)
    result.figures.update(connections=len(enough), paired=len(enough) - len(missing), wrong_pairs=len(wrong))
    if len(set(keys)) != len(keys):
        result.note(f"{len(keys) - len(set(keys))} connections are told twice")
    if missing:
        result.note("unpaired: connections " + some(real[key]["connection"] for key in missing))
    if wrong:
        result.failures.append(f"{len(wrong)} wrong pairs: ids {some(wrong)}")
    if missing and scenario.pairing:
        result.failures.append(f"{len(missing)} of {len(enough)} connections unpaired")


def flow_key(connection, direction):
    sender, receiver = ("a", "b") if direction == "a_to_b" else ("b", "a")
    return connection[sender]["address"], connection[receiver]["address"], connection[receiver]["qp"]


def measure_places(result, truth, told):
    """told: (flow, where) -> losses in the report. Counts by flow and place, so that two mistakes do not cancel out."""
    connections = {c["connection"]: c for c in truth.connections}
    knowable, real = collections.Counter(), collections.Counter()
    for loss in truth.losses:
        flow = flow_key(connections[loss["connection"]], loss["direction"])
        knowable[flow, loss["lost"]] += loss["decidable"]
        real[flow, loss["lost"]] += 1
        if loss["lost"] == "after_capture" and loss["frame"] is None:
            real[flow, "by_capture"] += 1  # the capture missed it first
    lost = sum(real[flow, where] for flow, where in real if where != "by_capture")
    beyond = 0
    for flow in {flow for flow, _ in told}:
        claimed, true = (sum(of[flow, where] for where in WHERE if where != "by_capture") for of in (told, real))
        beyond += max(0, claimed - true)
    result.figures.update(
        knowable=sum(knowable.values()), placed=sum(min(told[place], count) for place, count in knowable.items()),
        lost_in_all=lost, beyond=beyond,
        missed_beyond=sum(max(0, told[place] - real[place]) for place in told if place[1] == "by_capture"))


def measure_losses(result, scenario, truth, report):
    told, by_flow = collections.Counter(), collections.Counter()
    for flow in report.get("flows", []):
        for where in WHERE:
            count = (flow.get("lost") or {}).get(where) or 0
            told[where] += count
            by_flow[(flow["src"], flow["dst"], flow["dst_qp"]), where] += count
    measure_places(result, truth, by_flow)
    result.figures["lost"] = "  ".join(f"{told[w]}/{truth.lost[w]}" for w in WHERE)
    result.note("lost (told / knowable / all): " +
                ", ".join(f"{w} {told[w]}/{truth.lost[w]}/{truth.all_lost[w]}" for w in WHERE))
    findings = {f["id"] for f in report.get("findings", [])}
    result.note("findings: " + (" ".join(sorted(findings)) or "none"))
    if scenario.innocent:
        false = {w for w in WHERE if told[w] and not (w == "by_capture" and scenario.allowed)}
        if false:
            result.failures.append("false losses " + " ".join(f"{w} {told[w]}" for w in sorted(false)))
        false = (findings & LOSS_CLAIMS) - scenario.allowed
        if false:
            result.failures.append("false findings " + " ".join(sorted(false)))


def measure_diagnostics(result, report):
    errors = [d["id"] for d in report["diagnostics"] if d["severity"] == "error"]
    if errors or report["roce"]["icrc"]["mismatch"]:
        result.failures.append(f"frames do not dissect: {errors} {report['roce']['icrc']}")
    for key in ("connections", "findings"):
        if key not in report:
            result.failures.append(f"the report has no {key}")


# What the responder's answers say against the explanation of an incident (analyze/episode/replay.hpp).
CONTRADICTIONS = {"confirms_lost", "asks_for_taken", "not_ready_again"}


def measure_contradictions(result, report):
    found = [i for i in report.get("incidents", []) if CONTRADICTIONS & set(i["undecided"])]
    result.figures["contradicted"] = len(found)
    for incident in found:
        result.note(f"contradicted: incident {incident['id']}, {incident['what']}, packets {incident['first_packet']} to "
                    f"{incident['last_packet']}: {' '.join(sorted(CONTRADICTIONS & set(incident['undecided'])))}")


LOSS_CLAIMS = frozenset()  # set by the caller from scenarios.LOSS_FINDINGS


def measure(scenario, truth, verdicts, repeats, report):
    result = Result()
    result.sums = sums.differences(report, repeats)
    result.failures += result.sums
    measure_diagnostics(result, report)
    found = measure_retransmissions(result, scenario, truth, verdicts)
    measure_causes(result, scenario, truth, verdicts, found)
    measure_copies_and_order(result, truth, verdicts)
    measure_pairing(result, scenario, truth, report)
    measure_losses(result, scenario, truth, report)
    measure_contradictions(result, report)
    return result

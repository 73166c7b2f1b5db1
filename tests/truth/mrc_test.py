#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulated MRC (tests/support/mrc_fabric.py) against the report: which packets were lost and where, which repeats were
needed, what each path carried and lost. No loss may be told that was none, and nothing may be called missed by the capture
that passed it. What a capture cannot show is left open, and is not counted as told.

Usage: mrc_test.py ROCEANALYZE [--draw SEED COUNT]"""

import collections
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import capture_variants as variants  # noqa: E402
import mrc_fabric  # noqa: E402

SEED, PACKETS = 25, 2500
PLACES = {"lost_before": "before_capture", "lost_after": "after_capture", "trimmed_before": "trimmed_before",
          "trimmed_after": "trimmed_after", "trimmed_last_hop": "trimmed_last_hop"}
# Kinds in which not all is captured that is needed to decide: what is told must be right, but need not be all.
PARTIAL = ("one_way", "some_paths", "lost_answers", "lost_answers_too")
# Of which a part, or everything twice, is judged.
VARIED = ("clean", "loss", "trims_and_losses", "ipv6")
# Findings that would blame the capture, or judge by the rules of RC.
NEVER = ("loss_by_capture", "capture_drops", "loss_before_capture", "loss_after_capture", "go_back_n_storm", "timeouts",
         "spurious_retransmission", "reordering", "duplicates_network", "illegal_sequence", "trimmed", "udp_source_ports",
         "ce_without_cnp", "marking_changes", "marking_directions", "not_ect", "ecn_off", "roce_not_lossless",
         "retransmission_marking", "asymmetric_capture", "icrc_corruption")


def decidable(loss, kind):
    """Whether a capture of the whole fabric shows it."""
    if loss["fate"] == "lost_before":  # of a repeat that never came by, there is no trace
        return loss["copy"] == 0 and loss["repeat_seen"] and not loss["first"]
    if loss["fate"] == "lost_after":
        # By path order, or because a SACK still lacked it when it was overdue; where none was sent then, nothing tells.
        return loss["frame"] != 0 and loss["repeat_seen"] and loss["shown"]
    return loss["frame"] != 0


class Judge:
    def __init__(self, name):
        self.name, self.mistakes = name, []
        self.told = self.true = self.right = 0
        self.needed = self.needless = self.open = self.repeats = 0

    def fail(self, text):
        self.mistakes.append(f"{self.name}: {text}")

    def equal(self, what, told, true):
        if told != true:
            self.fail(f"{what} is {told}, truly {true}")


def judge_stream(judge, kind, truth, told, losses):
    judge.equal("packets", told["packets"], truth["captured"])
    judge.equal("repeats", told["repeats"], len(truth["repeats"]))
    judge.equal("sum of repeats", told["needed"] + told["needless"] + told["undecided"], told["repeats"])
    judge.equal("CE", told["ce"], truth["ce"])
    if kind != "one_way":
        judge.equal("queue pair of answers", told["answer_qp"], truth["answer_qp"])
    if kind != "some_paths":
        judge.equal("not captured", told["not_captured"], 0)
    judge.equal("packets of paths", sum(path["packets"] for path in told["paths"]), told["packets"])

    truly = collections.defaultdict(list)
    for loss in truth["losses"]:
        truly[loss["psn"]].append(loss)
    found = set()
    for loss in losses:
        # One that was trimmed behind the capture is simply lost there, if the NACK that said so was lost as well.
        matching = [each for each in truly[loss["psn"]] if loss["place"] in (
                        PLACES[each["fate"]], "after_capture" if each["fate"] in ("trimmed_after", "trimmed_last_hop")
                        and kind in PARTIAL else None) and
                    (each["fate"] == "lost_before" or
                     (each["frame"], each["port"]) == (loss["packet"], loss["udp_source"]))]
        if not matching:
            judge.fail(f"loss of PSN {loss['psn']} {loss['place']} at packet {loss['packet']} was none")
        found.update((each["psn"], each["copy"]) for each in matching)
    judge.told += len(losses)
    for loss in truth["losses"]:
        if not decidable(loss, kind):
            continue
        judge.true += 1
        if (loss["psn"], loss["copy"]) in found:
            judge.right += 1
        elif kind not in PARTIAL:
            judge.fail(f"loss of PSN {loss['psn']} copy {loss['copy']} {loss['fate']}, frame {loss['frame']}, is not told")
    by_place = collections.Counter(loss["place"] for loss in losses)
    judge.equal("losses listed", {place: count for place, count in told["lost"].items() if count}, dict(by_place))
    by_path = collections.Counter(loss["udp_source"] for loss in losses if loss["udp_source"] is not None)
    judge.equal("losses of paths", {path["udp_source"]: path["lost"] for path in told["paths"] if path["lost"]}, dict(by_path))

    needed = sum(1 for repeat in truth["repeats"] if repeat["needed"])
    if told["needed"] > needed:
        judge.fail(f"{told['needed']} repeats are called needed, truly {needed}")
    if told["needless"] > len(truth["repeats"]) - needed:
        judge.fail(f"{told['needless']} repeats are called needless, truly {len(truth['repeats']) - needed}")
    judge.needed += told["needed"]
    judge.needless += told["needless"]
    judge.open += told["undecided"]
    judge.repeats += told["repeats"]


def judge_bad_paths(judge, kind, truth, report):
    enough = 8  # losses of it: fewer may be luck
    told = {int(finding["subject"].split("port ")[1].split(",")[0])
            for finding in report["findings"] if finding["id"] == "mrc_bad_path"}
    truly = {}
    for stream in truth["streams"] if kind == "bad_path" else ():
        truly[stream["bad_port"]] = sum(1 for loss in stream["losses"]
                                        if loss["port"] == stream["bad_port"] and decidable(loss, kind))
    for port in told - set(truly):
        judge.fail(f"the path of port {port} is no bad one")
    for port, losses in truly.items():
        if losses >= enough and port not in told:
            judge.fail(f"the bad path of port {port} is not told, which lost {losses}")


def judge_scenario(program, seed, kind, packets, folder, keep=False):
    frames, truth = mrc_fabric.make(seed, kind, packets)
    path = os.path.join(folder, f"mrc_{kind}_{seed}.pcap")
    variants.write(path, frames)
    done = subprocess.run([program, "report", "--json", path], check=False, timeout=300, capture_output=True, text=True)
    judge = Judge(f"{kind} {seed}")
    if done.returncode != 0:
        judge.fail(f"exit status {done.returncode}: {done.stderr}")
        return judge
    report = json.loads(done.stdout)
    mrc = report["mrc"]
    judge.equal("packets of MRC", mrc["packets"], len(frames))
    judge.equal("unmatched", mrc["unmatched"], 0)
    judge.equal("connections by the rules of RC", len(report["connections"]), 0)
    streams = {(each["src"], each["dst"], each["dst_qp"]): each for each in mrc["streams"]}
    judge.equal("streams", len(streams), len(truth["streams"]))
    for stream in truth["streams"]:
        told = streams.get((stream["source"], stream["target"], stream["qp"]))
        if told is None:
            judge.fail(f"stream to {stream['qp']} is not told")
            continue
        judge_stream(judge, kind, stream, told, [loss for loss in mrc["losses"] if loss["stream"] == told["id"]])
    ids = [finding["id"] for finding in report["findings"]]
    for never in NEVER:
        if never in ids:
            judge.fail(f"finding {never}: " + next(f["explanation"] for f in report["findings"] if f["id"] == never))
    if kind.startswith("clean") and ("mrc_loss" in ids or "mrc_bad_path" in ids):
        judge.fail("a clean fabric is said to lose")
    judge_bad_paths(judge, kind, truth, report)
    if "trim_last" in mrc_fabric.KINDS[kind]:
        judge.equal("incast is told", "mrc_trimmed_last_hop" in ids, True)
    if not keep:
        os.remove(path)
    return judge


def doubled(frames, lag_ns, hops, dice):
    """A second point of the path, or a second mirror port, in the same capture."""
    frames = list(frames)
    for time, length, frame in list(frames):
        again = bytearray(frame)
        if again[14] >> 4 == 4:
            again[22] -= hops
            again[24:26] = mrc_fabric.words(mrc_fabric.checksum(bytes(again[14:24]) + bytes(2) + bytes(again[26:34])), 2)
        else:
            again[21] -= hops
        frames.append((time + lag_ns + dice.randrange(lag_ns // 8 + 1), length, bytes(again)))
    return sorted(frames, key=lambda record: record[0])


def told_of(program, folder, frames):
    path = os.path.join(folder, "mrc_variant.pcap")
    variants.write(path, frames)
    told = json.loads(subprocess.run([program, "report", "--json", path], check=True, timeout=300, capture_output=True).stdout)
    rows = subprocess.run([program, "paths", "--json", path], check=True, timeout=300, capture_output=True).stdout
    return told, json.loads(rows)["paths"]


def judge_variants(program, seed, kind, packets, folder):
    """A capture that has a part of the packets judges no losses, and one that has them twice judges as if it had them once."""
    frames, truth = mrc_fabric.make(seed, kind, packets)
    judge = Judge(f"variants of {kind} {seed}")
    dice = random.Random(seed)
    whole, rows = told_of(program, folder, frames)
    losing = {(stream["source"], stream["target"], loss["psn"]) for stream in truth["streams"] for loss in stream["losses"]}
    lost = sum(sum(stream["lost"].values()) for stream in whole["mrc"]["streams"])
    judge.equal("losses in the table of paths", sum(row["lost"] for row in rows), lost)
    judge.equal("repeats in the table of paths", sum(row["retransmitted"] for row in rows),
                sum(stream["repeats"] for stream in whole["mrc"]["streams"]))
    middle = len(frames) // 2
    for name, some in [(f"1 in {n}, {how}", frames[::n] if how == "regular" else variants.at_random(frames, n, seed))
                       for n in (2, 4, 16) for how in ("regular", "random")] + \
                      [(f"hole of {n}", frames[:middle] + frames[middle + n:]) for n in (60, 400)]:
        told, _ = told_of(program, folder, some)
        streams = {stream["id"]: stream for stream in told["mrc"]["streams"]}
        for loss in told["mrc"]["losses"]:
            stream = streams[loss["stream"]]
            if (stream["src"], stream["dst"], loss["psn"]) not in losing:
                judge.fail(f"{name}: loss of PSN {loss['psn']} was none")
        # Without any SACK nothing is judged anyway.
        heard = any(stream["sacks"] for stream in told["mrc"]["streams"])
        judged = told["capture"]["completeness"]["judges_losses"]
        judge.equal(f"{name}: judges losses", judged and heard, name.startswith("hole"))
        ids = {finding["id"] for finding in told["findings"]} & {"mrc_loss", "mrc_bad_path", "mrc_needless", "mrc_unanswered"}
        if not name.startswith("hole"):
            judge.equal(f"{name}: findings of losses", ids, set())
    for lag_ns, hops in ((300, 0), (5_000, 1), (30_000, 1), (200_000, 1)):
        told, _ = told_of(program, folder, doubled(frames, lag_ns, hops, dice))
        name = f"doubled after {lag_ns} ns"
        keys = ("packets", "repeats", "needless", "not_captured")
        once, twice = ([{key: stream[key] for key in keys} for stream in each["mrc"]["streams"]] for each in (whole, told))
        for stream, again in zip(once, twice):
            judge.equal(name, again, stream)
        # A report that comes again, later, may decide one more.
        for loss in told["mrc"]["losses"]:
            stream = told["mrc"]["streams"][loss["stream"]]
            if (stream["src"], stream["dst"], loss["psn"]) not in losing:
                judge.fail(f"{name}: loss of PSN {loss['psn']} was none")
        if not 0 <= sum(sum(stream["lost"].values()) for stream in told["mrc"]["streams"]) - lost <= 1:
            judge.fail(f"{name}: other losses than once")
        judge.equal(f"{name}: half of it is copies", round(told["capture"]["completeness"]["doubled"], 2), 0.5)
    return judge


def main():
    program = sys.argv[1]
    seeds = [SEED]
    if "--draw" in sys.argv:
        at = sys.argv.index("--draw")
        seeds = range(int(sys.argv[at + 1]), int(sys.argv[at + 1]) + int(sys.argv[at + 2]))
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for kind in mrc_fabric.KINDS:
            totals = Judge(kind)
            for seed in seeds:
                judge = judge_scenario(program, seed, kind, PACKETS, folder)
                totals.mistakes += judge.mistakes
                for name in ("told", "true", "right", "needed", "needless", "open", "repeats"):
                    setattr(totals, name, getattr(totals, name) + getattr(judge, name))
            print(f"{kind:18} losses {totals.right} of {totals.true} told, {totals.told} in all; repeats {totals.repeats}: "
                  f"needed {totals.needed}, needless {totals.needless}, open {totals.open}")
            for mistake in totals.mistakes[:10]:
                print("  FAIL", mistake)
            failed = failed or bool(totals.mistakes)
        for kind in VARIED:
            for seed in seeds:
                mistakes = judge_variants(program, seed, kind, PACKETS, folder).mistakes
                print(f"{kind:18} sampled, with holes, doubled: {len(mistakes)} mistakes")
                for mistake in mistakes[:10]:
                    print("  FAIL", mistake)
                failed = failed or bool(mistakes)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How diagnoses are judged, without any program: truths as text, diagnoses as a report would have them; and what is drawn.
Usage: judgement_test.py"""

import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import causes  # noqa: E402
import diagnosis_limits  # noqa: E402
import judgement  # noqa: E402
from diagnosis_truth import Facts  # noqa: E402
from scenarios import Scenario  # noqa: E402

A, B, C = "10.78.0.1", "10.78.0.2", "10.78.0.3"


def connection(number, a, b, posted=(9, 0), state=("working", "working")):
    return {"connection": number, "a": {"address": a}, "b": {"address": b}, "posted": posted, "state": state,
            "frames": [9, 9]}


def lost(where, direction="a_to_b", kind="write", decidable=True, **more):
    return {"lost": where, "frame": 7 if where == "after_capture" else None, "connection": 0, "direction": direction,
            "kind": kind, "psn": 1, "repeat": False, "decidable": decidable, **more}


def again(cause, direction="a_to_b", kind="write"):
    return {"frame": 8, "connection": 0, "direction": direction, "kind": kind, "psn": 1, "retransmission": cause}


def trouble(cause, side="", hosts=(0, 0), arguments=(), **more):
    return causes.Trouble(cause, 1, Scenario("0000_x", tuple(arguments)), side, hosts=hosts, **more)


def said(cause, sender=None, receiver=None, seen="upstream", host=None, severity="degraded", kind=None):
    return [{"cause": cause, "severity": severity, "kind": kind,
             "place": {"level": "direction", "from": sender, "to": receiver, "host": host, "seen": seen}}]


class Judgement(unittest.TestCase):
    def facts(self, of, *entries):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "truth.jsonl")
            with open(path, "w", encoding="ascii") as file:
                for entry in (*entries, connection(0, A, B), connection(1, C, B), connection(2, A, C),
                              {"totals": {"frames": 100}}):
                    file.write(json.dumps(entry) + "\n")
            return Facts(of, path)

    def outcome(self, of, entries, diagnoses):
        return judgement.judge(of, self.facts(of, *entries), diagnoses).outcome

    def test_clean(self):
        self.assertEqual(self.outcome(trouble("clean"), [], []), "right")
        self.assertEqual(self.outcome(trouble("clean"), [], said("settings")), "wrong")
        self.assertEqual(self.outcome(trouble("clean"), [], said("receiver_not_ready")), "excluded")

    def test_loss_upstream(self):
        of, entries = trouble("loss_upstream", "before", (1, 2)), [lost("before_capture"), again("nak")]
        self.assertEqual(self.outcome(of, entries, said("loss", A, B)), "right")
        self.assertEqual(self.outcome(of, entries, said("loss", B, A)), "wrong")
        self.assertEqual(self.outcome(of, entries, said("loss", A, B, "downstream")), "wrong")
        self.assertEqual(self.outcome(of, entries, said("loss", A, B, "not_known")), "wrong")
        self.assertEqual(self.outcome(of, entries, said("request_or_answer_lost", A, B)), "excluded")
        self.assertEqual(self.outcome(of, entries, said("reordering", A, B)), "excluded")
        self.assertEqual(self.outcome(of, entries, said("no_answer", A, B)), "excluded")
        self.assertEqual(self.outcome(of, entries, []), "wrong")
        self.assertEqual(self.outcome(of, entries, said("loss")), "wrong")             # everywhere
        self.assertEqual(self.outcome(of, entries, said("loss", None, B)), "wrong")    # C to B had none
        self.assertEqual(self.outcome(of, entries, said("loss", host=B)), "wrong")

    def test_loss_to_one_host(self):
        of = trouble("loss_upstream", "before", (0, 2))
        entries = [lost("before_capture"), dict(lost("before_capture"), connection=1), again("nak")]
        for diagnoses in (said("loss", None, B), said("loss", host=B)):
            verdict = judgement.judge(of, self.facts(of, *entries), diagnoses)
            self.assertEqual((verdict.outcome, verdict.narrow), ("right", False))
        verdict = judgement.judge(of, self.facts(of, *entries), said("loss", A, B))
        self.assertEqual((verdict.outcome, verdict.narrow), ("right", True))
        self.assertEqual(self.outcome(of, entries, said("loss", host=A)), "wrong")

    def test_loss_downstream_may_be_left_open(self):
        of, entries = trouble("loss_downstream", "after", (1, 2)), [lost("after_capture", decidable=False), again("nak")]
        self.assertEqual(self.outcome(of, entries, said("loss_or_reordering", A, B, "downstream")), "undecided")
        self.assertEqual(self.outcome(of, entries, said("request_or_answer_lost", A, B, "not_known")), "excluded")
        entries = [lost("after_capture", decidable=False), again("timeout")]
        self.assertEqual(self.outcome(of, entries, said("request_or_answer_lost", B, A, "not_known")), "undecided")

    def test_what_nobody_sees_needs_no_diagnosis(self):
        of = trouble("lost_answers", "after", (2, 1))
        self.assertEqual(self.outcome(of, [lost("after_capture", "b_to_a", "ack", False)], []), "right")
        entries = [lost("after_capture", "b_to_a", "ack", False), again("timeout")]
        self.assertEqual(self.outcome(of, entries, []), "wrong")
        self.assertEqual(self.outcome(of, entries, said("answers_lost", B, A, "downstream")), "right")
        self.assertEqual(self.outcome(of, entries, said("request_or_answer_lost", B, A, "not_known")), "wrong")

    def test_corruption(self):
        of = trouble("corruption", "before")
        entries = [lost("before_capture", damaged=True) | {"frame": 3}, again("nak")]
        self.assertEqual(self.outcome(of, entries, said("corruption", A, B)), "right")
        self.assertEqual(self.outcome(of, entries, said("loss", A, B)), "wrong")
        behind = trouble("corruption", "after")
        entries = [lost("after_capture", damaged=True), again("nak")]
        self.assertEqual(self.outcome(behind, entries, said("loss", A, B, "downstream")), "right")
        self.assertEqual(self.outcome(behind, entries, said("corruption", A, B, "upstream")), "excluded")

    def test_severity_is_fatal_where_a_connection_ended(self):
        of = trouble("request_refused", hosts=(1, 2))
        entries = [dict(connection(3, A, B), state=("access_error", "access_error"))]
        verdict = judgement.judge(of, self.facts(of, *entries), said("request_refused", A, B, "responder", severity="fatal"))
        self.assertEqual((verdict.outcome, verdict.severity), ("right", True))
        verdict = judgement.judge(of, self.facts(of, *entries), said("request_refused", A, B, "responder"))
        self.assertEqual((verdict.outcome, verdict.severity), ("right", False))

    def test_pauses_name_the_host_that_pauses(self):
        of = trouble("pause_storm", hosts=(0, 2))
        entries = [{"pause": "storm", "port": "52:54:00:00:00:02"}, again("timeout")]
        self.assertEqual(self.outcome(of, entries, said("pause", host=B)), "right")
        self.assertEqual(self.outcome(of, entries, said("pause", host="52:54:00:00:00:02")), "right")
        self.assertEqual(self.outcome(of, entries, said("pause", host=C)), "wrong")
        self.assertEqual(self.outcome(of, entries, said("request_or_answer_lost", A, B)), "wrong")

    def test_timers_may_be_named_from_either_end(self):
        of, entries = trouble("slow_responder", hosts=(0, 2)), [again("read_retry"), dict(again("read_retry"), connection=1)]
        for diagnoses in (said("timer_too_short", None, B, "responder"), said("timer_too_short", B, None, "responder"),
                          said("timer_too_short", host=B, seen="responder"), said("timer_too_short", B, A, "responder")):
            self.assertEqual(self.outcome(of, entries, diagnoses), "right")
        self.assertEqual(self.outcome(of, entries, said("timer_too_short", A, C, "responder")), "wrong")

    def test_an_outage_is_excluded_where_something_got_through(self):
        of, entries = trouble("lost_answers", "before", (2, 1)), [lost("before_capture", "b_to_a", "ack", False), again("timeout")]
        outage = [said("outage", A, B, "not_known")[0] | {"at_least": 1, "since": 1000, "until": 2000}]
        for passed, outcome in (([], "undecided"),
                                ([(1, 1500, A, B), (2, 1010, B, A), (3, 1990, B, A)], "undecided"),  # under way at its edges
                                ([(1, 1500, A, B), (2, 1500, B, A)], "excluded"),
                                ([(1, 1500, C, A)], "undecided")):
            facts = self.facts(of, *entries)
            facts.passed = lambda packets=passed: packets
            self.assertEqual(judgement.judge(of, facts, outage).outcome, outcome, passed)
        self.assertEqual(self.outcome(of, entries, [outage[0] | {"at_least": 2}]), "excluded")
        self.assertEqual(self.outcome(trouble("clean"), [], outage), "excluded")

    def test_kind_of_loss(self):
        of, entries = trouble("loss_upstream", "before", rows=20), [lost("before_capture"), again("nak")]
        facts = self.facts(of, *entries)
        for kind, right in ((None, True), ("bursts", True), ("single", False), ("by_size", False)):
            self.assertEqual(judgement.judge(of, facts, said("loss", A, B, kind=kind)).kind, right)


class Draw(unittest.TestCase):
    def test_scenarios_do_not_depend_on_each_other(self):
        self.assertEqual(causes.draw(5, 7, 3000), causes.draw(5, 7, 3000))
        self.assertNotEqual(causes.draw(5, 7, 3000), causes.draw(6, 7, 3000))
        self.assertNotEqual(causes.draw(5, 7, 3000), causes.draw(5, 7 + len(causes.CAUSES), 3000))

    def test_every_cause_is_judged(self):
        self.assertEqual(set(judgement.EXPECTED) | {"clean"}, set(causes.CAUSES))
        self.assertLessEqual(set(diagnosis_limits.WRONG_TODAY) | set(diagnosis_limits.EXCLUDED_TODAY), set(causes.CAUSES))

    def test_a_missed_limit_is_named(self):
        counts = {"scenarios": 10, "right": 8, "wrong": 1, "excluded": 1}
        self.assertEqual(len(diagnosis_limits.missed({"clean": counts})), 2)
        self.assertEqual(diagnosis_limits.missed({"clean": {"scenarios": 20, "wrong": 1, "excluded": 0}}), [])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Troubles with one cause and one place, from which tests/truth/diagnose draws. Every scenario has the environment of
kinds.py, then a scope (everywhere, one way, all to or all from one host), then its cause."""

import dataclasses

import kinds
from scenarios import Scenario


@dataclasses.dataclass(frozen=True)
class Trouble:
    """What was done to the traffic; judgement.py says what a diagnosis of it must name."""
    cause: str                 # a key of CAUSES
    seed: int                  # of the generator
    scenario: Scenario
    side: str = ""             # of the capture, where packets suffered: before, after
    scope: str = "all"         # all, way, to, from
    hosts: tuple = (0, 0)      # from, to: numbers of the generator; 0: any
    rows: int = 1              # packets lost in a row
    policy: bool = False       # the report is asked to hold marks against the design
    told: tuple = ()           # further options of the report: what an engineer knows of the network

    def option(self, name, default=None):
        arguments = self.scenario.arguments
        return arguments[arguments.index(name) + 1] if name in arguments else default


def ways(options):
    """(host of A, host of B) of each connection, as the generator joins them (Simulator::make_endpoints)."""
    hosts = options["hosts"]
    found = []
    for i in range(options["qps"]):
        a = i % hosts
        found.append((a + 1, (a + 1 + (i // hosts) % (hosts - 1)) % hosts + 1))
    return found


class Draft:
    """The options of one scenario while they are drawn."""

    def __init__(self, dice, options, packets):
        self.dice, self.options, self.packets = dice, options, packets
        self.side, self.scope, self.rows, self.policy, self.told = "", "all", 1, False, ()
        self.share = 1.0  # of the traffic, in scope

    def choose_scope(self, answers=False, of=("all", "way", "way", "to", "from")):
        """`answers`: what suffers are answers, which go from B to A; else requests or both."""
        self.scope = self.dice.pick(*of)
        joined = ways(self.options)
        a, b = joined[int(self.dice.source.random() * len(joined))]
        sender, receiver = (b, a) if answers else (a, b)
        if self.scope in ("way", "from"):
            self.options["only-from"] = sender
        if self.scope in ("way", "to"):
            self.options["only-to"] = receiver
        chosen = {"all": lambda x, y: True, "way": lambda x, y: (x, y) == (a, b),
                  "from": lambda x, y: sender == (y if answers else x),
                  "to": lambda x, y: receiver == (x if answers else y)}[self.scope]
        self.share = sum(chosen(x, y) for x, y in joined) / len(joined)

    def rate(self, low, high, of=1.0, most=0.15):
        """That some packets suffer, `low` to `high` of those in scope; `of` all packets that share can."""
        wanted = self.dice.between(low, high)
        return float(f"{min(most, wanted / (self.packets * self.share * of)):.3g}")

    def choose_side(self):
        self.side = self.dice.pick("before", "after")
        return self.side

    def lose(self, low, high, of=1.0):
        side = self.side or self.choose_side()
        shape = self.dice.pick("single", "single", "rows", "outage")
        if shape == "outage":
            timer = 4096 << self.options["timeout"]
            self.options[f"outage-{side}-ns"] = self.dice.between(30_000, 500_000)
            self.options["outage-ns"] = self.dice.between(timer // 8, 2 * timer)
            return
        if shape == "rows":
            self.rows = self.options["loss-row"] = self.dice.between(4, 30)
        self.options["loss-" + side] = float(f"{self.rate(low, high, of) / max(1, self.rows / 4):.3g}")


def environment(dice):
    options = kinds.environment(dice)
    # A small path MTU and one UDP port for all queue pairs are troubles of their own (settings).
    options["path-mtu"] = dice.pick(1024, 1024, 4096)
    options["udp-port"] = dice.pick("formula", "formula", "random")
    return options


def clean(draft):
    kinds.clean(draft.dice, draft.options)


def loss(draft):
    draft.choose_scope()
    draft.options.update(victims=draft.dice.pick("requests", "requests", "all"),
                         recovery=draft.dice.pick("go_back_n", "go_back_n", "go_back_message", "selective_repeat", "in_any_order"))
    draft.lose(8, 150)


def loss_upstream(draft):
    draft.side = "before"
    loss(draft)


def loss_downstream(draft):
    draft.side = "after"
    loss(draft)


def lost_answers(draft):
    draft.options.update(mix=draft.dice.pick(*kinds.WRITES_AND_SENDS), victims="responses")
    draft.choose_scope(answers=True)
    draft.lose(30, 200, of=0.1)


def lost_read_responses(draft):
    draft.options.update(mix=draft.dice.pick(*kinds.READS_AND_ATOMICS), victims="responses")
    draft.choose_scope(answers=True)
    draft.lose(8, 150, of=0.7)


def corruption(draft):
    draft.choose_scope()
    draft.options["snap"] = 0  # the ICRC is the frame's last field
    draft.side = draft.dice.pick("before", "before", "before", "after")
    draft.options["corrupt-" + draft.side] = draft.rate(8, 100)


def reordering(draft):
    answers = draft.dice.chance(0.3)
    draft.options.update(mix=draft.dice.pick(*(kinds.READS if answers else kinds.WRITES_AND_SENDS)),
                         victims="responses" if answers else "requests")
    draft.choose_scope(answers)
    draft.options["reorder-" + draft.choose_side()] = draft.rate(10, 150, of=0.7)


def receiver_not_ready(draft):
    draft.choose_scope()
    kinds.receiver_not_ready(draft.dice, draft.options)
    draft.options["rnr"] = draft.rate(4, 60, of=0.1, most=0.3)
    draft.options["rnr-retry"] = draft.dice.pick(7, 7, 3)


def request_refused(draft):
    draft.choose_scope()
    draft.options.update({"mix": draft.dice.pick((1, 0, 0, 0), (0, 0, 1, 0), (4, 3, 2, 1)), "both-directions": 0})
    draft.options["access"] = draft.rate(2, 20, of=0.1, most=0.3)


def slow_responder(draft):
    draft.choose_scope()
    draft.options["mix"] = draft.dice.pick(*kinds.READS_AND_ATOMICS, *kinds.ANY_MIX[:2])
    draft.options["slow"] = draft.rate(4, 40, of=0.1, most=0.1)


def dead_direction(draft):
    draft.choose_scope(of=("way", "way", "to", "from"))  # where all is dead the capture just ends
    draft.options["timer-grows"] = draft.dice.chance(0.3)
    draft.options[f"outage-{draft.choose_side()}-ns"] = draft.dice.between(30_000, 300_000)


def pause_storm(draft):
    options = draft.options
    host = draft.dice.pick(*sorted({host for way in ways(options) for host in way}))
    draft.scope = "to"
    options.update({"faults": "pauses", "cm": False, "pause-kind": "storm", "pause-host": host, "pauses-hold": True,
                    "pause-from-ns": draft.dice.between(30_000, 300_000),
                    "pause-for-ns": draft.dice.between(3_000_000, 30_000_000), "link-gigabits": draft.dice.pick(25, 100),
                    "only-to": host})
    if draft.dice.chance(0.7):  # else how long a pause may last is not known
        draft.told = ("--link-speed", f"{options['link-gigabits']}G", "--pause-storm", "2ms")


def wrong_marks(draft):
    draft.choose_scope()
    draft.policy = True
    draft.options.update({"faults": "marks", "loss-before": 0, "loss-after": 0, "cm": False, "mismarked": 1,
                          "mismark": draft.dice.pick("dscp", "ecn", "pcp", "untagged", "vlan", "ttl", "later")})


def congestion(draft):
    draft.choose_scope()
    draft.policy = True
    draft.options.update({"faults": "congestion", "cm": False, "mismarked": 0, "congested": 1,
                          "ce": draft.dice.rate(0.02, 0.3), "cnp-delay-ns": draft.dice.between(2_000, 40_000),
                          "cnp-spacing-ns": draft.dice.between(4_000, 50_000),
                          "cnp-per": draft.dice.pick("flow", "address_pair", "port")})
    fault = draft.dice.pick(None, "missing", "missing", "without_ce")
    draft.options["cnp-faults"] = 0 if fault is None else 1
    if fault:
        draft.options["cnp-fault"] = fault


# Name -> what it does. Scenario K is of cause K modulo their count.
CAUSES = {cause.__name__: cause for cause in (
    clean, loss_upstream, loss_downstream, lost_answers, lost_read_responses, corruption, reordering, receiver_not_ready,
    request_refused, slow_responder, dead_direction, pause_storm, wrong_marks, congestion)}


def draw(seed, number, packets):
    """The Trouble of scenario `number`."""
    cause = list(CAUSES)[number % len(CAUSES)]
    dice = kinds.Dice("diagnose", seed, number)
    options = environment(dice)
    draft = Draft(dice, options, packets)
    CAUSES[cause](draft)
    kinds.guard(options)
    if "faults" in options:  # a preset comes first: what follows goes over it
        options = {"faults": options.pop("faults"), **options}
    scenario = Scenario(f"{number:04}_{cause}", tuple(kinds.arguments_of(options)))
    return Trouble(cause, dice.seed(), scenario, draft.side, draft.scope,
                   (options.get("only-from", 0), options.get("only-to", 0)), draft.rows, draft.policy, draft.told)

# SPDX-License-Identifier: Apache-2.0
"""Kinds of traffic and trouble from which scenarios are drawn. Every scenario first gets an environment that has nothing
to do with its kind (operations, sizes, queue pairs, times, IP, capture), then its kind sets what it is about."""

import random

from scenarios import Scenario


class Dice:
    """The same numbers on every version of Python: only random() is promised to stay as it is."""

    def __init__(self, *seed):
        self.source = random.Random(":".join(map(str, seed)))

    def chance(self, probability):
        return self.source.random() < probability

    def pick(self, *choices):
        return choices[int(self.source.random() * len(choices))]

    def between(self, low, high):
        """A whole number; one of 1 to 10 is as likely as one of 10 to 100."""
        return int(round(low * (high / low) ** self.source.random()))

    def rate(self, low, high):
        return float(f"{low * (high / low) ** self.source.random():.3g}")

    def seed(self):
        return 1 + int(self.source.random() * (1 << 40))


# Weights of WRITE SEND READ ATOMIC.
ANY_MIX = ((4, 3, 2, 1), (1, 0, 0, 0), (0, 1, 0, 0), (1, 1, 0, 0), (1, 0, 1, 0), (2, 0, 3, 2), (0, 3, 1, 1))
WRITES_AND_SENDS = ((1, 0, 0, 0), (0, 1, 0, 0), (1, 1, 0, 0))
READS = ((0, 0, 1, 0), (1, 0, 3, 0), (0, 1, 4, 1))
READS_AND_ATOMICS = ((0, 0, 1, 0), (0, 0, 1, 1), (0, 0, 0, 1), (1, 0, 2, 2))
IP = ("counter", "counter", "counter", "flow", "flow", "random", "constant", "ipv6", "ipv6")


def environment(dice):
    longest = dice.pick(2, 4, 8, 16, 32)
    options = {
        "qps": dice.pick(1, 2, 4, 8, 16, 32), "hosts": dice.pick(2, 3, 4, 6), "path-mtu": dice.pick(256, 1024, 1024, 4096),
        "max-message-packets": longest, "window": max(2 * longest, dice.pick(16, 64, 128, 256)),
        "max-reads": dice.pick(1, 4, 16), "ack-every": dice.pick(1, 3, 8), "mix": dice.pick(*ANY_MIX),
        "both-directions": dice.pick(0, 0.5, 1), "burst": dice.pick(8, 24, 64), "idle-ns": dice.between(5_000, 200_000),
        "timeout": dice.pick(7, 8, 9, 10), "latency-a-ns": dice.between(300, 20_000),
        "latency-b-ns": dice.between(300, 20_000), "packet-gap-ns": dice.between(50, 500),
        "turnaround-ns": dice.between(200, 5_000), "reaction-ns": dice.between(300, 5_000),
        "reorder-delay-ns": dice.between(1_000, 30_000), "first-psn": dice.pick("random", "random", "zero", "wrap"),
        "udp-port": dice.pick("formula", "formula", "random", "constant"), "format": dice.pick("pcap", "pcap", "pcapng"),
        "cm": dice.chance(0.2),
    }
    ip = dice.pick(*IP)
    options["ipv6"] = ip == "ipv6"
    if ip != "ipv6":
        options["ip-id"] = ip
    # Headers are always whole: without a READ's length nobody can know what is missing of its responses.
    options["snap"] = dice.pick(0, 0, 0, 128) if ip == "ipv6" else dice.pick(0, 0, 0, 96, 128)
    return options


def loss(dice, options, low=0.0005, high=0.02):
    """On one side of the capture or on both."""
    side = dice.pick("before", "after", "both")
    for name in ("before", "after"):
        if side in (name, "both"):
            options["loss-" + name] = dice.rate(low, high)


def reorder(dice, options, low, high, what="reorder"):
    side = dice.pick("before", "after", "both")
    for name in ("before", "after"):
        if side in (name, "both"):
            options[f"{what}-{name}"] = dice.rate(low, high)


def clean(dice, options):
    options["recovery"] = dice.pick("go_back_n", "in_any_order", "selective_repeat")


def random_loss(dice, options):
    loss(dice, options)


def tail_drop(dice, options):
    loss(dice, options, 0.0003, 0.003)
    options["loss-row"] = dice.between(4, 60)


def lost_answers(dice, options):
    options.update(mix=dice.pick(*WRITES_AND_SENDS), victims="responses")
    loss(dice, options, 0.005, 0.1)
    options["duplicate-" + dice.pick("before", "after")] = dice.pick(0, 0.02)


def lost_read_responses(dice, options):
    options.update(mix=dice.pick(*READS_AND_ATOMICS), victims="responses")
    loss(dice, options, 0.001, 0.02)


def whole_message(dice, options):
    options["recovery"] = "go_back_message"
    loss(dice, options)


def receiver_not_ready(dice, options):
    options.update({"mix": dice.pick((0, 1, 0, 0), (2, 3, 1, 0)), "rnr": dice.rate(0.005, 0.05),
                    "rnr-timer": dice.pick(1, 3, 6, 10), "nak-after-rnr": dice.pick(0, 1)})


def soft_roce(dice, options):
    options.update({"recovery": "go_back_n", "path-mtu": 1024, "turnaround-ns": dice.between(10_000, 80_000),
                    "reaction-ns": dice.between(10_000, 80_000), "packet-gap-ns": dice.between(1_000, 6_000),
                    "latency-a-ns": dice.between(5_000, 40_000), "latency-b-ns": dice.between(5_000, 40_000),
                    "timeout": dice.pick(12, 14), "nak-after-rnr": 1, "rnr": dice.pick(0, 0.01)})
    loss(dice, options)


def slow_responder(dice, options):
    options.update(mix=dice.pick(*READS_AND_ATOMICS), slow=dice.rate(0.002, 0.03))


def slow_drops_queue(dice, options):
    options.update({"mix": dice.pick(*READS), "slow": dice.rate(0.002, 0.03), "drop-queued": True})


def late_read_responses(dice, options):
    options.update(mix=dice.pick(*READS), victims="responses")
    reorder(dice, options, 0.001, 0.03)


def late_requests(dice, options):
    options.update(mix=dice.pick(*WRITES_AND_SENDS), victims="requests")
    reorder(dice, options, 0.001, 0.03)


def spraying(dice, options):
    options.update({"recovery": "in_any_order", "mix": dice.pick((1, 0, 0, 0), (4, 1, 0, 0))})
    reorder(dice, options, 0.1, 0.8)


def spraying_reads(dice, options):
    options.update({"recovery": "in_any_order", "mix": dice.pick(*READS), "victims": dice.pick("all", "responses")})
    reorder(dice, options, 0.1, 0.8)


def spraying_loss(dice, options):
    options["recovery"] = "in_any_order"
    reorder(dice, options, 0.1, 0.8)
    loss(dice, options, 0.0005, 0.01)


def oldest_by_timer(dice, options):
    options.update({"recovery": "in_any_order", "timer-sends-oldest": True, "timer-grows": dice.chance(0.3)})
    if dice.chance(0.5):
        reorder(dice, options, 0.1, 0.8)
    loss(dice, options, 0.0005, 0.01)


def nak_every(dice, options):
    options.update({"recovery": dice.pick("go_back_n", "selective_repeat"), "nak-every": True})
    if dice.chance(0.5):
        reorder(dice, options, 0.001, 0.05)
    if dice.chance(0.7):
        loss(dice, options)


def selective_repeat(dice, options):
    options["recovery"] = "selective_repeat"
    if dice.chance(0.5):
        reorder(dice, options, 0.01, 0.1)
    loss(dice, options)


def flowlets(dice, options):
    options["recovery"] = dice.pick("go_back_n", "in_any_order", "selective_repeat")
    reorder(dice, options, 0.001, 0.02, "flowlet")


def long_way(dice, options):
    one_way = dice.between(1_000_000, 25_000_000)
    near = dice.rate(0.01, 0.99)
    options.update({"latency-a-ns": int(one_way * near), "latency-b-ns": int(one_way * (1 - near)), "qps": dice.pick(1, 2, 4),
                    "window": dice.pick(1024, 4096), "burst": dice.pick(100, 400), "max-reads": dice.pick(16, 64),
                    "timeout": dice.pick(15, 16, 17), "packet-gap-ns": dice.between(200, 2_000)})
    loss(dice, options, 0.0001, 0.001)


def capture_misses(dice, options):
    options.update({"capture-drop": dice.rate(0.0005, 0.02), "capture-row": dice.between(1, 50)})


def capture_misses_loss(dice, options):
    capture_misses(dice, options)
    loss(dice, options)


def sampled(dice, options):
    options["capture-drop"] = dice.pick(0.9, 0.95, 0.99)


def jittered_stamps(dice, options):
    options["stamp-jitter-ns"] = dice.between(500, 50_000)
    if dice.chance(0.5):
        loss(dice, options)


def batched_stamps(dice, options):
    """tcpdump on the lower host: what it receives is stamped when the interrupt is served, what it sends at once."""
    options.update({"rx-batch-ns": dice.between(5_000, 60_000), "latency-a-ns": 300, "both-directions": 0})
    loss(dice, options)


def two_clocks(dice, options):
    options["clock-b-ns"] = dice.pick(-1, 1) * dice.between(1_000, 3_000_000)
    if dice.chance(0.5):
        loss(dice, options)


def mirrored(dice, options):
    options.update({"capture-duplicate": dice.pick(0.01, 0.3, 1), "mirror": dice.pick("same", "vlan", "hop"),
                    "mirror-delay-ns": dice.between(100, 50_000)})
    if dice.chance(0.5):
        loss(dice, options)


def doubled(dice, options):
    for side in ("before", "after"):
        options["duplicate-" + side] = dice.rate(0.0005, 0.02)


def queue_pairs_reused(dice, options):
    at_once = dice.pick(1, 2, 4, 8)
    options.update({"generations": 64, "qps": 64 * at_once, "life-ns": dice.between(50_000, 500_000),
                    "reuse-after-ns": dice.between(100_000, 500_000_000), "first-psn": dice.pick("zero", "zero", "random"),
                    "cm": False})
    if dice.chance(0.4):
        loss(dice, options)


def falls_silent(dice, options):
    options.update({"blackout": dice.rate(0.05, 0.5), "timer-grows": dice.chance(0.5), "retry-count": dice.pick(1, 3, 7)})


def everything(dice, options):
    rate = dice.rate(0.0005, 0.01)
    for name in ("loss-before", "loss-after", "duplicate-before", "duplicate-after", "reorder-before", "reorder-after",
                 "capture-drop", "capture-duplicate", "rnr"):
        options[name] = rate
    options["slow"] = rate / 10


def heavy_loss(dice, options):
    """A link that hardly works. Small windows: all of one is sent again for each loss."""
    longest = dice.pick(2, 4, 8)
    options.update({"max-message-packets": longest, "window": dice.pick(16, 32)})
    options["recovery"] = dice.pick("go_back_n", "go_back_n", "go_back_message", "selective_repeat")
    options["timer-grows"] = dice.chance(0.3)
    loss(dice, options, 0.2, 0.4)


def trimming(dice, options, variant):
    options.update({"trim-percent": dice.rate(0.1, 8), "trim-size": dice.pick(128, 128, 192, 256), "trim-variant": variant,
                    "trim-dscp": dice.pick(10, 11, 20, 48), "cm": False})
    # Headers of trimmed packets are whole as well.
    options["snap"] = dice.pick(0, 0, 128)
    if variant != "remarked" and dice.chance(0.3):
        loss(dice, options)


def trimmed(dice, options):
    trimming(dice, options, "a")


def trimmed_ip_length_kept(dice, options):
    trimming(dice, options, "b")


def trimmed_remarked(dice, options):
    """What is left whole arrives, but overtakes."""
    trimming(dice, options, "remarked")


# Name -> what it sets. Scenario K is of kind K modulo their count.
KINDS = {kind.__name__: kind for kind in (
    clean, random_loss, tail_drop, lost_answers, lost_read_responses, whole_message, receiver_not_ready, soft_roce,
    slow_responder, slow_drops_queue, late_read_responses, late_requests, spraying, spraying_reads, spraying_loss,
    oldest_by_timer, nak_every, selective_repeat, flowlets, long_way, capture_misses, capture_misses_loss, sampled,
    jittered_stamps, two_clocks, mirrored, doubled, queue_pairs_reused, falls_silent, everything)}
# Kinds that came later have scenarios from other numbers on, so that all others stay what they were.
LATER_KINDS = {kind.__name__: kind for kind in (heavy_loss,)}
HOST_KINDS = {kind.__name__: kind for kind in (batched_stamps,)}
FABRIC_KINDS = {kind.__name__: kind for kind in (trimmed, trimmed_ip_length_kept, trimmed_remarked)}
GROUPS = ((0, KINDS), (100_000, LATER_KINDS), (200_000, HOST_KINDS), (1_000_002, FABRIC_KINDS))
ALL_KINDS = {**KINDS, **LATER_KINDS, **HOST_KINDS, **FABRIC_KINDS}
# Without a renewed IP length nothing but the DSCP tells of each packet for itself.
TOLD = {"trimmed_ip_length_kept": "trim-dscp", "trimmed_remarked": "trim-dscp"}


def arguments_of(options):
    for name, value in options.items():
        if value is True:
            yield "--" + name
        elif value is not False:
            yield "--" + name
            yield from map(str, value if isinstance(value, tuple) else (value,))


def guard(options):
    """An answer that comes within a round trip of going back was sent before."""
    round_trip = 2 * (options["latency-a-ns"] + options["latency-b-ns"])
    options["implied-guard-ns"] = max(10_000, round_trip + 2 * options["turnaround-ns"])


def kind_of(number):
    first, of = max((group for group in GROUPS if group[0] <= number), key=lambda group: group[0])
    return list(of)[(number - first) % len(of)]


def draw(seed, number):
    """(kind, seed of the generator, Scenario)"""
    kind = kind_of(number)
    dice = Dice(seed, number)
    options = environment(dice)
    ALL_KINDS[kind](dice, options)
    guard(options)
    ids = not options["ipv6"] and options["ip-id"] in ("counter", "flow")
    scenario = Scenario(f"{number:04}_{kind}", tuple(arguments_of(options)), ids=ids, first_answers=True,
                        longest_read=options["max-message-packets"] - 1,
                        told=("--trimmed-dscp", str(options[TOLD[kind]])) if kind in TOLD else ())
    return kind, dice.seed(), scenario

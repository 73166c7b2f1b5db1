# SPDX-License-Identifier: Apache-2.0
"""What `lab` plays in a fabric of real hosts: tools, their parameters, and what befalls each direction, drawn from a seed.

Scenario K of a seed is always the same. Nothing here talks to a machine."""

import dataclasses
import math
import random

BANDWIDTH = ("ib_write_bw", "ib_send_bw", "ib_read_bw", "ib_atomic_bw")
LATENCY = ("ib_write_lat", "ib_send_lat", "ib_read_lat", "ib_atomic_lat")
OTHERS = ("rping", "ibv_rc_pingpong", "ibv_srq_pingpong")
PATH_MTUS = (256, 512, 1024, 1024, 1024, 2048, 4096)
IPV4, IPV6 = "10.77.0.2", "fd77::2"
SECONDS = 60  # of a client, at most


@dataclasses.dataclass
class Scenario:
    name: str
    title: str
    server: str
    client: str
    netem: dict  # "B": what befalls packets to B, "A": packets to A


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def percent(rng, low, high):
    return f"{log_uniform(rng, low, high):.2f}%"


# What may befall a direction: (weight, netem's parameters). A small limit is a short queue, which drops what comes too much.
IMPAIRMENTS = {
    "loss": (6, lambda rng: f"limit 200000 loss {percent(rng, 0.2, 8)}"),
    "loss_rows": (3, lambda rng: f"limit 200000 loss gemodel {percent(rng, 0.2, 2)} {percent(rng, 15, 60)}"),
    "tail_drop": (3, lambda rng: f"limit {rng.randint(4, 40)} rate {rng.choice((2, 4, 6, 10))}mbit"),
    "delay": (1, lambda rng: f"limit 200000 delay {rng.choice((1, 5, 20))}ms"),
    "jitter": (2, lambda rng: "limit 200000 delay {0}ms {1}ms".format(*rng.choice(((2, 1), (5, 2), (10, 5), (20, 3))))),
    "reorder": (2, lambda rng: f"limit 200000 delay {rng.choice((1, 3, 8))}ms reorder {rng.choice((90, 95, 97, 99))}%"),
    "duplicate": (1, lambda rng: f"limit 200000 duplicate {percent(rng, 0.5, 10)}"),
    "corrupt": (2, lambda rng: f"limit 200000 corrupt {percent(rng, 0.3, 3)}"),
    "loss_delay": (2, lambda rng: f"limit 200000 delay {rng.choice((2, 10, 40))}ms loss {percent(rng, 0.3, 4)}"),
    "loss_reorder": (2, lambda rng: f"limit 200000 delay {rng.choice((1, 3))}ms loss {percent(rng, 0.3, 4)} "
                                    f"reorder {rng.choice((90, 97))}%"),
    "loss_duplicate": (1, lambda rng: f"limit 200000 loss {percent(rng, 0.3, 4)} duplicate {percent(rng, 0.5, 5)}"),
}


def impairment(rng, ipv6):
    """Without IPv4 IDs nobody can tell a copy that the network made from a repeat: no duplicates there."""
    kinds = [k for k in IMPAIRMENTS if not (ipv6 and "duplicate" in k)]
    kind = rng.choices(kinds, [IMPAIRMENTS[k][0] for k in kinds])[0]
    seeded = "" if kind in ("tail_drop", "delay") else f" seed {rng.randint(1, 1 << 30)}"
    return kind, "netem " + IMPAIRMENTS[kind][1](rng) + seeded


def perftest(rng, tool, ipv6):
    """The parameters of both ends of a perftest program."""
    path_mtu, packets = rng.choice(PATH_MTUS), log_uniform(rng, 200, 1600)
    size = 8 if "atomic" in tool else int(log_uniform(rng, 1, 65536))
    pairs = rng.choice((1, 1, 1, 2, 3, 4, 8)) if tool in BANDWIDTH else 1
    both = tool in BANDWIDTH and rng.random() < 0.3
    round_trips = tool in LATENCY
    messages = packets / -(-size // path_mtu) / pairs / (1 + both)
    out = [f"-d rxe0 -F -x {2 if ipv6 else 1} -m {path_mtu} -n {max(5, int(messages / (4 if round_trips else 1)))}"]
    out.append(f"-u {rng.choice((14, 14, 14, 14, 11, 12, 16, 17))}")
    if "atomic" in tool:
        out.append(f"-A {rng.choice(('FETCH_AND_ADD', 'CMP_AND_SWAP'))}")
    else:
        out.append(f"-s {size}")
    if tool in BANDWIDTH:
        out.append(f"-q {pairs} -t {rng.choice((1, 4, 16, 64, 128))}" + (" -b" if both else ""))
    if ("read" in tool or "atomic" in tool) and rng.random() < 0.5:
        out.append(f"-o {rng.choice((1, 2, 4, 16))}")
    if tool == "ib_send_bw" and rng.random() < 0.4:
        out.append(f"-r {rng.choice((1, 4, 16))}" + (" --use-srq" if rng.random() < 0.5 else ""))
    if tool in BANDWIDTH and not ipv6 and rng.random() < 0.1:
        out.append("-R")
    return f"{tool} {' '.join(out)}", IPV4


def pingpong(rng, tool, ipv6):
    size, path_mtu = int(log_uniform(rng, 16, 32768)), rng.choice((256, 512, 1024, 2048, 4096))
    count = max(20, int(log_uniform(rng, 100, 800) / -(-size // path_mtu) / 2))
    pairs = f" -q {rng.choice((2, 4, 8))} -r {rng.choice((16, 100))}" if tool == "ibv_srq_pingpong" else f" -r {rng.choice((5, 100))}"
    return f"{tool} -d rxe0 -g {2 if ipv6 else 1} -m {path_mtu} -s {size} -n {count}{pairs}", IPV4


def rping(rng, ipv6):
    size = int(log_uniform(rng, 64, 60000))
    count = max(10, int(log_uniform(rng, 100, 800) / (4 + 2 * -(-size // 4096))))
    address = IPV6 if ipv6 else IPV4
    return f"rping -s -a {address} -S {size} -C {count}", f"rping -c -a {address} -S {size} -C {count}"


def draw(seed, number):
    rng = random.Random(f"lab {seed} {number}")
    tool = rng.choices(BANDWIDTH + LATENCY + OTHERS, [5, 4, 5, 3] + [1] * 4 + [2, 1, 1])[0]
    ipv6 = rng.random() < 0.3
    if tool == "rping":
        server, client = rping(rng, ipv6)
    else:
        server, target = (pingpong if tool in OTHERS else perftest)(rng, tool, ipv6)
        client = f"{server} {target}"
    netem, kinds = {}, []
    for host in rng.choices((("B",), ("A",), ("B", "A"), ()), (40, 30, 24, 6))[0]:
        kind, netem[host] = impairment(rng, ipv6)
        kinds.append(f"{kind}_{'ab' if host == 'B' else 'ba'}")
    name = f"s{seed}_{number:03}_{tool.removeprefix('ib_').removeprefix('ibv_')}{'6' if ipv6 else ''}_{'_'.join(kinds) or 'nothing'}"
    return Scenario(name, f"{client}; {', '.join(f'to {host}: {spec}' for host, spec in netem.items()) or 'no impairment'}",
                    f"timeout {SECONDS + 30} {server}", f"timeout {SECONDS} {client}", netem)


def difference(before, after):
    """Of counters: those that moved."""
    return {name: after[name] - value for name, value in before.items() if after.get(name, value) != value}


def entry(scenario, played):
    """The manifest's entry, in the form of those of the samples."""
    steps = [{"on": "A", "phase": "client", "cmd": scenario.client, "rc": played["client"][0], "output": played["client"][1]},
             {"on": "B", "phase": "server", "cmd": scenario.server, "rc": played["server"][0], "output": played["server"][1]}]
    netem = [{"on": "C", "dev": played["ports"][host], "spec": spec, "tc_s_after": played["qdisc"][host][0],
              "sent_pkts": played["qdisc"][host][1], "dropped": played["qdisc"][host][2]}
             for host, spec in scenario.netem.items()]
    files = [{"file": f"{scenario.name}.c{host.lower()}.pcap", "capture_point": f"switch C, port facing {host}",
              "capture_tool_says": played["tcpdump"][host]} for host in "AB"]
    return {"name": scenario.name, "title": scenario.title, "notes": "", "link_mtu": played["link_mtu"],
            "env": {host.lower(): played["env"][host] for host in "AB"}, "steps": steps, "netem": netem,
            "client_rc": played["client"][0], "server_rc": played["server"][0],
            "hw_counters_delta": {host: difference(*played["counters"][host]) for host in "AB"}, "files": files,
            "took_s": played["took_s"]}

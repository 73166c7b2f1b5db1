#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first diagnosis of every sample, against what was done to its network and what its hosts counted.

    diagnosis_samples.py ROCEANALYZE [FOLDER] [--details]

FOLDER (default: the project's samples/) holds captures and the manifest.json that tells how they were made. --details prints
what is expected of each file and what is said. Exit status: 0 all are right or listed in TODAY, 1 one is wrong or one of TODAY
no longer is, 77 the report has no diagnoses.

What is expected comes from the manifest, first that fits:
1. A NAK that refuses (AETH syndromes 0x61 to 0x63): the request of A, who is the client everywhere, was refused by B.
2. RNR NAKs received (rcvd_rnr_err): the peer's receiver was not ready.
3. What netem did, on the switch's port toward B (A to B) or toward A (B to A), or in the sending host: loss (of requests, of READ
   responses, of answers), flipped bits, delays that reorder, duplicates, CE marks. It lies between the two captures of a scenario:
   .a and .ca are upstream of it from A to B and downstream from B to A, .b and .cb the other way; a capture of both ports shows
   that it lies between them. Answers that nothing was sent again for (completer_retry_err 0) leave nothing to see.
4. CE marks in the file.
5. What its title says of connections that were refused, queue pairs that do not exist, links that die (SPECIAL, with reasons).
6. Repeats (completer_retry_err) where the network did nothing: answers of slow hosts came later than timers. Where there are only
   a few, nothing needs to be said.
7. Nothing: no diagnosis above `odd`.

As in docs/truth.md ("Diagnoses") a diagnosis may leave open what the capture does: a NAK that names what had been captured may mean
that it was only late, an answer that is missing may have been lost as well as its request."""

import dataclasses
import ipaddress
import json
import os
import subprocess
import sys

SKIP = 77
REFUSALS = {"97", "98", "99"}  # invalid request, remote access error, remote operational error
FEW = 5                        # times that a timer ran out
OPEN = frozenset({"not_known", "several", None})
ANYWHERE = frozenset({"upstream", "downstream", "between_points", "responder", *OPEN})
A_TO_B, B_TO_A = ("A", "B"), ("B", "A")

# What is wrong today: file -> why. It may only get shorter.
TODAY = {}


@dataclasses.dataclass(frozen=True)
class Expected:
    right: frozenset = frozenset()   # causes; none: nothing above odd
    way: tuple = ()
    seen: frozenset = ANYWHERE
    open_causes: frozenset = frozenset()
    open_seen: frozenset = frozenset()
    either_order: bool = False
    fatal: bool = False              # None: as one sees it
    needed: bool = True              # else silence is right, too


def expect(*right, way=A_TO_B, seen=None, open_causes=(), **more):
    return Expected(frozenset(right), way, frozenset({seen}) if seen else ANYWHERE, frozenset(open_causes), **more)


NOTHING = Expected(needed=False)
SPECIAL = {
    "03_rping_noserver": expect("connection_refused", fatal=None),
    "03_ucmatose_v6": expect("connection_refused", fatal=None),
    "03_udaddy_v6": expect("connection_refused", fatal=None),
    "10_srp": expect("connection_refused", fatal=None),
    # The application tries again and goes on.
    "10_nvmeof_discover": expect("connection_refused", fatal=None, needed=False),
    "10_nvmeof_io": expect("connection_refused", fatal=None, needed=False),
    "61_nvmeof_io": expect("connection_refused", fatal=None, needed=False),
    "06_badqpn": expect("no_answer", either_order=True, fatal=True),
    # The receiver takes all for duplicates and acknowledges what was never sent: answers, but none that helps.
    "06_badpsn": expect("no_answer", "protocol", "settings", either_order=True, fatal=True),
    # B has got and acknowledged all 3441 repeats (duplicate_request): its answers came when A had given up, long before the
    # link was cut.
    "06_retry_exceeded": expect("timer_too_short", either_order=True, fatal=True),
    "04_blackout_fatal": expect("outage", either_order=True, fatal=None),
}


def counter(entry, host, name):
    return entry["hw_counters_delta"].get(host, {}).get("rxe0." + name, 0)


def retries(entry):
    return counter(entry, "A", "completer_retry_err") + counter(entry, "B", "completer_retry_err")


def seen_from(name, way):
    """Where the impairment lies, of what travels that way."""
    at_a = ".a.pcap" in name or ".ca.pcap" in name
    at_b = ".b.pcap" in name or ".cb.pcap" in name
    if not at_a and not at_b:
        return "between_points"
    return "downstream" if at_a == (way == A_TO_B) else "upstream"


def of_loss(entry, file, way, seen):
    if way == A_TO_B:
        if any("UD SEND" in opcode for opcode in file["opcodes"]) and not any("RC" in opcode for opcode in file["opcodes"]):
            return NOTHING  # nobody asks for lost datagrams
        return expect("loss", way=way, seen=seen, open_causes={"loss_or_reordering"} if seen == "downstream" else ())
    if retries(entry) == 0:
        return NOTHING
    if any("READ Resp" in opcode for opcode in file["opcodes"]):
        return expect("loss", "answers_lost", way=way, seen=seen,
                      open_causes={"loss_or_reordering"} if seen == "downstream" else ())
    upstream = {} if seen == "downstream" else {"open_causes": {"request_or_answer_lost"}, "open_seen": OPEN}
    return expect("answers_lost", "loss", way=way, seen=seen, **upstream)


def of_netem(entry, file, netem):
    in_host = netem["on"] in "AB"
    way = (A_TO_B if netem["on"] == "A" else B_TO_A) if in_host else (A_TO_B if netem["dev"] == "eth1" else B_TO_A)
    seen, spec = "upstream" if in_host else seen_from(file["file"], way), netem["spec"]
    late = {"loss_or_reordering"} if seen == "downstream" else ()
    if "ecn" in spec:
        # In a tunnel the outer header is marked; the marks of the manifest are those of the header inside.
        return expect("congestion", open_causes={"marking", "settings"}) if seen == "upstream" else None
    if "loss" in spec:
        return of_loss(entry, file, way, seen)
    if "corrupt" in spec:
        return expect("corruption", way=way, seen=seen) if seen == "upstream" else \
            expect("loss", way=way, seen=seen, open_causes=late)
    if "delay" in spec and retries(entry):
        return expect("reordering", way=way, seen=seen, open_causes=late)
    if "duplicate" in spec:
        return expect("duplicates", way=way, needed=False)
    return None


def is_ce(tos):
    return int(tos, 16) & 3 == 3


def expected(entry, file):
    name = entry["name"]
    if REFUSALS & file.get("aeth_syndromes", {}).keys():
        return expect("request_refused", seen="responder", fatal=True)
    for host, way in (("A", A_TO_B), ("B", B_TO_A)):
        if counter(entry, host, "rcvd_rnr_err"):
            return expect("receiver_not_ready", way=way, seen="responder",
                          fatal=counter(entry, host, "retry_rnr_exceeded_err") > 0)
    for netem in entry["netem"]:
        found = of_netem(entry, file, netem) if "spec" in netem else None
        if found:
            return found
    if "congestion drops" in entry["title"]:
        return of_loss(entry, file, A_TO_B, seen_from(file["file"], A_TO_B))
    if any(is_ce(tos) for tos in file["tos"]):
        return expect("congestion", open_causes={"marking", "settings"})
    if name in SPECIAL:
        return SPECIAL[name]
    if retries(entry):
        return expect("timer_too_short", way=(), open_causes={"request_or_answer_lost"}, either_order=True,
                      needed=retries(entry) > FEW)
    return NOTHING


def host_of(address):
    """A, B, or the switch C: the last byte of their addresses; link-local ones are made of the MACs."""
    if address is None:
        return None
    packed = ipaddress.ip_address(address).packed
    if packed[:2] == b"\xfe\x80":
        return {0x0A: "A", 0x0B: "B"}.get(packed[-2], "C")
    return {1: "A", 2: "B"}.get(packed[-1], "C")


def misplaced(place, wanted):
    if not wanted.way:
        return False
    told = tuple(host_of(place.get(key)) for key in ("from", "to"))
    host = place.get("host")
    if told == (None, None) and host is not None:
        return host_of(host) not in wanted.way
    ways = {wanted.way, wanted.way[::-1]} if wanted.either_order else {wanted.way}
    # There are only two hosts: one end names the way as well.
    return told == (None, None) or not any(all(t in (None, w) for t, w in zip(told, way)) for way in ways)


def wrong(diagnoses, wanted):
    """Why, or None."""
    first = diagnoses[0] if diagnoses else None
    if first is None:
        return "no diagnosis" if wanted.needed else None
    said = f"{first['cause']} ({first['severity']}), seen {first['place'].get('seen')}"
    if not wanted.needed and first["severity"] == "odd":
        return None
    if not wanted.right:
        return f"{said}: nothing is wrong"
    if first["cause"] not in wanted.right | wanted.open_causes:
        return f"{said}, not {' or '.join(sorted(wanted.right))}"
    if first["place"].get("seen") not in wanted.seen | wanted.open_seen:
        return f"{said}, not {' or '.join(sorted(map(str, wanted.seen)))}"
    if misplaced(first["place"], wanted):
        return f"{said}: {first['place'].get('from')} to {first['place'].get('to')}, host {first['place'].get('host')}"
    if wanted.fatal not in (None, first["severity"] == "fatal"):
        return f"{said}: {'' if wanted.fatal else 'not '}fatal"
    return None


def path_of(folder, file):
    for name in (file["file"], file["file"] + ".zst", file["file"].removesuffix(".zst")):
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    return None


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--details"]
    details = "--details" in sys.argv
    folder = arguments[1] if len(arguments) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as stream:
        entries = json.load(stream)
    failures, judged, needed = [], 0, 0
    for entry, file in ((entry, file) for entry in entries for file in entry["files"]):
        path = path_of(folder, file)
        if path is None:
            continue
        done = subprocess.run([arguments[0], "report", "--json", path], capture_output=True, check=False)
        report = json.loads(done.stdout)
        if "diagnoses" not in report:
            print("SKIPPED: the report's JSON has no diagnoses yet")
            return SKIP
        wanted, name = expected(entry, file), os.path.basename(path)
        why = wrong(report["diagnoses"], wanted)
        judged, needed = judged + 1, needed + wanted.needed
        if details:
            first = report["diagnoses"][0] if report["diagnoses"] else None
            print(f"{name}: {'WRONG' if why else 'right'}; expected {' or '.join(sorted(wanted.right)) or 'nothing'} "
                  f"{' to '.join(wanted.way)}; said {first['sentence'] if first else 'nothing'}")
        if why and name not in TODAY:
            failures.append(f"{name}: {why}")
        if not why and name in TODAY:
            failures.append(f"{name} is right now: take it out of TODAY")
    for failure in failures:
        print("FAIL", failure)
    print(f"{judged} files, {needed} of them with a trouble: {len(failures)} differences that are not listed, {len(TODAY)} listed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

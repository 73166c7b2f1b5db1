#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What roceanalyze says about retransmission and loss, against what really happened on the sampled wires.

    retransmission_truth.py ROCEANALYZE [FOLDER] [--table] [--update] [--details] [--truth DIRECTORY]

FOLDER (default: the project's samples/) holds captures and the manifest.json that tells how they were made. --table
prints the rows of docs/truth.md, --update writes them into it, --details every difference's packets, --truth writes
the truth as CSV, one file a capture. Exit status: 0 agreement, 1 a difference that is not in EXCEPTIONS or an
exception that no longer occurs, 77 nothing to unpack the samples with.

The truth does not come from roceanalyze's rules. The samples were captured on both sides of the impairment, so one
can look up what became of each packet; and the sender's own decisions show in the order in which it sent.

Rules
-----
1. A *transmission* is a packet of the capture nearest to its sender (A: .a or .ca, B: .b or .cb; a single capture
   stands for both). Equal source, destination, IPv4 ID, opcode, PSN and transport bytes in another capture are the
   same transmission; IPv6 has no ID, of its equal packets the one is taken whose way took the usual time. One that only a flipped bit separates
   from an unseen transmission is that one, *damaged*. Damaged is whatever the receiver's stack refuses: wrong ICRC,
   IPv4 checksum or length. A second sight is a duplicate: by the network where netem was told to duplicate, by the
   capture elsewhere. Packets of several interfaces in one capture are taken in order of time, not of the file; what
   the one farther from the requester shows are duplicates, and what it does not show is known to be lost.
2. *Lost*: not seen, or seen damaged, in the capture nearest to the receiver. Delayed and reordered packets are seen.
3. The requests of a queue pair, in the order sent: a request whose first PSN lies before the end of what was sent is
   a *repeat*. Where the PSN steps back a new *run* begins (the sender went back); the trigger of the run is the cause
   of all its repeats. A READ request takes as many PSNs as it has responses.
4. Trigger of a run that begins at PSN s, from the notices that reached the sender and were not used, first that fits:
   (a) of RNR NAKs and sequence NAKs of s the one that came first since the sender last went back, else the one that
   came first: rnr or nak (a requester handles them in that order: a NAK at once, an RNR NAK when its timer has run,
   which may be later); (b) an RNR NAK beyond s: rnr (Soft-RoCE goes back to its own oldest unacknowledged packet);
   (c) a NAK of p < s after which all up to s was acknowledged, or whose own PSN is still the oldest unacknowledged
   (the packets p to s-1 of the run were lost before the capture): that NAK's kind; (d) an answer beyond a missing READ
   response or atomic ACK: implied; (e) silence. For (b) and (c) only since the sender last went back: what it went
   back past has its effect at its own PSN or none, else the timer that runs out long after would be a `nak`. Going
   back uses up all notices, except those beyond s, which acknowledge s and so were not handled yet, and of those of s
   the ones of the other kind than that which caused it: each may cause one more go-back.
5. Cause, in the words of the contract: nak, rnr; with triggers (d) and (e) read_retry for READ requests and timeout
   for all others. An answer that carries data (READ response, atomic ACK) is a repeat when its PSN was answered
   before; read_retry for READ responses, the cause of the request for others. Where a NAK made the requester send the
   READ again, of which the contract does not speak, its cause is right for the responses, too. ACKs repeat nothing.
6. *Decidable* is a repeat in a capture that holds, earlier, something of the same stream at or beyond its PSN, or,
   for an answer, the repeated request. Others look like first transmissions there; they are not asked for. Nor is,
   without IDs, one that follows its equal sooner than timers expire: a host that was held up sends so, but copies
   look the same.
7. *Out of order*: captured after a packet of its stream that was sent later and has a higher PSN; only of first
   transmissions (a repeat has been sent twice). One overtaken only by repeats of lower PSNs may be called so.
8. *Spurious*: the sender had the acknowledgement, in its nearest capture, when it repeated. Where the capture at hand
   saw an acknowledgement that did not get there in time, either answer is accepted.
9. *Lost before* the capture: the lost transmissions of a run that a later one of the run follows in this capture, and
   the first ones of a run when a NAK names its beginning. Not the end of a run, and not a run of which nothing came;
   of answers the end may be counted, for the answer to a later request shows that it is missing.
   Damaged packets were damaged before the capture that shows them so.
10. *Lost after* the capture: per sequence NAK the lost one of the sendings of its PSN that were captured; per run of
    READ requests the lost response that it begins with. Lost packets that no NAK names (they lie in the window of
    another) are undecidable ahead of the loss. ACKs are never counted; of atomic ACKs both answers are accepted:
    they acknowledge, but each is owed. A NAK of a packet that was only late names no loss.
11. Where the impairment stood before all captures (in the sending host) the gaps of each run are the losses.
12. Nothing was lost or repeated in tunnelled samples (the counters of both hosts agree); the oracle opens no tunnel.

The oracle itself is held against the drivers' counters (oracle_agrees): go-backs = completer_retry_err, NAKs =
out_of_seq_request, RNR NAKs = rcvd_rnr_err, repeats of what had arrived = duplicate_request, lost = netem's dropped
less what was not RoCE.
"""

import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays clean
import truth_frames as frames  # noqa: E402
import truth_samples  # noqa: E402
from truth_compare import CAUSES, compare  # noqa: E402
from truth_exceptions import EXCEPTIONS, KERNEL  # noqa: E402
from truth_scenario import host_of  # noqa: E402

SKIP = 77
FIELDS = ("frame.number", "roce.analysis.retransmission", "roce.analysis.retransmission.cause",
          "roce.analysis.retransmission.original", "roce.analysis.spurious", "roce.analysis.out_of_order",
          "roce.analysis.duplicate_network", "roce.analysis.duplicate_capture")
DOCUMENT = os.path.join("docs", "truth.md")
BEGIN = "|---|---|---|---|---|---|---|---|\n"  # the table's second line; its rows follow
END = "<!-- end of the table -->"


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}: "
                         f"{done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout.decode("utf-8", "replace")


def said(program, path):
    """(report, {frame number: {field: value}}) of one capture."""
    report = json.loads(run([program, "report", path, "--json"]))
    command = [program, "packets", path, "-T", "fields"]
    for field in FIELDS:
        command += ["-e", field]
    packets = {}
    for line in run(command).splitlines():
        values = line.split("\t")
        if any(values[1:]):
            packets[int(values[0])] = dict(zip(FIELDS, values))
    return report, packets


def oracle_agrees(sample):
    """[(what, figure of the captures, figure of the counters)] where oracle and driver differ."""
    scenario, problems = sample.scenario, []
    if scenario is None:
        counted = [c for c in ("completer_retry_err", "duplicate_request", "out_of_seq_request") if sample.both(c)]
        return [(f"tunnelled, but {counter} is not 0", 0, sample.both(counter)) for counter in counted]

    def expect(what, ours, counters):
        if ours != counters:
            problems.append((what, ours, counters))

    ends = [scenario.near[host] for host in ("A", "B")]
    specs = [n["spec"] for n in sample.entry["netem"] if n["on"] == "C" and "ecn" not in n["spec"]]
    if sample.dropped and specs and not any("corrupt" in spec for spec in specs):
        gone = sum(1 for t in scenario.transmissions if not scenario.arrived(t))
        others = [end.total - len(end.packets) for end in ends]  # TCP and ARP
        # Copies that the network made are dropped, and counted, like any other packet.
        copies = sample.dropped if any("duplicate" in spec for spec in specs) else 0
        if not gone <= sample.dropped <= gone + abs(others[0] - others[1]) + copies:
            expect("lost", gone, sample.dropped)
    for host, peer in (("A", "B"), ("B", "A")):
        requests = [e.requests for (requester, _, _), e in scenario.exchanges.items() if requester == host]
        runs = [r for one in requests for r in one.runs[1:]]
        notices = [n for one in requests for n in one.notices]
        rnr = [n for n in notices if n.kind == "rnr"]
        if not rnr:
            expect(f"{host} went back", len(runs), sample.counter(host, "completer_retry_err"))
        sent = [t for t in scenario.transmissions
                if t.service == frames.RC_SERVICE and t.sequence_nak and host_of(t.dst) == host]
        expect(f"sequence NAKs to {host}", len(sent), sample.counter(peer, "out_of_seq_request"))
        expect(f"RNR NAKs to {host}", len(rnr), sample.counter(host, "rcvd_rnr_err"))
        repeats = [t for one in requests for r in one.runs for t in r.sent if t.repeat]
        if not notices and all(scenario.arrived(t.packet) for one in requests for r in one.runs for t in r.sent):
            expect(f"repeats of {host}", len(repeats), sample.counter(peer, "duplicate_request"))
    return problems


def table_row(name, sample, capture, figures):
    kernel = []
    for counter, short in (("completer_retry_err", "retries"), ("out_of_seq_request", "out of sequence"),
                           ("rcvd_seq_err", "NAKs taken"), ("duplicate_request", "duplicates"),
                           ("rcvd_rnr_err", "RNR"), ("retry_exceeded_err", "retry exceeded"),
                           ("retry_rnr_exceeded_err", "RNR exceeded")):
        if sample.both(counter):
            kernel.append(f"{short} {sample.both(counter)}")
    if sample.dropped:
        kernel.append(f"netem dropped {sample.dropped}")
    truth, ours = figures["truth"], figures["ours"]

    def causes(counts):
        return ", ".join(f"{cause} {counts[cause]}" for cause in CAUSES if counts[cause]) or "0"

    return "| " + " | ".join([
        name, ", ".join(kernel) or "-", causes(truth), causes(ours),
        f"{truth['before']} / {ours['before']}", f"{truth['after']} (+{truth['window']}) / {ours['after']}",
        f"{truth['naks']} / {ours['naks']}", f"{truth['out_of_order']} / {ours['out_of_order']}"]) + " |"


def document(root):
    """(text before the rows of the table, {file: row}, text behind)"""
    with open(os.path.join(root, DOCUMENT), encoding="utf-8") as stream:
        before, _, rest = stream.read().partition(BEGIN)
    rows, _, behind = rest.partition(END)
    return before + BEGIN, {row.split("|")[1].strip(): row for row in rows.splitlines() if row}, END + behind


def update(root, names, rows):
    before, known, behind = document(root)
    kept = {name: row for name, row in known.items() if name not in names}
    lines = [row for _, row in sorted({**kept, **rows}.items())]
    with open(os.path.join(root, DOCUMENT), "w", encoding="utf-8") as stream:
        stream.write(before + "".join(line + "\n" for line in lines) + behind)


class Verdict:
    def __init__(self, details):
        self.details, self.failures, self.used = details, 0, set()
        self.asked = self.found = self.right = self.false = 0

    def fail(self, text):
        self.failures += 1
        print("FAIL", text)

    def kernel(self, name, problems):
        for what, ours, counters in problems:
            if KERNEL.get((name, what), ())[:2] != (ours, counters):
                self.fail(f"the oracle and the kernel, {name}: {what}: {ours} in the captures, counted {counters}")
        for (of, what) in KERNEL:
            if of == name and what not in [problem[0] for problem in problems]:
                self.fail(f"the oracle and the kernel now agree, {name}: {what}")

    def take(self, name, differences):
        for difference in differences:
            row = next((e for e in EXCEPTIONS if e.matches(name, difference)), None)
            if row is not None:
                self.used.add(row)
            else:
                self.fail(f"{name}: {difference}")
            if self.details:
                print(f"  {'allowed' if row else 'not allowed'}: {name}: {difference} {difference.places}")

    def stale(self, names):
        for row in EXCEPTIONS:
            if row.file in names and row not in self.used:
                self.fail(f"exception no longer occurs: {row}")


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    options = {a for a in sys.argv[1:] if a.startswith("--")}
    directory = arguments.pop() if "--truth" in options else None
    program = arguments[0]
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    folder = arguments[1] if len(arguments) > 1 else os.path.join(root, "samples")
    try:
        subprocess.run(["zstd", "--version"], stdout=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.CalledProcessError):
        print("zstd is not installed")
        return SKIP
    verdict, names, rows = Verdict("--details" in options), set(), {}
    for sample in truth_samples.samples(folder):
        verdict.kernel(sample.name, oracle_agrees(sample))
        if directory:
            sample.write(directory)
            continue
        for name, path in sample.paths.items():
            names.add(name)
            capture = sample.captures.get(name)
            figures, differences = compare(capture, *said(program, path), verdict)
            verdict.take(name, differences)
            if any(v for side in figures.values() for v in side.values()) or sample.dropped or \
                    any(sample.both(c) for c in ("completer_retry_err", "rcvd_rnr_err")):
                rows[name] = table_row(name, sample, capture, figures)
    if directory:
        return 1 if verdict.failures else 0
    if "--table" in options:
        print("\n".join(rows.values()))
    elif "--update" in options:
        update(root, names, rows)
    else:
        known = document(root)[1]
        in_samples = os.path.samefile(folder, os.path.join(root, "samples"))
        for name in sorted(names):  # of recordings that neither has it holds nothing
            if known.get(name) != rows.get(name) and (in_samples or name in known):
                verdict.fail(f"{DOCUMENT} has another row for {name}: --update writes it anew")
    verdict.stale(names)
    if verdict.asked:
        print(f"{len(names)} captures: recall {verdict.found / verdict.asked:.6f}, precision "
              f"{verdict.found / max(1, verdict.found + verdict.false):.6f} of {verdict.asked} repeats, "
              f"cause right in {verdict.right / max(1, verdict.found):.6f}; {len(verdict.used)} exceptions used, "
              f"{verdict.failures} failures")
    return 1 if verdict.failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""300 hosts in SQLite and in ClickHouse: every question has the same answer from both, and the one that the generator knows.

Usage: fleet_scale_test.py ROCEANALYZE SAMPLES [--rows N] [--minutes M] [--folder DIR]
N rows of `intervals` (as many of one hour as there are up to 10 million; default: 120 000), in batches of M minutes of a host (default:
60). With --rows it prints what it measured, too: rows a second, and the seconds of each question."""

import argparse
import collections
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import clickhouse
import generator

HOSTS = 300
HOUR = 3600 // generator.INTERVAL
MANY = ("--top", "1000000")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("samples")
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--folder", default=None)
    return parser.parse_args()


class Trial:
    def __init__(self, options, home):
        self.program, self.loud = options.program, options.rows != 0
        rows = options.rows or 120_000
        flows = max(1, round(rows / (2 * HOSTS * HOUR)))
        self.say(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
        self.truth = self.took("generated", lambda: generator.generate(
            home + "/spool", hosts=HOSTS, flows=flows, intervals=max(6, rows // (2 * HOSTS * flows)), per_batch=6 * options.minutes, per_pair=6))[0]
        self.say(f"{self.truth.rows} rows of intervals, {self.truth.pair_rows} of pairs, {len(self.truth.incidents)} of incidents, "
                 f"{self.truth.batches} batches")
        self.stores = {}

    def say(self, text):
        if self.loud:
            print(text, flush=True)

    def took(self, what, work):
        began = time.monotonic()
        result = work()
        seconds = time.monotonic() - began
        self.say(f"{what}: {seconds:.2f} s")
        return result, seconds

    def run(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, text=True, check=False, timeout=6000)
        assert done.returncode == 0, (words, done.returncode, done.stderr)
        return done.stdout

    def ship(self, name, target, home, server=None):
        self.run("store", "init", target)
        spool = f"{home}/{name}.spool"
        shutil.copytree(home + "/spool", spool, copy_function=os.link)
        before = spent(server)
        _, seconds = self.took(f"{name}: shipped", lambda: self.run("ship", spool, "--to", target, "--once"))
        rows, busy = self.truth.rows + self.truth.pair_rows, spent(server) - before
        self.say(f"{name}: {rows} rows of intervals and pairs, {rows / seconds:.0f} a second, {rows / busy:.0f} a second of a processor"
                 f" (client and server), load average {os.getloadavg()[0]:.1f}")
        assert not [file for file in os.listdir(spool) if file.endswith(".batch")]
        self.stores[name] = target

    def ask(self, *words):
        """An answer, which is the same from all stores."""
        answers = {}
        for name, target in self.stores.items():
            answers[name], _ = self.took(f"{name}: {' '.join(words)}", lambda of=target: self.run("fleet", *words, "--from", of, "--json"))
        assert len(set(answers.values())) == 1, (words, {name: answer[:300] for name, answer in answers.items()})
        return json.loads(next(iter(answers.values())))

    def rows(self, *words):
        return self.ask(*words)["rows"]


def spent(server):
    """Seconds that processors worked for the programs that ended, and the server."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = used.ru_utime + used.ru_stime
    if server is not None:
        with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as file:
            busy += sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    return busy


def by_ends(rows, *columns):
    return {(row["src"], row["dst"]): tuple(row[column] for column in columns) for row in rows}


def is_true(trial):
    truth = trial.truth
    row, = trial.rows("overview")
    got = [row[name] for name in ("hosts", "captures", "flows", "packets", "lost_at_least", "resent", "incidents", "findings", "diagnoses", "dropped")]
    wanted = [HOSTS, truth.runs, truth.flows, truth.packets, truth.lost, truth.lost, len(truth.incidents), sum(each[1] for each in truth.found.values()),
              len(truth.diagnosed), 0]
    assert got == wanted, (got, wanted)
    lossy = {ends: (lost, lost) for ends, lost in truth.gone.items() if lost}
    assert by_ends(trial.rows("top", *MANY), "lost_at_least", "resent") == lossy
    losses = trial.rows("loss", *MANY)
    assert by_ends(losses, "lost") == {ends: (lost,) for ends, lost in truth.loss.items()}
    for row in losses:
        assert (row["from_host"], row["to_host"], row["directed"]) == (truth.host_of[row["src"]], truth.host_of[row["dst"]], "yes"), row
    clocks = trial.rows("clocks", *MANY)
    assert {frozenset((row["host"], row["other"])) for row in clocks} == {frozenset(truth.host_of[end] for end in ends) for ends in truth.loss}
    for row in clocks:
        assert abs(row["offset_ns"] - (truth.skew[row["other"]] - truth.skew[row["host"]])) <= (0.5 if row["both_ways"] == "yes" else 2000), row
    assert by_ends(trial.rows("pairs", *MANY), "packets", "lost_at_least", "src_host", "dst_host") == {
        ends: (sent, truth.gone[ends], truth.host_of[ends[0]], truth.host_of[ends[1]]) for ends, sent in truth.sent.items()}
    got = [(row["stalled_ns"], row["lost_at_least"], row["start_ns"], row["incident"], row["host"]) for row in trial.rows("incidents", *MANY)]
    assert got == sorted(truth.incidents, key=lambda each: (-each[0], -each[1], each[2])), got[:3]
    assert {row["id"]: [row["severity"], row["hosts"], row["count"]] for row in trial.rows("findings")} == truth.found
    assert sorted((row["at_least"], row["host"]) for row in trial.rows("diagnoses", *MANY)) == sorted(truth.diagnosed)
    assert {row["host"]: row["wrong"] for row in trial.rows("marks", *MANY)} == truth.wrong
    hosts = trial.rows("hosts", *MANY)
    assert (len(hosts), sum(row["batches"] for row in hosts), sum(row["missing"] for row in hosts)) == (HOSTS, truth.batches, 0)
    assert by_ends(trial.rows("changes", "--since", f"{truth.half}s", *MANY), "packets_before", "packets") == {
        ends: tuple(halves) for ends, halves in truth.halves.items() if halves[0] != halves[1]}
    assert {row["agent"]: (row["packets"], row["roce"], row["matched"]) for row in trial.rows("drops", *MANY)} == truth.dropped
    assert [(row["storm_ns"], row["port"], row["switch"], row["host"]) for row in trial.rows("storm", *MANY)] == sorted(truth.storms)
    latencies = by_ends(trial.rows("latency", *MANY), "p50_ns", "max_ns")
    assert latencies == {ends: (4352, 3 * truth.latency[ends[0]]) for ends in truth.sent}
    heat = collections.Counter()
    rack_of = {end: f"tor{int(host[4:]) // 16}" for end, host in truth.host_of.items()}
    for ends, sent in truth.sent.items():
        heat[rack_of[ends[0]], rack_of[ends[1]]] += sent
    assert {(row["src_group"], row["dst_group"]): row["packets"] for row in trial.rows("heat", *MANY)} == heat
    of_one(trial)


def of_one(trial):
    """What is asked of one flow: the one with most losses, which has an incident."""
    truth = trial.truth
    (src, dst), lost = max(truth.gone.items(), key=lambda each: each[1])
    worst = next(row for row in trial.rows("top", *MANY) if (row["src"], row["dst"]) == (src, dst))
    flow = trial.ask("flow", src, dst, str(worst["dst_qp"]))
    assert {row["place"] for row in flow["rows"]} == {"sender", "receiver"}
    sent, received = sorted((row["packets"] for row in flow["rows"]), reverse=True)
    assert (sent, sent - received, flow["loss"][0]["lost"]) == (truth.sent[src, dst], lost, truth.loss[src, dst]), flow
    ends = trial.ask("connection", src, str(worst["src_qp"]), dst, str(worst["dst_qp"]))
    mine = [each for each in truth.incidents if each[3] in {row["incident"] for row in ends["incidents"]}]
    assert len(ends["rows"]) == 2 and len(mine) == len(ends["incidents"]) > 0, ends
    seen = trial.ask("where", src, dst)["rows"]
    assert {row["host"] for row in seen} == {truth.host_of[src], truth.host_of[dst]}
    proof, = trial.ask("evidence", str(mine[0][3]))["rows"]
    assert (proof["host"], proof["file"]) == (mine[0][4], f"/var/ring/{mine[0][4]}.pcapng")


def main():
    options = arguments()
    if clickhouse.SERVER is None:
        print(clickhouse.WHY_SKIPPED)
        return clickhouse.SKIPPED
    with clickhouse.folder() if options.rows == 0 else tempfile.TemporaryDirectory(dir=options.folder) as home:
        trial = Trial(options, home)
        server = clickhouse.Server(home + "/server")
        try:
            server.start()
            trial.ship("clickhouse", server.address, home, server)
            trial.ship("sqlite", home + "/fleet.store", home)
            if trial.loud:
                size = server.number("SELECT sum(bytes) FROM system.parts WHERE active AND database = 'roce' AND table = 'intervals'")
                trial.say(f"clickhouse: {size / trial.truth.rows:.1f} bytes a row of intervals; sqlite: "
                          f"{os.path.getsize(home + '/fleet.store') / (trial.truth.rows + trial.truth.pair_rows):.0f} a row of any table")
            is_true(trial)
        finally:
            server.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Live captures for hours while things go wrong: what arrived is captured, or counted as dropped, and memory stays flat.

Two veth pairs get the same traffic of the generators, whose connections come and go. On the first one captures live for seconds: a ring
with metrics and a store, a trigger with a spool, and a recording without analysis; they are ended, killed, stopped, renamed under, their disk is
filled, their interface set down, their shipper killed. On the second one capture lives from the beginning to the end, with a ring,
metrics and a store of its own; its memory is what has to stay flat. Steps of the clock come as stamps of an RDMA device (see --help)."""

import argparse
import collections
import errno
import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import namespace  # noqa: E402
from frames import read_capture  # noqa: E402
from life import BUSY, HANDED_OVER, Life, PATIENCE, children_of, place_of  # noqa: E402
from traffic import Loads, Traffic, arrived  # noqa: E402

TROUBLES = ("ended", "kill", "kill", "quiet kill", "down", "full disk", "reload", "shipper killed", "stalled", "clock set")
FLAT = 1.10
OF_A_FLOW = 32  # KiB of a flow in trouble: its results stay listed, up to half of the table (docs/decisions/0005-live.md)
RING = ["-b", "filesize:1000", "-b", "files:5", "--whole-ring"]


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="tests/soak/run", description=__doc__.split("\n\n")[0], epilog="""The clock of the machine is not set: Linux has no namespace for
        it, so that everything else on the machine would get the steps, too. Packets with stepped stamps come from an RDMA device of the tests (fake_ibverbs).""")
    parser.add_argument("--seconds", type=float, default=3600, help="how long (default 3600)")
    parser.add_argument("--seed", type=int, default=1, help="of traffic and troubles (default 1)")
    parser.add_argument("--rate", type=int, default=1000, help="frames a second on each pair (default 1000)")
    parser.add_argument("--trouble", action="append", choices=sorted(set(TROUBLES)), help="only this one; may be repeated")
    parser.add_argument("--json", help="file for the figures and the course of memory")
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


class Soak:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.program = os.path.join(arguments.build, "cli/roceanalyze")
        self.draw = random.Random(arguments.seed)
        self.began = time.monotonic()
        self.figures = collections.Counter()
        self.troubles = collections.Counter()
        self.wrong = []
        self.steady = None
        self.lacking = 0.0  # seconds in front of a kill of which a recording has nothing, at most
        self.disk = os.path.join(folder, "disk")
        self.store = os.path.join(folder, "troubled.store")
        os.mkdir(self.disk)
        namespace.command("mount", "-t", "tmpfs", "-o", "size=48m", "none", self.disk)
        for left, right in (("left", "right"), ("left2", "right2")):
            namespace.make_pair(left, right)
        namespace.command("ip", "link", "set", "lo", "up")
        self.traffic = Traffic(Loads(arguments.build, folder, random.Random(arguments.seed + 1)), ("left", "left2"), arguments.rate)

    def ask(self, sql, *values, store=None):
        base = sqlite3.connect(f"file:{store or self.store}?mode=ro", uri=True, timeout=PATIENCE)
        try:
            return base.execute(sql, values).fetchall()
        finally:
            base.close()

    def go(self):
        steady_folder = os.path.join(self.folder, "steady")
        os.mkdir(steady_folder)
        self.steady = Life(self.program, "steady", "right2", steady_folder,
                           ["-b", "filesize:10000", "-b", "files:3", "--store-every", "2s", "--ship-every", "5s", "--idle-limit", "20s"],
                           os.path.join(steady_folder, "steady.store"))
        self.steady.begin()
        self.traffic.start()
        lives = 0
        while time.monotonic() - self.began < self.arguments.seconds:
            lives += 1
            self.round(lives)
        self.end()

    def wait(self, seconds, lives):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for life in (self.steady, *lives):
                life.sample(scrape=True)
            self.figures["scrapes"] += 1 + len(lives)
            time.sleep(min(1, max(0, end - time.monotonic())))

    def round(self, number):
        trouble = self.draw.choice(self.arguments.trouble or TROUBLES)
        self.troubles[trouble] += 1
        self.traffic.quiet()
        self.traffic.forget()
        self.spool = os.path.join(self.disk, "spool")
        often = ["--store-every", "1s", "--ship-every", "1s", "--idle-limit", "20s"]
        trigger = ["--trigger", "loss,warning", "--before", "1s", "--after", "1s", "--trigger-memory", "16", "--trigger-limit", "files:20"]
        stalls = ["-B", "1"] if trouble == "stalled" else []
        ring = Life(self.program, f"ring-{number}", "right", self.disk, [*RING, *often, *stalls], self.store, self.folder)
        triggered = Life(self.program, f"trigger-{number}", "right", self.disk, [*trigger, *often, *stalls], self.spool + "/", self.folder)
        plain = Life(self.program, f"plain-{number}", "right", self.disk, ["--capture-only", *stalls], None, self.folder)
        self.lives = [ring, triggered, plain]
        before = self.traffic.count
        try:
            for life in self.lives:
                life.begin()
            self.traffic.resume()
            self.wait(self.draw.uniform(3, 15), self.lives)
            getattr(self, trouble.replace(" ", "_"))()
        finally:
            for life in self.lives:
                if life.process.poll() is None:
                    life.process.kill()
                    life.process.wait()
        self.figures["lives"] += len(self.lives)
        self.figures["scrapes that were disconnected"] += sum(life.disconnected for life in self.lives)
        self.figures["frames for lives of seconds"] += self.traffic.count - before
        wrong = [text for life in self.lives for text in life.wrong]
        self.wrong += wrong
        for life in self.lives:
            if wrong:
                kept = os.path.join(self.folder, f"kept-{number}")
                shutil.copytree(self.disk, kept, dirs_exist_ok=True)
                for path in (life.output, life.messages):
                    shutil.copy(path, kept)
            life.tidy()
        shutil.rmtree(self.spool, ignore_errors=True)
        print(f"{time.monotonic() - self.began:6.0f} s  {trouble:<15} {self.traffic.count} frames sent{''.join(chr(10) + '  WRONG ' + each for each in wrong)}",
              flush=True)

    # What may happen. Each ends all captures of the round and looks at what they left.

    def ended_in_order(self, how=None, status=0, lives=None):
        for life in lives or self.lives:
            life.finish(how or self.draw.choice((signal.SIGINT, signal.SIGTERM)), status)
        for life in lives or self.lives:
            taken, dropped = life.complete()
            self.figures["frames captured"] += taken
            self.figures["dropped and counted"] += dropped
            life.readable(False)
            found = life.frames()
            if life.name.startswith("plain"):
                life.demand(len(found) == taken, f"{taken} captured, {len(found)} in the file")
            if dropped == 0:
                self.in_order(life, found)
        self.rows(killed=False)

    def in_order(self, life, found):
        """What it wrote is what was sent, in one piece; it ends where that ends. Files of triggers are pieces."""
        sent = self.traffic.sums
        if life.name.startswith("trigger"):
            for path in life.files():
                single = Life(life.program, os.path.basename(path)[: -len(".pcapng")], life.device, life.folder, [], None)
                life.demand(place_of(single.frames(), sent) >= 0, f"{path} is no piece of what was sent")
        elif self.arrived_whole(life):
            life.demand(found == sent[len(sent) - len(found):], f"the last {len(found)} of {len(sent)} frames sent are not those written")

    def arrived_whole(self, life):
        return arrived(life.device) - life.arrived_before == len(self.traffic.sums)

    def rows(self, killed):
        """The rows of the ring's store and of the trigger's spool have what their reports have, each batch once."""
        done = subprocess.run([self.program, "ship", self.spool, "--to", self.store, "--once"], capture_output=True, text=True, check=False,
                              timeout=PATIENCE)
        ring, triggered = self.lives[:2]
        triggered.demand(done.returncode == 0, f"ship: {done.stderr}")
        done = subprocess.run([self.program, "ship", self.store + ".spool", "--to", self.store, "--once"], capture_output=True, text=True,
                              check=False, timeout=PATIENCE)
        end = time.monotonic() + PATIENCE
        while "another process ships" in done.stderr and time.monotonic() < end:  # its own, which is ending
            time.sleep(0.2)
            done = subprocess.run([self.program, "ship", self.store + ".spool", "--to", self.store, "--once"], capture_output=True, text=True,
                                  check=False, timeout=PATIENCE)
        ring.demand(done.returncode == 0, f"ship: {done.stderr}")
        for life in (ring, triggered):
            count, last, different, packets, lost = self.ask(
                "SELECT COUNT(*), IFNULL(MAX(seq) + 1, 0), COUNT(DISTINCT seq), IFNULL(SUM(packets), 0), IFNULL(MAX(batches_lost), 0)"
                " FROM heartbeats WHERE host = ?", life.name)[0]
            life.demand(count == different, f"{count} heartbeats of {different} batches: some are there twice")
            life.demand(last - different <= lost, f"{last} batches, {different} in the store, {lost} lost and counted")
            self.figures["batches shipped"] += count
            self.figures["batches lost and counted"] += lost
            came = arrived(life.device) - life.arrived_before
            if killed or lost:
                life.demand(packets <= came, f"{came} frames arrived, the rows have {packets}")
            else:
                life.demand(packets == life.counted()[0], f"{life.counted()[0]} captured, the rows have {packets}")

    def ended(self):
        self.traffic.quiet()
        self.ended_in_order()

    def kill(self):
        killed = time.monotonic()
        for life in self.draw.sample(self.lives, 3):
            life.finish(signal.SIGKILL, -signal.SIGKILL)
            life.killed = killed
        self.traffic.quiet()
        self.after_kill(BUSY + HANDED_OVER)

    def quiet_kill(self):
        self.traffic.quiet()
        for life in self.lives:
            life.settled()
        time.sleep(HANDED_OVER)
        for life in self.lives:
            life.finish(signal.SIGKILL, -signal.SIGKILL)
            life.killed = time.monotonic()
        self.after_kill(0)

    def after_kill(self, lacks):
        sent = self.traffic.sums
        for life in self.lives:
            life.readable(True)
            found = life.frames()
            if life.name.startswith("trigger"):
                self.in_order(life, found)
                continue
            if not self.arrived_whole(life):
                continue
            at = place_of(found, sent) if len(found) else 0
            life.demand(at >= 0, f"what was left is no piece of what was sent ({len(found)} frames)")
            life.demand(at == 0 or life.name.startswith("ring"), f"the first {at} frames are missing")
            self.figures["frames captured"] += at + len(found)
            rest = at + len(found)
            self.figures["in the kernel's and our buffers when killed"] += len(sent) - rest
            if rest < len(sent) and self.traffic.times[rest] < life.killed:
                lacking = life.killed - self.traffic.times[rest]
                self.lacking = max(self.lacking, lacking)
                life.demand(lacking <= lacks, f"lacks the last {lacking:.2f} s in front of the kill, {len(sent) - rest} frames")
        self.rows(killed=True)

    def down(self):
        """Set down under traffic; the captures end, and the next ones begin when it is up."""
        namespace.command("ip", "link", "set", "dev", "right", "down")
        for life in self.lives:
            life.finish(None, 3)
            life.demand("was set down during the capture" in life.said(), life.said()[-300:])
        self.traffic.quiet()
        namespace.command("ip", "link", "set", "dev", "right", "up")
        for life in self.lives:
            taken, dropped = life.complete()
            self.figures["frames captured"] += taken
            self.figures["dropped and counted"] += dropped
            life.readable(False)
        self.rows(killed=False)
        end = time.monotonic() + PATIENCE
        while namespace.statistics("right") is None and time.monotonic() < end:
            time.sleep(0.1)

    def full_disk(self):
        filler = os.path.join(self.disk, "filler")
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        end = time.monotonic() + 6
        while time.monotonic() < end and any(life.process.poll() is None for life in self.lives):
            self.steady.sample(scrape=True)
            time.sleep(0.3)
        full = [life for life in self.lives if life.process.poll() is not None]
        self.traffic.quiet()
        os.unlink(filler)
        self.figures["captures that a full disk ended"] += len(full)
        for life in full:
            life.finish(None, 3)
            life.demand("No space left on device" in life.said(), life.said()[-300:])
            life.readable(False)
            found = life.frames()
            if life.name.startswith("trigger"):
                self.in_order(life, found)
                continue
            at = place_of(found, self.traffic.sums) if len(found) else 0
            life.demand(at >= 0, f"what was kept is no piece of what was sent ({len(found)} frames)")
            self.figures["frames captured"] += at + len(found)
        rest = [life for life in self.lives if life not in full]
        for life in rest:
            life.finish(signal.SIGINT, 0)
            taken, dropped = life.complete()
            self.figures["frames captured"] += taken
            self.figures["dropped and counted"] += dropped
            life.readable(False)
        self.rows(killed=bool(full))

    def reload(self):
        for _ in range(3):
            for life in self.lives:
                life.process.send_signal(signal.SIGHUP)
            self.wait(1, self.lives)
        self.ended()

    def shipper_killed(self):
        children = children_of(self.lives[0].process.pid)
        self.lives[0].demand(len(children) == 1, f"children: {children}")
        for child in children:
            os.kill(child, signal.SIGKILL)
        self.wait(3, self.lives)
        self.ended()

    def stalled(self):
        """The captures get no processor while more arrives than the kernel's buffer holds: drops, all of them counted."""
        for life in self.lives:
            life.process.send_signal(signal.SIGSTOP)
        self.traffic.hurry = 20_000
        end = time.monotonic() + PATIENCE
        while self.traffic.hurry > 0 and time.monotonic() < end:
            self.steady.sample(scrape=False)
            time.sleep(0.2)
        for life in self.lives:
            life.process.send_signal(signal.SIGCONT)
        self.wait(2, self.lives)
        self.ended()

    def clock_set(self):
        """The captures of the round end in order; besides, one has stamps that are set forward and back."""
        self.ended()
        frames = [data for data, _, _ in read_capture(self.traffic.loads.path)][:600]
        path, now = os.path.join(self.folder, "stepped.pcap"), time.time_ns()
        third = len(frames) // 3
        steps = [0] * third + [self.draw.choice((30, 3600, 86400)) * 10**9] * third + [self.draw.choice((-5, -3600)) * 10**9] * (len(frames) - 2 * third)
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
            for i, (data, step) in enumerate(zip(frames, steps)):
                when = now + i * 100_000 + step
                file.write(struct.pack("<IIII", when // 10**9, when % 10**9, len(data), len(data)) + data)
        script = os.path.join(self.folder, "script")
        with open(script, "w", encoding="ascii") as file:
            file.write(f'file "{path}"\nremove\n')
        environment = dict(os.environ, FAKE_IBVERBS=script, LD_LIBRARY_PATH=os.path.join(self.arguments.build, "tests/support/fake_ibverbs"))
        out, spool, name = os.path.join(self.folder, "stepped.pcapng"), os.path.join(self.folder, "stepped.spool"), f"clock-{self.troubles['clock set']}"
        done = subprocess.run([self.program, "capture", "-i", "mlx5_0", "-w", out, "--json", "--store", spool + "/", "--host", name], env=environment,
                              capture_output=True, text=True, check=False, timeout=PATIENCE)
        plain = self.lives[2]
        plain.demand(done.returncode == 3 and done.stdout, f"stepped stamps: status {done.returncode}: {done.stderr}")
        if done.stdout:
            report = json.loads(done.stdout.splitlines()[-1])
            plain.demand(report["capture"]["packets"] == len(frames), f"stepped stamps: {report['capture']['packets']} of {len(frames)}")
            steps_said = sum(each["count"] for each in report["diagnostics"] if each["id"] == "clock_stepped")
            plain.demand(steps_said == 2, f"stepped stamps: {steps_said} steps, not 2")
            plain.demand(report["capture"]["duration_ns"] < 60 * 10**9, f"stepped stamps: {report['capture']['duration_ns']} ns long")
            subprocess.run([self.program, "ship", spool, "--to", self.store, "--once"], check=True, capture_output=True, timeout=PATIENCE)
            packets, = self.ask("SELECT SUM(packets) FROM heartbeats WHERE host = ?", name)[0]
            plain.demand(packets == len(frames), f"stepped stamps: the rows have {packets} of {len(frames)}")
            plain.demand(len(read_capture(out)) == len(frames), "stepped stamps: not all in the file")
        os.unlink(out)
        shutil.rmtree(spool)

    def end(self):
        """The capture that lived from the beginning."""
        self.traffic.quiet()
        self.traffic.end()
        self.steady.settled()
        self.steady.sample(scrape=True)
        self.steady.finish(signal.SIGINT, 0)
        taken, dropped = self.steady.complete()
        self.steady.readable(False)
        self.steady.demand(len(self.steady.files()) <= 3, f"{len(self.steady.files())} files in a ring of 3")
        store = self.steady.store
        rows, = self.ask("SELECT SUM(packets) FROM heartbeats", store=store)[0]
        self.steady.demand(rows == taken, f"{taken} captured, the rows have {rows}")
        missing, = self.ask("SELECT MAX(seq) + 1 - COUNT(DISTINCT seq) FROM heartbeats", store=store)[0]
        self.steady.demand(missing == 0, f"{missing} batches are missing")
        self.figures["frames sent, to each pair"] = self.traffic.count
        self.figures["connections"] = self.traffic.loads.connections
        self.figures["frames captured by the long one"] = taken
        self.figures["dropped and counted by the long one"] = dropped
        self.memory("the long one", self.steady.resident)
        self.memory("its shipper", self.steady.shipper_resident)
        self.figures["descriptors of the long one, at most"] = self.steady.descriptors
        self.wrong += self.steady.wrong

    def memory(self, whose, samples):
        """Its peak in the last part of the time is that of the part before, but for a tenth, and for results that stay listed."""
        start, length = samples[0][0], samples[-1][0] - samples[0][0]
        tenths = [[each for each in samples if i <= (each[0] - start) / length * 10 <= i + 1] for i in range(10)]
        parts = [max((kib for _, kib, _ in tenth), default=0) // 1024 for tenth in tenths]
        flows = [max((listed for _, _, listed in tenth), default=0) for tenth in tenths]
        self.figures[f"memory of {whose}, MiB, by tenths of the time"] = parts
        if any(flows):
            self.figures[f"flows that {whose} listed, likewise"] = flows
        if length > 900:
            early, late = max(parts[3:6]), max(parts[7:])
            listed = max(0, max(flows[7:]) - max(flows[3:6]))
            if late > early * FLAT + listed * OF_A_FLOW / 1024 + 1:
                self.wrong.append(f"memory of {whose} grows: {parts} MiB by tenths of the time")

    def show(self):
        print(f"\n{time.monotonic() - self.began:.0f} s, seed {self.arguments.seed}, {self.arguments.rate} frames a second")
        print("troubles: " + ", ".join(f"{name} {count}" for name, count in sorted(self.troubles.items())))
        for name, value in self.figures.items():
            print(f"{name}: {value}")
        print(f"longest time that a killed capture lacked: {self.lacking:.2f} s")
        print(f"wrong: {len(self.wrong)}")
        for each in self.wrong:
            print("  " + each)



def main():
    arguments = parse_arguments()
    if os.getuid() != 0:
        namespace.skip("needs root")
    arguments.build = os.path.abspath(arguments.build)
    namespace.enter_namespace()
    folder = tempfile.mkdtemp(prefix="soak.")
    soak = Soak(arguments, folder)
    try:
        soak.go()
    finally:
        if soak.steady is not None and soak.steady.process.poll() is None:  # only if this script failed
            soak.steady.process.kill()
        soak.show()
        subprocess.run(["umount", "-l", soak.disk], check=False)
        if arguments.json:
            with open(arguments.json, "w", encoding="utf-8") as file:
                json.dump({"figures": soak.figures, "troubles": soak.troubles, "wrong": soak.wrong, "memory": soak.steady and soak.steady.resident}, file)
        if soak.wrong:
            print("kept: " + folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures roceanalyze and its peers on generated captures and prints markdown tables.

Everything runs in one go on the same files, with the page cache warm, the programs interleaved
(A B C, A B C, ...) so that a change of the machine's mood meets all of them alike. The figure is
the median of the wall times. tests/bench/run builds what is needed and calls this."""

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

OWN_MEMORY_SAMPLE = 0.01  # seconds between looks at a program's own memory


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tests/bench/run", description=__doc__.split("\n\n")[0])
    parser.add_argument("--small-packets", type=int, default=5_000_000, metavar="N",
                        help="packets of the file with 64-byte messages (default 5000000; 0: without it)")
    parser.add_argument("--large-packets", type=int, default=2_000_000, metavar="N",
                        help="packets of the file with 1 KiB messages (default 2000000; 0: without it)")
    parser.add_argument("--mixed-packets", type=int, default=2_000_000, metavar="N",
                        help="packets of each file of all operations (default 2000000; 0: without them)")
    parser.add_argument("--loss", default="0,0.0005,0.01", metavar="LIST",
                        help="shares of packets lost in those, one file each (default 0,0.0005,0.01)")
    parser.add_argument("--qps", type=int, default=512, metavar="N",
                        help="connections, of two queue pairs each (default 512: 1024 queue pairs)")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of each program (default 5)")
    parser.add_argument("--tshark-repeat", type=int, default=1, metavar="N", help="runs of tshark (default 1)")
    parser.add_argument("--skip", default="", metavar="NAMES",
                        help="peers to leave out, by comma: pcap_loop,tcpdump,tshark,tins_loop")
    parser.add_argument("--jobs", default="1,2", metavar="LIST", help="values of our --jobs (default 1,2)")
    parser.add_argument("--build", required=True, metavar="DIR", help=argparse.SUPPRESS)
    return parser.parse_args()


def first_line(*command):
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return (result.stdout or result.stderr).splitlines()[0].strip()
    except (OSError, IndexError):
        return "?"


def processor():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


class OwnMemory(threading.Thread):
    """The largest anonymous memory seen of a process: without the pages of files it has mapped."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path = f"/proc/{pid}/status"
        self.peak = 0  # KiB
        self.done = threading.Event()

    def run(self):
        while not self.done.wait(OWN_MEMORY_SAMPLE):
            try:
                with open(self.path, encoding="ascii", errors="replace") as file:
                    for line in file:
                        if line.startswith("RssAnon:"):
                            self.peak = max(self.peak, int(line.split()[1]))
            except OSError:
                return


def measure(command):
    """(seconds, peak resident KiB, peak own KiB); a failing program ends the comparison."""
    null = os.open(os.devnull, os.O_RDWR)
    with tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=[
            (os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1),
            (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)])
        memory = OwnMemory(pid)
        memory.start()
        _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - begin
        memory.done.set()
        memory.join()
        os.close(null)
        if os.waitstatus_to_exitcode(status) != 0:
            errors.seek(0)
            sys.exit(f"{' '.join(command)}: status {os.waitstatus_to_exitcode(status)}\n"
                     + errors.read().decode(errors="replace"))
    return seconds, usage.ru_maxrss, memory.peak


def contenders(arguments, capture):
    """(label, command, runs); the empty loop first."""
    skip = set(filter(None, arguments.skip.split(",")))
    peers = [
        ("pcap_loop", "empty libpcap loop", os.path.join(arguments.build, "tests/bench/pcap_loop"), [capture], arguments.repeat),
        ("tcpdump", "`tcpdump -w /dev/null`", "tcpdump", ["-r", capture, "-w", os.devnull], arguments.repeat),
        ("tshark", "`tshark -q -z io,phs`", "tshark", ["-q", "-z", "io,phs", "-r", capture], arguments.tshark_repeat),
        ("tins_loop", "libtins loop", os.path.join(arguments.build, "tests/bench/tins_loop"), [capture], arguments.repeat),
    ]
    chosen = []
    for name, label, program, rest, runs in peers:
        path = shutil.which(program)
        if name in skip or runs == 0:
            continue
        if path is None:
            print(f"{name} is not there: left out", file=sys.stderr)
            continue
        chosen.append((label, [path, *rest], runs))
    ours = os.path.join(arguments.build, "cli/roceanalyze")
    for jobs in arguments.jobs.split(","):
        for switch, words in (("--no-icrc", ", no ICRC"), ("", ", ICRC of every packet")):
            command = [ours, "report", capture, "--jobs", jobs] + ([switch] if switch else [])
            chosen.append((f"**roceanalyze**, --jobs {jobs}{words}", command, arguments.repeat))
    return chosen


def compare(arguments, capture, packets, title):
    with open(capture, "rb", buffering=0) as file:  # warm the page cache
        while file.read(1 << 22):
            pass
    programs = contenders(arguments, capture)
    runs = {label: [] for label, _, _ in programs}
    for repetition in range(max(count for _, _, count in programs)):
        for label, command, count in programs:
            if repetition < count:
                print(f"  {repetition + 1}: {label}", file=sys.stderr)
                runs[label].append(measure(command))

    size = os.path.getsize(capture) / 2**20
    print(f"\n### {title}: {packets:,} packets, {size:,.0f} MiB\n")
    print("| program | runs | median s | min .. max | ns a packet | x empty loop | peak RSS MiB | own memory MiB |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    empty = next((statistics.median(r[0] for r in v) for k, v in runs.items() if k == "empty libpcap loop"), None)
    for label, results in runs.items():
        times = [r[0] for r in results]
        median = statistics.median(times)
        ratio = f"{median / empty:.2f}" if empty else "-"
        print(f"| {label} | {len(times)} | {median:.3f} | {min(times):.3f} .. {max(times):.3f} | "
              f"{median / packets * 1e9:.1f} | {ratio} | {max(r[1] for r in results) / 1024:.1f} | "
              f"{max(r[2] for r in results) / 1024:.1f} |")
    stages = subprocess.run([os.path.join(arguments.build, "tests/bench/stages"), capture], check=True,
                            capture_output=True, text=True).stdout.splitlines()
    print(f"\nBefore tracking, on one thread ({stages[0]}):\n\n| stage | CPU ns a packet |\n|---|---:|")
    print("\n".join(stages[1:]))
    sys.stdout.flush()


def captures(arguments):
    """(file name, packets, title, program and arguments that write it)"""
    qps = ["--qps", str(arguments.qps), "--hosts", "16"]
    for packets, message, title in ((arguments.small_packets, 64, "64-byte messages"),
                                    (arguments.large_packets, 1024, "1 KiB messages")):
        if packets:
            yield (f"{packets}x{message}x{arguments.qps}.pcap", packets, title,
                   ["roce_generate", "--packets", str(packets), "--message-bytes", str(message), *qps])
    for loss in arguments.loss.split(",") if arguments.mixed_packets else ():
        # WRITE, SEND, READ and ATOMIC, both ways at once; in a third of the flows one packet of a hundred has CE.
        yield (f"{arguments.mixed_packets}xmixed{loss}x{arguments.qps}.pcap", arguments.mixed_packets,
               f"all operations mixed, {float(loss) * 100:g} % lost",
               ["roce_fault_generate", "--packets", str(arguments.mixed_packets), *qps, "--mix", "4", "3", "2", "1",
                "--both-directions", "1", "--burst", "8", "--window", "32", "--idle-ns", "400000",
                "--loss-after", loss, "--congested", "0.3", "--ce", "0.01", "--seed", "9"])


def main():
    arguments = parse_arguments()
    kept = os.environ.get("ROCE_BENCH_DIR")
    if kept:
        os.makedirs(kept, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="roce-bench-") as temporary:
        folder = kept or temporary
        print(f"{processor()}, {os.cpu_count()} processors, Linux {platform.release()}; "
              f"{first_line(os.path.join(arguments.build, 'cli/roceanalyze'), '--version')}, "
              f"{first_line('c++', '--version')}, {first_line('tcpdump', '--version')}, "
              f"{first_line('tshark', '--version')}.")
        print("Resident memory cannot be told below some 20 MiB, those of the measuring script. Own memory (anonymous) "
              "is sampled.")
        for name, packets, title, generate in captures(arguments):
            capture = os.path.join(folder, name)
            if not os.path.exists(capture):
                print(f"Writing {capture}", file=sys.stderr)
                subprocess.run([os.path.join(arguments.build, "tests/support", generate[0]), *generate[1:],
                                capture + ".part"], check=True)
                os.rename(capture + ".part", capture)
            compare(arguments, capture, packets, f"{title}, {arguments.qps} connections")
            if not kept:
                os.unlink(capture)


if __name__ == "__main__":
    main()

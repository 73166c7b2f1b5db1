#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory of roceanalyze over the length of a capture: roce_generate streams captures of several sizes
through a pipe into `roceanalyze report -`, and the kernel says what the program took at most.
tests/bench/huge builds what is needed and calls this."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

RECORD_HEADER, FILE_HEADER = 16, 24  # of pcap
SAMPLE_PACKETS = 200_000
MIB, GB = 1 << 20, 10**9


def numbers(text):
    return [float(word) for word in text.split(",")]


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tests/bench/huge", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=numbers, default=[1, 4, 10], metavar="LIST",
                        help="sizes of the captures, in units of 10^9 bytes (default 1,4,10)")
    parser.add_argument("--qps", type=int, default=50_000, metavar="N",
                        help="connections, of two queue pairs each (default 50000: 100 000 queue pairs)")
    parser.add_argument("--hosts", type=int, default=64, metavar="N", help="hosts (default 64)")
    parser.add_argument("--message-bytes", type=int, default=64, metavar="N", help="of a message (default 64)")
    parser.add_argument("--operation", default="write", choices=["write", "send", "read"])
    parser.add_argument("--jobs", default="2", metavar="N", help="threads of the program (default 2)")
    parser.add_argument("--no-icrc", action="store_true", help="do not check ICRCs")
    parser.add_argument("--limit", type=float, default=256, metavar="MIB", help="memory at most (default 256)")
    parser.add_argument("--growth", type=float, default=5, metavar="PERCENT",
                        help="by how much the largest capture may take more than the smallest that shows every "
                             "connection (default 5)")
    parser.add_argument("--build", required=True, metavar="DIR", help=argparse.SUPPRESS)
    return parser.parse_args()


class Streams:
    """Runs `roceanalyze report` on what roce_generate writes into a pipe."""

    def __init__(self, options):
        self.program = os.path.join(options.build, "cli", "roceanalyze")
        self.report = [self.program, "report", "--json", "--jobs", options.jobs, "-"]
        if options.no_icrc:
            self.report.insert(2, "--no-icrc")
        self.generate = [os.path.join(options.build, "tests", "support", "roce_generate"), "--qps", str(options.qps),
                         "--hosts", str(options.hosts), "--message-bytes", str(options.message_bytes),
                         "--operation", options.operation, "-", "--packets"]

    def packet_bytes(self):
        """Bytes a packet of such a capture takes on average."""
        with subprocess.Popen([*self.generate, str(SAMPLE_PACKETS)], stdout=subprocess.PIPE) as generator:
            size = 0
            while piece := generator.stdout.read(MIB):
                size += len(piece)
        if generator.returncode != 0:
            sys.exit(f"roce_generate ended with {generator.returncode}")
        return (size - FILE_HEADER) / SAMPLE_PACKETS

    def run(self, packets):
        """(report, seconds, peak resident bytes)"""
        with tempfile.TemporaryFile() as output:
            begin = time.perf_counter()
            with subprocess.Popen([*self.generate, str(packets)], stdout=subprocess.PIPE) as generator:
                analyzer = subprocess.Popen(self.report, stdin=generator.stdout, stdout=output)
                generator.stdout.close()
                # wait4() tells of this child alone; getrusage() would of the largest of all.
                _, status, usage = os.wait4(analyzer.pid, 0)
                analyzer.returncode = os.waitstatus_to_exitcode(status)
            seconds = time.perf_counter() - begin
            if generator.returncode != 0 or analyzer.returncode not in (0, 1):
                sys.exit(f"roce_generate ended with {generator.returncode}, roceanalyze with {analyzer.returncode}")
            output.seek(0)
            return facts_of(output), seconds, usage.ru_maxrss * 1024


def facts_of(output):
    """Of a report: packets, captured bytes, connections, and how many of them are paired. Read by a process of its
    own: what this one takes would count as memory of the next program that it starts."""
    done = subprocess.run([sys.executable, "-c", READER], stdin=output, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


READER = """
import json, sys
report = json.load(sys.stdin)
paired = sum(c["state"] != "half_seen" for c in report["connections"])
capture = report["capture"]
print(json.dumps([capture["packets"], capture["captured_bytes"], len(report["connections"]), paired]))
"""


def main():
    options = parse_arguments()
    streams = Streams(options)
    each = streams.packet_bytes()
    print(f"{' '.join(streams.generate[1:-2])}: {each:.0f} bytes a packet\n")
    print("| capture | packets | connections | paired | seconds | million packets/s | peak memory |")
    print("|---|---|---|---|---|---|---|", flush=True)
    failures, peaks = [], []
    for size in options.gigabytes:
        packets = max(1, round(size * GB / each))
        (counted, captured, connections, paired), seconds, peak = streams.run(packets)
        total = captured + RECORD_HEADER * counted + FILE_HEADER
        print(f"| {total / GB:.2f} GB | {counted:,} | {connections:,} | {paired:,} | {seconds:.1f} | "
              f"{counted / seconds / 1e6:.2f} | {peak / MIB:.0f} MiB |", flush=True)
        if counted != packets:
            failures.append(f"{counted} packets of {packets} were counted")
        if peak > options.limit * MIB:
            failures.append(f"{peak / MIB:.0f} MiB for {total / GB:.2f} GB, more than {options.limit:.0f}")
        if connections >= options.qps:
            peaks.append(peak)
    if not peaks:
        failures.append("no capture shows all connections: take larger ones")
    elif peaks[-1] > peaks[0] * (1 + options.growth / 100):
        failures.append(f"memory grows with the capture: {peaks[0] / MIB:.0f} to {peaks[-1] / MIB:.0f} MiB")
    print("\n" + ("\n".join("FAIL: " + failure for failure in failures) or
                  f"bounded: at most {options.limit:.0f} MiB, whatever the length"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

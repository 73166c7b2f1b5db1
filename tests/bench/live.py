#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures captures of one load on a veth pair, ours and tcpdump's, and prints a markdown table.

Each program captures the same frames with a kernel buffer of the same size, in turns. CPU time is that of its threads
from before the load to a second after it, without what beginning and ending cost. What sending costs, and the
kernel's work at arrival, which happens in the sender's time, is the same for all. tests/bench/live builds what is needed and calls
this."""

import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import namespace  # noqa: E402

LOADS = (("as fast as it goes", ["--topspeed"]), ("100 000 a second", ["--pps=100000"]), ("5 000 a second", ["--pps=5000"]))
EXTCAP_LOADS = (("as fast as it goes", ["--topspeed"]), ("250 000 a second", ["--pps=250000"]), ("100 000 a second", ["--pps=100000"]))
SETTLE = 1.0  # seconds for a program to begin, and to take what is left when the load has ended


def parse_arguments():
    parser = argparse.ArgumentParser(prog="tests/bench/live", description=__doc__.split("\n\n")[0])
    parser.add_argument("--packets", type=int, default=2_000_000, help="of the fastest load (default 2000000)")
    parser.add_argument("--seconds", type=float, default=5, help="of the other loads (default 5)")
    parser.add_argument("--payload", default="64,1024", help="bytes of a message, by comma (default 64,1024)")
    parser.add_argument("--buffer", type=int, default=64, help="MiB of the kernel's buffer (default 64)")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each program and load (default 5)")
    parser.add_argument("--extcap", action="store_true", help="instead: what Wireshark gets, by the pipe of an external capture")
    parser.add_argument("--store", action="store_true", help="instead: what --store adds to a capture; take more than the 60 s of a batch")
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def programs(arguments, written):
    """name -> (command, how to read packets and drops from its output"""
    if arguments.store:
        capture = [os.path.join(arguments.build, "cli/roceanalyze"), "capture", "-i", "right", "-B", str(arguments.buffer), "--json"]
        read = (r'"packets_read":(\d+)', r'"dropped_by_kernel":(\d+)')
        stored = [*capture, "--store", written + ".spool/"]
        return {"`capture`": (capture, *read), "`capture --store SPOOL/`": (stored, *read)}
    live_dump = os.path.join(arguments.build, "tests/support/live_dump")
    program = os.path.join(arguments.build, "cli/roceanalyze")
    return {
        "`tcpdump -w FILE`": (
            ["tcpdump", "-i", "right", "-n", "-B", str(arguments.buffer << 10), "-w", written],
            r"(\d+) packets? captured", r"(\d+) packets? dropped by kernel"),
        "**roceanalyze** `capture --capture-only -w FILE`": (
            [program, "capture", "-i", "right", "-B", str(arguments.buffer), "--capture-only", "-w", written],
            r"(\d+) packets captured", r"(\d+) dropped by the kernel"),
        "our capture alone, nothing written": (
            [live_dump, "--device", "right", "--kernel-buffer", str(arguments.buffer << 20)],
            r'"delivered": (\d+)', r'"interface_dropped": (\d+)'),
    }


def processor_time(pid):
    """Nanoseconds that the threads of a process have run."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def run_once(command, packets, drops, load):
    """(CPU seconds, packets captured, dropped, arrived)"""
    with tempfile.TemporaryFile("w+") as output:
        before = namespace.statistics("right")["rx"]["packets"]
        process = subprocess.Popen(command, stdout=output, stderr=output)
        time.sleep(SETTLE)
        began = processor_time(process.pid)
        subprocess.run(load, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(SETTLE)
        took = processor_time(process.pid) - began
        process.send_signal(signal.SIGINT)
        process.wait()
        output.seek(0)
        text = output.read()
        arrived = namespace.statistics("right")["rx"]["packets"] - before

    captured, dropped = re.search(packets, text), re.search(drops, text)
    if process.returncode != 0 or captured is None or dropped is None:
        sys.exit(f"{command[0]} (status {process.returncode}) said:\n{text}")
    return took / 1e9, int(captured.group(1)), int(dropped.group(1)), arrived


def measure(arguments, capture, name, speed):
    packets = arguments.packets if speed == ["--topspeed"] else int(int(speed[0].split("=")[1]) * arguments.seconds)
    load = ["tcpreplay", "-q", "-K", "-i", "left", "--loop=0", f"--limit={packets}", *speed, capture]
    results = {}
    for _ in range(arguments.repeat):
        for program, description in programs(arguments, capture + ".written").items():
            results.setdefault(program, []).append(run_once(*description, load))
            shutil.rmtree(capture + ".written.spool", ignore_errors=True)
            if os.path.exists(capture + ".written"):
                os.unlink(capture + ".written")
    base = statistics.median(run[0] for run in next(iter(results.values())))
    for program, runs in results.items():
        cpu = statistics.median(run[0] for run in runs)
        arrived = statistics.median(run[3] for run in runs)
        lost = statistics.median(run[2] for run in runs)
        missing = max(run[3] - run[1] - run[2] for run in runs)
        print(f"| {name} | {program} | {len(runs)} | {cpu:.3f} | {min(run[0] for run in runs):.3f} .. "
              f"{max(run[0] for run in runs):.3f} | {cpu * 1e9 / max(arrived, 1):.0f} | {cpu / base:.2f} | {arrived:,.0f} | "
              f"{lost:,.0f} | {missing:,} |", flush=True)


def through_extcap(arguments, written):
    """name -> command: the frames as Wireshark's side has them in a file, by plain reading and by tshark."""
    program = os.path.join(arguments.build, "cli/roceanalyze")
    folder = os.path.dirname(written)
    extcap = os.path.join(folder, "extcap")
    if not os.path.isdir(extcap):
        os.mkdir(extcap)
        os.symlink(program, os.path.join(extcap, "roceanalyze"))
        os.mkfifo(os.path.join(folder, "fifo"))
    call = [program, "--capture", "--extcap-interface=roce-right", "--fifo=" + os.path.join(folder, "fifo"),
            f"--kernel-buffer={arguments.buffer}"]
    ring = ["--ring-file=" + os.path.join(folder, "ring.pcapng"), "--ring-filesize=20000", "--ring-files=3"]
    reader = ["sh", "-c", 'cat "$1" > "$2" & shift 2; "$@"; status=$?; wait; exit $status', "sh", os.path.join(folder, "fifo"), written]
    commands = {"the pipe, read by `cat`": [*reader, *call], "the same with a ring beside": [*reader, *call, *ring]}
    if shutil.which("tshark"):
        folders = subprocess.run(["tshark", "-G", "folders"], check=True, capture_output=True, text=True).stdout
        place = re.search(r"^Extcap path:\s+(\S+)$", folders, re.MULTILINE)
        subprocess.run(["mount", "--bind", extcap, place.group(1)], check=True)
        commands["`tshark -i roce-right -w FILE`"] = [
            "tshark", "-q", "-i", "roce-right", "-o", f"extcap.roce_right.kernelbuffer:{arguments.buffer}", "-w", written]
    return commands


def extcap_once(command, written, load):
    """(packets a second that were sent, arrived, in the file, counted as dropped)"""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
        time.sleep(4 * SETTLE)  # tshark asks every external capture before it begins
        before = namespace.statistics("right")["rx"]["packets"]
        began = time.monotonic()
        subprocess.run(load, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        took = time.monotonic() - began
        arrived = namespace.statistics("right")["rx"]["packets"] - before
        time.sleep(4 * SETTLE)
        os.killpg(process.pid, signal.SIGINT)
        process.wait()
        output.seek(0)
        text = output.read()
    dropped = re.search(r"(\d+) dropped by the kernel", text)
    shown = subprocess.run(["capinfos", "-c", "-M", "-T", "-r", written], check=False, capture_output=True, text=True).stdout
    if dropped is None or not shown:
        sys.exit(f"{command} (status {process.returncode}) said:\n{text}")
    return arrived / took, arrived, int(shown.split()[-1]), int(dropped.group(1))


def measure_extcap(arguments, capture, name, speed):
    packets = arguments.packets if speed == ["--topspeed"] else int(int(speed[0].split("=")[1]) * arguments.seconds)
    load = ["tcpreplay", "-q", "-K", "-i", "left", "--loop=0", f"--limit={packets}", *speed, capture]
    written = capture + ".written"
    for program, command in arguments.commands.items():
        for _ in range(arguments.repeat):
            rate, arrived, kept, dropped = extcap_once(command, written, load)
            print(f"| {name} | {program} | {rate:,.0f} | {arrived:,} | {kept:,} | {dropped:,} | {arrived - kept - dropped:,} |", flush=True)
            for left in os.listdir(os.path.dirname(written)):
                if left.startswith("ring_") or left.endswith(".written"):
                    os.unlink(os.path.join(os.path.dirname(written), left))


def main():
    arguments = parse_arguments()
    for tool in ("tcpreplay", "tcpdump", "ip"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is missing")
    arguments.build = os.path.abspath(arguments.build)
    namespace.enter_namespace()
    namespace.make_pair()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:  # no disk between the programs
        for payload in arguments.payload.split(","):
            capture = os.path.join(folder, "load.pcap")
            # To a store a load that begins again is one of repeats and troubles.
            different = max(arguments.packets, int(100_000 * arguments.seconds)) if arguments.store else 100_000
            subprocess.run([os.path.join(arguments.build, "tests/support/roce_generate"), "--packets", str(different),
                            "--message-bytes", payload, "--qps", "64", capture], check=True)
            if arguments.extcap:
                arguments.commands = through_extcap(arguments, capture + ".written")
                print(f"\n### {payload}-byte messages\n\n| load | reader | packets a second | arrived | in its file | "
                      "dropped and counted | unaccounted |\n|---|---|---:|---:|---:|---:|---:|")
                for name, speed in EXTCAP_LOADS:
                    measure_extcap(arguments, capture, name, speed)
                continue
            print(f"\n### {payload}-byte messages\n")
            other = "capture" if arguments.store else "tcpdump"
            print(f"| load | program | runs | CPU s, median | min .. max | ns a packet | x {other} | arrived | "
                  "dropped | unaccounted |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
            for name, speed in LOADS:
                measure(arguments, capture, name, speed)


if __name__ == "__main__":
    main()

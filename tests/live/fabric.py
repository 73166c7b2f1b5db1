#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Live captures in a fabric of three machines against the counters of the drivers and of netem: docs/lab.md.

A and B have an RDMA device each, C is a bridge between them. Every load runs without and with loss, while three live captures
run: on the interfaces of A and B and on the bridge, ahead of what drops packets. For each is compared: the live report with that
of the file that was recorded beside it; the counters that moved at both ends with the capture (`host --capture`); the packets lost
between the captures of A and B with those that netem dropped. Prints a markdown table; exit status 1 if anything differs.

The program has to be on all three machines. A machine is reached by a command that runs its last argument in a shell there:
    fabric.py --program roceanalyze --folder out --a "ssh root@a" --b "ssh root@b" --c "ssh root@bridge"
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time

# name -> (what B runs beside, or before; what A runs)
PERFTEST = "-d {device} -F -x {gid}"
NVME = ("modprobe nvmet-rdma && cd /sys/kernel/config/nvmet && mkdir -p subsystems/lab/namespaces/1 ports/1 && "
        "echo 1 >subsystems/lab/attr_allow_any_host && truncate -s 64M /tmp/lab_disk && "
        "(cd subsystems/lab/namespaces/1; echo 0 >enable; echo /tmp/lab_disk >device_path; echo 1 >enable) && cd ports/1 && "
        "(test -e subsystems/lab || (echo rdma >addr_trtype; echo ipv4 >addr_adrfam; echo {target} >addr_traddr; "
        "echo 4420 >addr_trsvcid; ln -s /sys/kernel/config/nvmet/subsystems/lab subsystems/lab)); sleep {seconds}")
LOADS = {
    "ib_write_bw": ("ib_write_bw " + PERFTEST + " -s 65536 -n 100", "ib_write_bw " + PERFTEST + " -s 65536 -n 100 {target}"),
    "ib_read_bw": ("ib_read_bw " + PERFTEST + " -s 65536 -n 100", "ib_read_bw " + PERFTEST + " -s 65536 -n 100 {target}"),
    "ib_send_bw": ("ib_send_bw " + PERFTEST + " -s 65536 -n 100", "ib_send_bw " + PERFTEST + " -s 65536 -n 100 {target}"),
    "rping": ("rping -s -a {target} -C 100 -S 8192", "rping -c -a {target} -C 100 -S 8192"),
    "NVMe-oF": (NVME, "modprobe nvme-rdma && nvme connect -t rdma -a {target} -s 4420 -n lab -i 1 && "
                      "for I in $(seq 60); do ls -d /sys/class/nvme-fabrics/ctl/nvme*/nvme*n1 && break; sleep 1; done && "
                      "D=$(ls -d /sys/class/nvme-fabrics/ctl/nvme*/nvme*n1 | head -1) && D=/dev/$(basename $D | sed 's/c[0-9]*n/n/') && "
                      "dd if=/dev/urandom of=$D bs=64k count=60 oflag=direct && dd if=$D of=/dev/null bs=64k count=60 iflag=direct; "
                      "STATUS=$?; nvme disconnect -n lab; exit $STATUS"),
}
OF_FILES = {"application", "bytes", "format", "path"}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for machine in "abc":
        parser.add_argument(f"--{machine}", required=True, type=shlex.split, help=f"the command that reaches {machine.upper()}")
    parser.add_argument("--program", required=True, help="roceanalyze on this machine")
    parser.add_argument("--folder", required=True, help="where captures, snapshots and reports are left")
    parser.add_argument("--device", default="rxe0", help="of A and B (default rxe0)")
    parser.add_argument("--gid", default="1", help="index that perftest uses (default 1)")
    parser.add_argument("--interface", default="eth0", help="of A and B (default eth0)")
    parser.add_argument("--bridge", default="br0", help="of C (default br0)")
    parser.add_argument("--ports", default="eth0,eth1", help="of C, to A and to B (default eth0,eth1)")
    parser.add_argument("--target", default="10.77.0.2", help="the address of B")
    parser.add_argument("--loss", default="0,1", help="percent that netem drops, each way, by comma (default 0,1)")
    parser.add_argument("--loads", default=",".join(LOADS), help="by comma (default: all)")
    parser.add_argument("--seconds", type=int, default=150, help="for one load at most (default 150)")
    return parser.parse_args()


class Fabric:
    def __init__(self, arguments):
        self.options = arguments
        self.reach = {"A": arguments.a, "B": arguments.b, "C": arguments.c}
        self.captured = {"A": arguments.interface, "B": arguments.interface, "C": arguments.bridge}

    def run(self, machine, text, check=True):
        done = subprocess.run([*self.reach[machine], text], capture_output=True, timeout=self.options.seconds + 60, check=False)
        if check and done.returncode != 0:
            sys.exit(f"{machine}: {text}\nstatus {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
        return done

    def fetch(self, machine, remote, name):
        path = os.path.join(self.options.folder, name)
        with open(path, "wb") as file:
            file.write(self.run(machine, f"cat {remote}").stdout)
        return path

    def start(self, machine, text):
        """On the machine, in the background: when it has ended, /tmp/fabric_status says how."""
        self.run(machine, f"rm -f /tmp/fabric_*; (setsid sh -c {shlex.quote('(' + text + '); echo $? >/tmp/fabric_status')} "
                          ">/tmp/fabric_out 2>/tmp/fabric_err </dev/null &)")

    def wait(self, machine, patience):
        until = time.monotonic() + patience
        while time.monotonic() < until:
            status = self.run(machine, "cat /tmp/fabric_status 2>/dev/null", check=False).stdout.decode().strip()
            if status:
                return int(status)
            time.sleep(1)
        sys.exit(f"{machine} did not end: " + self.run(machine, "tail -5 /tmp/fabric_err").stdout.decode())

    def set_loss(self, percent):
        """RoCE alone is dropped, so that each drop is a packet that a report may miss."""
        for port in self.options.ports.split(","):
            self.run("C", f"tc qdisc del dev {port} root 2>/dev/null; true")
            if percent:
                self.run("C", f"tc qdisc add dev {port} root handle 1: prio bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 && "
                              f"tc qdisc add dev {port} parent 1:1 handle 10: netem limit 10000 loss {percent}% && "
                              f"tc filter add dev {port} parent 1: protocol ip u32 match ip protocol 17 0xff "
                              "match ip dport 4791 0xffff flowid 1:1")

    def dropped(self):
        """Packets that netem dropped: (A to B, B to A)"""
        counts = []
        for port in self.options.ports.split(","):
            shown = json.loads(self.run("C", f"tc -s -j qdisc show dev {port}").stdout or b"[]")
            counts.append(sum(q.get("drops", 0) for q in shown if q["kind"] == "netem"))
        return counts[1], counts[0]

    def counters(self, machine):
        shown = self.run(machine, f"cd /sys/class/infiniband/{self.options.device}/ports/1/hw_counters && grep . *").stdout
        return dict(line.split(":") for line in shown.decode().split())


def without_file_facts(report):
    for file in report["capture"]["files"]:
        for key in OF_FILES:
            file.pop(key, None)
    return report


def play(fabric, name, percent):
    """One load with everything around it; what was found."""
    options, tag = fabric.options, re.sub(r"\W", "", name) + f"_loss{percent}"
    server, client = (text.format(device=options.device, gid=options.gid, target=options.target, seconds=3) for text in LOADS[name])
    fabric.set_loss(percent)
    for machine in "AB":
        fabric.run(machine, "roceanalyze host --snapshot /tmp/before.json")
    before = {machine: fabric.counters(machine) for machine in "AB"}
    for machine, interface in fabric.captured.items():
        fabric.run(machine, f"rm -f /tmp/live.*; (setsid roceanalyze capture -i {interface} -B 128 -w /tmp/live.pcapng --json "
                            ">/tmp/live.json 2>/tmp/live.err </dev/null & echo $! >/tmp/live.pid); "
                            "until test -s /tmp/live.pcapng; do sleep 0.2; done; sleep 1")
    fabric.start("B", server)
    time.sleep(6 if name == "NVMe-oF" else 3)
    fabric.start("A", client)
    status = {"A": fabric.wait("A", options.seconds)}
    status["B"] = fabric.wait("B", 30 if status["A"] == 0 else 120)
    time.sleep(2)
    for machine in fabric.captured:
        fabric.run(machine, "kill -INT $(cat /tmp/live.pid); while kill -0 $(cat /tmp/live.pid) 2>/dev/null; do sleep 0.2; done")
    for machine in "AB":
        fabric.run(machine, "roceanalyze host --snapshot /tmp/after.json")
    after, dropped = {machine: fabric.counters(machine) for machine in "AB"}, fabric.dropped()
    files = {}
    for machine in fabric.captured:
        for kind in ("pcapng", "json", "err"):
            files[machine, kind] = fabric.fetch(machine, f"/tmp/live.{kind}", f"{tag}.{machine}.{kind}")
    for machine in "AB":
        for kind in ("before", "after"):
            files[machine, kind] = fabric.fetch(machine, f"/tmp/{kind}.json", f"{tag}.{machine}.{kind}")
        fabric.fetch(machine, "/tmp/fabric_out", f"{tag}.{machine}.out")
        fabric.fetch(machine, "/tmp/fabric_err", f"{tag}.{machine}.log")
    moved = {m: {k: int(after[m][k]) - int(before[m][k]) for k in before[m]} for m in "AB"}
    return judge(fabric, name, percent, files, {"status": status, "dropped": dropped, "moved": moved})


def judge(fabric, name, percent, files, facts):
    def report(*words):
        return json.loads(subprocess.run([fabric.options.program, *words, "--json"], check=True, capture_output=True).stdout)

    wrong, packets = [], {}
    if facts["status"] != {"A": 0, "B": 0}:
        wrong.append(f"the load itself ended with {facts['status']}")
    for machine in fabric.captured:
        with open(files[machine, "json"], encoding="utf-8") as file:
            live = json.load(file)
        packets[machine] = live["roce"]["packets"]
        drops = sum(i.get("dropped_by_kernel") or 0 for i in live["capture"]["interfaces"])
        if drops:
            wrong.append(f"the capture of {machine} dropped {drops}")
        filed = report("report", files[machine, "pcapng"])
        live, filed = without_file_facts(live), without_file_facts(filed)
        wrong += [f"{machine}: live and file differ in {key}" for key in live if live[key] != filed.get(key)]
    verdicts = {"agrees": 0, "explained": 0, "differs": 0}
    for end in "AB":
        for machine in fabric.captured:
            result = report("host", "--before", files[end, "before"], "--after", files[end, "after"], "--capture",
                            files[machine, "pcapng"])
            for check in result["wire"]["checks"]:
                verdicts[check["verdict"]] += 1
                words = f"{end}'s {check['counter']} at {machine}: {check['moved']}, the wire {check['wire']}"
                if check["verdict"] == "differs":
                    wrong.append(f"{words} ({check['low']} .. {check['high']})")
                elif check["verdict"] == "explained":
                    facts.setdefault("explained", []).append(f"{words}: {check['why']}")
            # The snapshots against sysfs, read by another program.
            counted = {c["counter"]: c["moved"] for c in result["wire"]["checks"]}
            wrong += [f"{end}: the snapshots say {counted[k]} for {k}, sysfs {v}" for k, v in facts["moved"][end].items()
                      if k in counted and counted[k] != v]
    both = report("report", files["A", "pcapng"], files["B", "pcapng"])
    between = {}
    for finding in both["findings"]:
        if finding["id"] == "loss_between_points":
            source = finding["subject"].split()[0]
            between[source] = between.get(source, 0) + finding["count"]
    lost = (sum(n for s, n in between.items() if s != fabric.options.target), between.get(fabric.options.target, 0))
    facts |= {"packets": packets, "verdicts": verdicts, "between": lost, "wrong": wrong}
    if lost != facts["dropped"]:
        wrong.append(f"netem dropped {facts['dropped']}, lost between the captures {lost}")
    faults = [f"{machine} {key} {value}" for machine in "AB" for key, value in facts["moved"][machine].items()
              if value and key not in ("sent_pkts", "rcvd_pkts", "rdma_sends", "rdma_recvs", "ack_deferred", "lifespan")]
    print(f"| {name} | {percent} % | {packets['A']} / {packets['C']} / {packets['B']} | {facts['dropped'][0]} / {facts['dropped'][1]} | "
          f"{lost[0]} / {lost[1]} | {', '.join(faults) or '-'} | {verdicts['agrees']} / {verdicts['explained']} / {verdicts['differs']} | "
          f"{'; '.join(wrong) or '-'} |", flush=True)
    return facts


def main():
    arguments = parse_arguments()
    os.makedirs(arguments.folder, exist_ok=True)
    fabric = Fabric(arguments)
    print("| load | loss each way | RoCE packets at A / C / B | dropped by netem A-B / B-A | lost by the report A-B / B-A | counters of faults | "
          "checks: agree / explained / differ | otherwise |\n|---|---|---|---|---|---|---|---|", flush=True)
    found = {}
    for name in arguments.loads.split(","):
        for percent in arguments.loss.split(","):
            found[f"{name} {percent}"] = play(fabric, name, float(percent) if "." in percent else int(percent))
    with open(os.path.join(arguments.folder, "facts.json"), "w", encoding="ascii") as file:
        json.dump(found, file, indent=1)
    for load, facts in found.items():
        for text in facts.get("explained", []):
            print(f"{load}: {text}")
    return 1 if any(facts["wrong"] for facts in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Commands and the output they must give, kept as NAME.txt beside this script.
Usage: golden_test.py ROCEANALYZE SAMPLES [--update]
--update rewrites the expectations: read the difference before committing it."""

import difflib
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = {
    "report_loss": "report 04_write_loss1.cb.pcap.zst",
    "report_corrupt": "report 04_write_corrupt.cb.pcap.zst",
    "report_snap": "report 13_snap64.pcap",
    "report_vxlan": "report 09_vxlan_ce.ca.pcap.zst",
    "report_nvmeof": "report 10_nvmeof_io.pcap.zst",
    "report_flush": "report 06_flush.pcap",
    "report_refused_json": "report --json --pretty 06_badrkey_write.pcap",
    "flows_rping_csv": "flows --csv 03_rping.pcap",
    "connections_mix": "connections 06_mix_4qp.pcap.zst --sort lost",
    "connections_loss_csv": "connections --csv 04_read_loss1.cb.pcap.zst",
    "packets_marks": "packets 04_write_loss1.cb.pcap.zst -Y roce.analysis.flags -c 160",
    "packets_analysis": "packets 04_write_loss1.ca.pcap.zst -V -Y roce.analysis.lost -c 200",
    "packets_answers": "packets 02_atomic_cas.pcap -Y roce.analysis.response_time -c 70 -T fields -E header=y -e frame.number "
                       "-e roce.connection -e roce.direction -e roce.analysis.request -e roce.analysis.response_time",
    "packets_rping": "packets -c 12 03_rping.pcap",
    "packets_reject": "packets -V 03_rping_noserver.pcap",
    "packets_atomic": "packets -V -x -c 30 02_atomic_cas.pcap -Y infiniband.atomiceth",
    "packets_naks": "packets 05_rnr_exhaust.pcap -Y infiniband.aeth.syndrome.opcode>0 -c 60",
    "packets_fields": "packets 03_rping.pcap -c 9 -T fields -E header=y -e frame.number -e ip.src "
                      "-e infiniband.bth.opcode -e infiniband.bth.psn -e infiniband.reth.va -e infiniband.aeth.msn",
    "packets_json": "packets 03_rping.pcap -c 2 -T json",
    "packets_qinq": "packets 08_qinq.pcap.zst -V -c 20 -Y infiniband.bth",
}


def main():
    program, samples = os.path.abspath(sys.argv[1]), sys.argv[2]
    update = "--update" in sys.argv[3:]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    failed = 0
    for name, command in CASES.items():
        done = subprocess.run([program, *command.split()], cwd=samples, env=environment,
                              capture_output=True, check=False, timeout=60)
        got = f"$ roceanalyze {command}\n" + done.stdout.decode() + done.stderr.decode()
        got += f"status {done.returncode}\n"
        path = os.path.join(HERE, name + ".txt")
        if update:
            with open(path, "w", encoding="utf-8", newline="") as f:
                f.write(got)
            continue
        with open(path, encoding="utf-8", newline="") as f:
            expected = f.read()
        if got != expected:
            failed += 1
            sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), got.splitlines(True),
                                                       f"{name}.txt", "now", n=1))
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

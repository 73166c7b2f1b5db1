#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is wrong fits on one screen, and is said once: the text report of each sample, before its tables.

Usage: one_screen_test.py ROCEANALYZE SAMPLES"""
import glob
import json
import os
import subprocess
import sys

LINES = 60
COLUMNS = 100
# A command is one word, so that it can be copied: it may be longer than a line.
UNBROKEN = ("roceanalyze ", "'")


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False).stdout


def faults(program, file):
    lines = run(program, "report", file).splitlines()
    before = next((i for i, line in enumerate(lines) if line.startswith("Capture ")), len(lines))
    if before > LINES:
        yield f"{before} lines before the capture is described"
    for line in lines[:before]:
        if len(line) > COLUMNS and not line.strip().startswith(UNBROKEN):
            yield f"{len(line)} columns: {line}"
    told = set()
    for diagnosis in json.loads(run(program, "report", "--json", file))["diagnoses"]:
        place = diagnosis["place"]
        trouble = (diagnosis["cause"], place.get("from"), place.get("to"), place["seen"], *diagnosis["connections"])
        if trouble in told:
            yield f"told twice: {diagnosis['sentence']}"
        told.add(trouble)


def main():
    program, samples = sys.argv[1:3]
    files = sorted(glob.glob(f"{samples}/*.pcap*"))
    wrong = 0
    for file in files:
        for fault in faults(program, file):
            wrong += 1
            print(f"{os.path.basename(file)}: {fault}")
    print(f"{len(files)} reports, {wrong} faults")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""One generated capture, its truth, and what the program says of it."""

import hashlib
import json
import os
import subprocess

import measure


INCOMPLETE = 3  # exit status: the program says that it could not judge everything


class Run:
    """Generates the capture into `folder`; judge() has the program look at it."""

    def __init__(self, generate, program, scenario, packets, seed, folder):
        self.program, self.scenario = program, scenario
        name = os.path.join(folder, scenario.name)
        self.capture = name + (".pcapng" if "pcapng" in scenario.arguments else ".pcap")
        self.truth, self.fields, self.report = name + ".jsonl", name + ".fields.tsv", name + ".report.json"
        self.command = [generate, self.capture, "--truth", self.truth, "--seed", str(seed), *scenario.command(packets)]
        subprocess.run(self.command, check=True)

    def judge(self):
        """(truth, result)"""
        command = [self.program, "packets", self.capture, "-Y", measure.FILTER, "-T", "fields"]
        for field in measure.FIELDS:
            command += ["-e", field]
        truth = measure.Truth(self.truth)
        for command, path in ((command, self.fields), ([self.program, "report", self.capture, "--json"], self.report)):
            with open(path, "w", encoding="utf-8") as file:
                done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode not in (0, INCOMPLETE):
                result = measure.Result()
                result.failures.append(f"{' '.join(command[:2])} ended with {done.returncode}: "
                                       f"{done.stderr.strip()[:300]}")
                return truth, result
        with open(self.fields, encoding="utf-8") as file:
            verdicts = measure.read_verdicts(file)
        with open(self.report, encoding="utf-8") as file:
            return truth, measure.measure(self.scenario, truth, verdicts, json.load(file))

    def digest(self):
        """Of the capture and its truth."""
        total = hashlib.sha256()
        for path in (self.capture, self.truth):
            with open(path, "rb") as file:
                total.update(file.read())
        return total.hexdigest()

    def remove(self):
        for path in (self.capture, self.truth, self.fields, self.report):
            if os.path.exists(path):
                os.remove(path)

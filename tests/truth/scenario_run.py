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

    def shown(self):
        """The command, without the folder, which is none of the scenario's business."""
        return " ".join(["roce_fault_generate", os.path.basename(self.capture), "--truth", os.path.basename(self.truth),
                         *self.command[4:]])

    def says(self, command, path):
        """Has the program write to `path`; None, or why it failed."""
        with open(path, "w", encoding="utf-8") as file:
            done = subprocess.run([self.program, *command], stdout=file, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode in (0, INCOMPLETE):
            return None
        return f"{self.program} {command[0]} ended with {done.returncode}: {done.stderr.strip()[:300]}"

    def ask(self, *options):
        """(report, None) or (None, why the program failed)"""
        failure = self.says(["report", self.capture, "--json", *options], self.report)
        if failure:
            return None, failure
        with open(self.report, encoding="utf-8") as file:
            return json.load(file), None

    def passed(self):
        """[(frame, time in nanoseconds, sender, receiver)] of the capture, by the program's dissector."""
        fields = ("frame.number", "frame.time_epoch", "roce.src", "roce.dst")
        failure = self.says(["packets", self.capture, "--no-analysis", "-Y", "infiniband", "-T", "fields",
                             *(word for field in fields for word in ("-e", field))], self.fields)
        assert failure is None, failure
        with open(self.fields, encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        return [(int(frame), int(time.replace(".", "")), sender, receiver) for frame, time, sender, receiver in rows]

    def judge(self):
        """(truth, result)"""
        truth = measure.Truth(self.truth)
        fields = [argument for field in measure.FIELDS for argument in ("-e", field)]
        failure = self.says(["packets", self.capture, "-Y", measure.FILTER, "-T", "fields", *fields,
                             *self.scenario.told], self.fields)
        report, failure = (None, failure) if failure else self.ask(*self.scenario.told)
        if failure:
            result = measure.Result()
            result.failures.append(failure)
            return truth, result
        with open(self.fields, encoding="utf-8") as file:
            verdicts, repeats = measure.read_verdicts(file)
        return truth, measure.measure(self.scenario, truth, verdicts, repeats, report)

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

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reports that docs/diagnoses.md reads aloud say what the program says.

Usage: diagnoses_document_test.py ROCEANALYZE SAMPLES"""
import glob
import os
import re
import subprocess
import sys

SEVERITY = ("FATAL", "DEGRADED", "ODD")
FOLLOWS = ("Not ruled out:", "To confirm:", "To do:")


def first_sentence(lines):
    """The first diagnosis of a report, up to what follows its sentence, in one line."""
    words = []
    for line in lines:
        text = line.strip()
        begins = text.startswith(SEVERITY)
        if not words and not begins:
            continue
        if words and (begins or text.startswith(FOLLOWS) or not text):
            break
        words.append(text)
    return re.sub(r"\s+", " ", " ".join(words))


def said_in_document(path):
    """Yields (sample, sentence) of each report."""
    name = None
    block = []
    for line in open(path, encoding="utf-8"):
        named = re.match(r"\*\*`([^`]+)`\*\*", line)
        if named:
            name, block = named.group(1), []
        elif name and line.startswith("    "):
            block.append(line)
        elif name and block:
            yield name, first_sentence(block)
            name = None


def main():
    program, samples = sys.argv[1:3]
    document = os.path.join(os.path.dirname(__file__), "../../docs/diagnoses.md")
    wrong = checked = 0
    for name, said in said_in_document(document):
        file = glob.glob(f"{samples}/{name}.pcap*")
        assert len(file) == 1, name
        report = subprocess.run([program, "report", file[0]], capture_output=True, text=True, check=False).stdout
        # Below the sentence stands of whom it is, and what is known beyond: the document may leave that out.
        if not first_sentence(report.splitlines()).startswith(said):
            wrong += 1
            print(f"{name}: the document says\n  {said}\nthe program\n  {first_sentence(report.splitlines())}")
        checked += 1
    print(f"{checked} reports, {wrong} otherwise than the document says")
    return 1 if wrong or checked < 10 else 0


if __name__ == "__main__":
    sys.exit(main())

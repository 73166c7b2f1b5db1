#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The answers of docs/cookbook.md are what its commands print: in each block, lines that begin with "$ " are commands, and what follows one
is its output. Usage: cookbook_test.py ROCEANALYZE SAMPLES [--update], which prints them anew: read the difference."""

import os
import re
import subprocess
import sys
import tempfile

PROGRAM, SAMPLES = (os.path.abspath(path) for path in sys.argv[1:3])
DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/cookbook.md")
BLOCK = re.compile(r"(?<=```\n)\$ .*?(?=```\n)", re.DOTALL)
LINES = 20  # of one answer, at most


def answer(command):
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(SAMPLES, os.path.join(folder, "samples"))
        os.symlink(PROGRAM, os.path.join(folder, "roceanalyze"))
        environment = dict(os.environ, PATH=folder + ":" + os.environ["PATH"], LC_ALL="C.UTF-8", COLUMNS="100", ROCEANALYZE_CONFIG="")
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, timeout=60)
        return done.stdout


def played(block):
    return "".join(f"{line}\n{answer(line[2:])}" for line in block.group().splitlines() if line.startswith("$ "))


def main():
    with open(DOCUMENT, encoding="utf-8") as file:
        said = file.read()
    now = BLOCK.sub(played, said)
    if "--update" in sys.argv:
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(now)
        return 0
    blocks = BLOCK.findall(now)
    long = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part.count("\n") > LINES + 1]
    silent = [line for block in blocks for line in re.findall(r"^\$ (.*)\n(?=\$ |\Z)", block, flags=re.MULTILINE)]
    if now == said and not long and not silent and len(blocks) == len(re.findall(r"^## \d+\. ", said, re.MULTILINE)) >= 20:
        return 0
    for old, new in zip(said.splitlines(), now.splitlines()):
        if old != new:
            print(f"the document says\n  {old}\nthe program\n  {new}")
            break
    print(f"{len(blocks)} answers; too long: {long}; without an output: {silent}")
    return 1


if __name__ == "__main__":
    sys.exit(main())

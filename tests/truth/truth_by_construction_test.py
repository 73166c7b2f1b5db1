#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Truth by construction: generated captures whose every retransmission, copy and loss is known, against
what the program says of them.

Usage: truth_by_construction_test.py ROCE_FAULT_GENERATE ROCEANALYZE [--packets N] [--all] [--scenario NAME]...
                                     [--seed N] [--keep FOLDER] [--verbose]
Prints a table and fails where a target is missed (measure.py has the limits)."""

import argparse
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import measure  # noqa: E402
from scenario_run import Run  # noqa: E402
from scenarios import LOSS_FINDINGS, QUICK, SCENARIOS  # noqa: E402

measure.LOSS_CLAIMS = frozenset(LOSS_FINDINGS)
COLUMNS = [("scenario", 17), ("frames", 8), ("repeats", 8), ("precision", 9), ("recall", 9), ("causes", 9), ("exact", 9),
           ("original", 9), ("pairs", 11), ("wrong", 5), ("lost told/knowable: before after by", 36), ("s", 5)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("generate")
    parser.add_argument("program")
    parser.add_argument("--packets", type=int, default=100_000, help="of a scenario; some take half of it")
    parser.add_argument("--all", action="store_true", help="every scenario, also those that want more packets")
    parser.add_argument("--scenario", action="append", default=[], help="only these")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder for captures and truths; default: thrown away")
    parser.add_argument("--verbose", action="store_true", help="details of scenarios that pass too")
    return parser.parse_args()


def chosen(options):
    if options.scenario:
        known = {s.name: s for s in SCENARIOS}
        return [known[name] for name in options.scenario]
    return [s for s in SCENARIOS if options.all or s.name in QUICK]


def run_scenario(options, scenario, folder):
    run = Run(options.generate, options.program, scenario, options.packets, options.seed, folder)
    truth, result = run.judge()
    if not options.keep:
        run.remove()
    return truth, result


def row(scenario, truth, result, seconds):
    figures = result.figures
    def share(name):
        return f"{figures[name]:.5f}" if name in figures else "-"
    cells = [scenario.name, truth.totals["frames"], figures.get("retransmissions", "-"), share("precision"),
             share("recall"), share("causes"), share("causes_exact"), share("originals"),
             f"{figures.get('paired', '-')}/{figures.get('connections', '-')}", figures.get("wrong_pairs", "-"),
             figures.get("lost", "-"), f"{seconds:.1f}"]
    return "  ".join(str(cell).ljust(width) for cell, (_, width) in zip(cells, COLUMNS))


def main():
    options = arguments()
    failed = []
    print("  ".join(name.ljust(width) for name, width in COLUMNS))
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for scenario in chosen(options):
            begin = time.monotonic()
            truth, result = run_scenario(options, scenario, folder)
            print(row(scenario, truth, result, time.monotonic() - begin), flush=True)
            for failure in result.failures:
                print(f"    {'FAIL' if scenario.strict else 'note'}: {failure}")
            if result.failures or options.verbose:
                for note in result.notes:
                    print("    " + note)
            if result.failures and scenario.strict:
                failed.append(scenario.name)
    print(f"failed: {' '.join(failed)}" if failed else "all targets met")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

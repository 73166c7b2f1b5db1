# SPDX-License-Identifier: Apache-2.0
"""What the draws have in common (draw, diagnose): their arguments, running scenarios side by side, tables."""

import concurrent.futures
import hashlib
import os
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def add_arguments(parser, count, packets):
    """`count`, `packets`: their defaults."""
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=count, help=f"scenarios; default: {count}")
    parser.add_argument("--only", type=int, help="this scenario alone")
    parser.add_argument("--keep", metavar="DIR", help="folder for captures, truths and results; default: thrown away")
    parser.add_argument("--packets", type=int, default=packets, help="of a scenario, before what is under way drains")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--verbose", action="store_true", help="a row for each scenario")
    parser.add_argument("--fixed", action="store_true", help="a small draw of its own seed, held to its limits")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="folder with both programs")
    parser.add_argument("--generate", help="roce_fault_generate; default: of --build")
    parser.add_argument("--program", help="roceanalyze; default: of --build")


def parse(parser, limits):
    """`limits`: the module whose draw --fixed is."""
    options = parser.parse_args()
    options.generate = options.generate or os.path.join(options.build, "tests", "support", "roce_fault_generate")
    options.program = options.program or os.path.join(options.build, "cli", "roceanalyze")
    for program in (options.generate, options.program):
        if not os.access(program, os.X_OK):
            parser.error(f"no program {program}")
    if options.fixed:
        options.seed, options.count, options.packets = limits.SEED, limits.COUNT, limits.PACKETS
    if options.count < 1 or options.jobs < 1 or options.packets < 1:
        parser.error("--count, --jobs and --packets must be positive")
    return options


def numbers(count, names, wanted):
    """Scenario K is of kind K modulo the number of kinds, so that the count and the kinds wanted never change a
    scenario."""
    chosen = {names.index(kind) for kind in wanted} or set(range(len(names)))
    found, number = [], 0
    while len(found) < count:
        if number % len(names) in chosen:
            found.append(number)
        number += 1
    return found


def run_all(options, wanted, run):
    """run(options, number, folder) of each number, in their order."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as workers:
            return list(workers.map(lambda number: run(options, number, folder), wanted))


def checksum(digests):
    return "sha256 of captures and truths: " + hashlib.sha256("".join(digests).encode()).hexdigest()


def line(columns, title, cells):
    return f"{title:24}" + "".join(f"  {cell:>{width}}" for cell, (_, width) in zip(cells, columns))


def print_table(columns, title, groups):
    """`groups`: (name, something with cells())"""
    print(line(columns, title, [name for name, _ in columns]))
    for name, row in groups:
        print(line(columns, name, row.cells()))
    print()

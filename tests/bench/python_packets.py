#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many packets with verdicts Python gets in a second: python_packets.py FILE [TIMES]. Time by the clock, analysis included,
and time of the processor in the second reading; the best of TIMES (3)."""

import sys
import time

import roceanalyze

NUMBERS = ["frame.number", "frame.time_epoch", "infiniband.bth.psn", "roce.connection", "roce.analysis.retransmission",
           "roce.analysis.lost.packets"]


def batches(path, fields):
    opened = roceanalyze.packets(path, fields)
    begin = time.process_time()
    count = 0
    for batch in opened:
        count += batch.rows
        for name in fields:
            _ = batch[name].data, batch[name].known
    return count, time.process_time() - begin


def rows(path, fields):
    opened = roceanalyze.packets(path, fields)
    begin = time.process_time()
    return sum(1 for _ in opened.tuples()), time.process_time() - begin


def main(path, times="3"):
    for what in (batches, rows):
        for name, fields in (("numbers", NUMBERS), ("usual fields", list(roceanalyze.USUAL_FIELDS))):
            best, least = 0.0, 0.0
            for _ in range(int(times)):
                begin = time.perf_counter()
                count, second = what(path, fields)
                best = max(best, count / (time.perf_counter() - begin))
                least = second if least == 0 else min(least, second)
            print(f"{what.__name__:8} {len(fields):2} {name:12} {best / 1e6:5.2f} M packets/s, "
                  f"second reading {least / count * 1e9:5.0f} ns of the processor a packet")


if __name__ == "__main__":
    main(*sys.argv[1:])

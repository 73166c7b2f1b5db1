#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sampled capture proves no loss: samples captured at both sides of what loses, delays or marks packets are compared with
one in 2, 16 or 100 of either file. No more losses than the whole files show, no black hole, and line one says what is lacking.

    compare_sampled_test.py PROGRAM SAMPLES"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import capture_variants as variants  # noqa: E402

PROGRAM, SAMPLES = os.path.abspath(sys.argv[1]), sys.argv[2]
NAMES = ("04_write_loss1", "04_write_jitter", "04_write_reorder", "04_read_loss1", "04_write_ackloss10", "06_retry_exceeded",
         "07_ce_netem10", "14_mtu1500_loss")
LEAST = 20  # packets


def run(*words):
    done = subprocess.run([PROGRAM, "compare", *words], check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (words, done.returncode, done.stderr)
    return done.stdout


def lost(report):
    return report["lost_a_to_b"], report["lost_b_to_a"]


def sampled(records, one_in, at_random, seed):
    return variants.at_random(records, one_in, seed) if at_random else variants.regular(records, one_in, seed % one_in)


def check(name, whole, files, at_random, one_in, folder):
    paths = [os.path.join(folder, side) for side in ("a.pcap", "b.pcap")]
    for path, records in zip(paths, files):
        variants.write(path, records)
    report = json.loads(run("--json", *paths))
    what = (name, one_in, at_random, lost(whole), lost(report))
    assert all(now <= before for now, before in zip(lost(report), lost(whole))), what
    told = {finding["id"] for finding in report["findings"]}
    assert "black_hole_between" not in told, what
    assert "lost_beyond_points" not in told or "lost_beyond_points" in {f["id"] for f in whole["findings"]}, what
    undecided = sum(report["undecided"].values())
    if undecided and not sum(whole["undecided"].values()):
        assert not all(report["judges_losses"].values()), what
        text = run(*paths)
        assert text.startswith("LIMITED"), what
        assert "nothing wrong found" not in text, what
        assert not any(cause["cause"] == "loss" for cause in report["diagnoses"]) or sum(lost(report)), what
    return 1


def main():
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            ends = [os.path.join(SAMPLES, f"{name}.{side}.pcap.zst") for side in ("ca", "cb")]
            whole, files = json.loads(run("--json", *ends)), [variants.read(path) for path in ends]
            for one_in in (2, 16, 100):
                for at_random in (False, True):
                    thin = [sampled(records, one_in, at_random, seed) for records, seed in zip(files, (11, 27))]
                    for both in ((thin[0], files[1]), (files[0], thin[1]), tuple(thin)):
                        if min(len(records) for records in both) >= LEAST:
                            count += check(name, whole, both, at_random, one_in, folder)
    assert count > 80, count
    print(f"{count} comparisons of samples claim no loss")


main()

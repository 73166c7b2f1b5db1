# SPDX-License-Identifier: Apache-2.0
"""What the fixed draw of diagnoses (tests/truth/diagnose --fixed) is held to."""

SEED, COUNT, PACKETS = 20261126, 56, 3000

AIM = 0.95  # of the scenarios of a cause, right or as undecided as the capture is; no excluded cause at all
# Of a cause the scenarios that are wrong today, and of these the excluded ones. They may only get fewer.
WRONG_TODAY = {"reordering": 1, "congestion": 1}
EXCLUDED_TODAY = {}


def missed(sums):
    """`sums`: of each cause, counts of scenarios by outcome. Returns sentences."""
    found = []
    for cause, counts in sums.items():
        wrong = counts["wrong"] + counts["excluded"]
        allowed = WRONG_TODAY.get(cause, int((1 - AIM) * counts["scenarios"]))
        if wrong > allowed:
            found.append(f"{cause}: {wrong} of {counts['scenarios']} wrong, limit {allowed}")
        if counts["excluded"] > EXCLUDED_TODAY.get(cause, 0):
            found.append(f"{cause}: {counts['excluded']} excluded by the capture, limit {EXCLUDED_TODAY.get(cause, 0)}")
    return found

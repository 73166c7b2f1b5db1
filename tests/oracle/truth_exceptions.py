# SPDX-License-Identifier: Apache-2.0
"""Where roceanalyze may differ from the truth, each with its reason. docs/truth.md tells the longer story."""


class Row:
    def __init__(self, file, kind, ours, truth, reason):
        self.file, self.kind, self.ours, self.truth, self.reason = file, kind, ours, truth, reason

    def matches(self, name, difference):
        return (self.file, self.kind, self.ours, self.truth) == (name, difference.kind, difference.ours,
                                                                  difference.truth)

    def __str__(self):
        figures = f"{self.ours} packets" if self.truth is None else f"roceanalyze {self.ours}, truth {self.truth}"
        return f"{self.file}: {self.kind}: {figures} ({self.reason})"


AHEAD_OF_REORDERING = "the capture stands before the reordering: responses asked for again had only been overtaken"

EXCEPTIONS = [
    Row("04_read_reorder.cb.pcap.zst", "lost after", 1, 0, AHEAD_OF_REORDERING),
    Row("04_atomic_ackloss5.ca.pcap", "lost before", 10, 50,
        "open: of answers to atomics that each pass lacks anew only the first loss is told"),
    Row("04_atomic_ackloss5.cb.pcap", "lost after", 6, 13,
        "open: where the next pass begins where the one before began, the answer may have been late"),
    Row("04_read_loss1.cb.pcap.zst", "spurious too many", 3, None,
        "open: the episode ends before the READs that were asked for again are answered"),
    Row("06_mix_4qp.pcap.zst", "spurious missed", 2, None,
        "the answer had had time to arrive, and was asked for again"),
]

# Where the oracle and the drivers' counters differ: (scenario, what): (in the captures, counted, reason)
KERNEL = {
    ("01_rc_pingpong", "repeats of B"): (1, 0, "B repeats the last message when A has closed its queue pair"),
    ("06_badqpn", "repeats of A"): (6, 0, "no queue pair of that number is there to count"),
    ("06_badpsn", "repeats of A"): (6, 9, "the responder expects a PSN ahead: its first packets are duplicates to it"),
}

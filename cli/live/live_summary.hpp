// SPDX-License-Identifier: Apache-2.0
// Summaries of a capture that runs, for machines and for logs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyze/results/new_findings.hpp"
#include "analyze/results/snapshot.hpp"
#include "cli/live/live_figures.hpp"

namespace roce::cli {

/// What --every prints: one JSON object on a line, newline at its end. `time_ns`: of day, since the epoch.
[[nodiscard]] std::string summary_json(const analyze::Snapshot& snapshot, const LiveMeter::Reading& reading,
                                       std::int64_t time_ns);
/// The same for people, without a newline: "00:01:20  1234 packets/s, 93.1 Gb/s, ...".
[[nodiscard]] std::string summary_line(const analyze::Snapshot& snapshot, const LiveMeter::Reading& reading);
/// A finding as it appears, as such a line: `finding` is as in the report. `elapsed_ns`: since the beginning.
[[nodiscard]] std::string finding_json(const analyze::FindingNews& news, std::int64_t time_ns,
                                       std::int64_t elapsed_ns);
/// A finding on one line, without a newline: "WARNING packets sent again (retransmission, 12 times):
/// 10.0.0.1 QP 0x000011 > ...: 12 of 1000 ...". Its explanation ends before `width` columns; 0 = whole.
[[nodiscard]] std::string finding_line(const analyze::Finding& finding, std::size_t width = 0);
/// "00:01:20", "3 d 00:01:20".
[[nodiscard]] std::string elapsed_text(std::int64_t ns);
/// "12.3 k" packets and the like; three significant digits from 10 000 on.
[[nodiscard]] std::string count_text(double count);
/// `text` in at most `width` columns, "..." at its end where it was cut.
[[nodiscard]] std::string cut_text(std::string text, std::size_t width);

}  // namespace roce::cli

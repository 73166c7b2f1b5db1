// SPDX-License-Identifier: Apache-2.0
// Summaries of a running capture, as JSON and as lines of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyze/base/json_object.hpp"
#include "analyze/results/new_findings.hpp"
#include "analyze/results/snapshot.hpp"
#include "cli/live/live_figures.hpp"

namespace roce::cli {

/// What a line of a running capture is written of.
struct LiveSummary {
  const analyze::Snapshot& snapshot;
  const LiveMeter::Reading& reading;
  std::int64_t time_ns;
};
struct LiveFinding {
  const analyze::FindingNews& news;
  std::int64_t time_ns;
  std::int64_t elapsed_ns;
};
// The tables that these lines are written from, for their schemas.
[[nodiscard]] const analyze::JsonObject<LiveSummary>& summary_object();
[[nodiscard]] const analyze::JsonObject<LiveFinding>& live_finding_object();

/// The summary of --every --json: one JSON object with a trailing newline. `time_ns`: now, since the epoch.
[[nodiscard]] std::string summary_json(const analyze::Snapshot& snapshot, const LiveMeter::Reading& reading,
                                       std::int64_t time_ns);
/// "2 incidents in progress".
[[nodiscard]] std::string incidents_in_progress(const analyze::Snapshot& snapshot);
/// The summary as text, without a newline: "00:01:20  1234 RoCE packets/s, 93.1 Gb/s, ..."; after the time
/// the worst diagnosis: "00:01:20  DEGRADED: 10.0.0.1 → 10.0.0.2 loses ...; 1234 RoCE packets/s, ...".
[[nodiscard]] std::string summary_line(const analyze::Snapshot& snapshot, const LiveMeter::Reading& reading);
/// A finding as it appears, as a JSON object with a trailing newline; its key `finding` is as in the report.
/// `elapsed_ns`: since the capture began.
[[nodiscard]] std::string finding_json(const analyze::FindingNews& news, std::int64_t time_ns,
                                       std::int64_t elapsed_ns);
/// A finding on one line, without a newline: "DEGRADED TITLE (ID, 12 times): 10.0.0.1 QP 0x000011 > ...: 12
/// of 1000 ...", truncated to `width` columns; 0 = no limit.
[[nodiscard]] std::string finding_line(const analyze::Finding& finding, analyze::Severity shown,
                                       std::size_t width = 0);
/// "00:01:20", "3 d 00:01:20".
[[nodiscard]] std::string elapsed_text(std::int64_t ns);
/// A count, from 10 000 on with three significant digits: "12.3 k".
[[nodiscard]] std::string count_text(double count);
/// `text` truncated to `width` columns, with "..." at its end if it was longer.
[[nodiscard]] std::string cut_text(std::string text, std::size_t width);

}  // namespace roce::cli

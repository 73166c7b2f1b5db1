// SPDX-License-Identifier: Apache-2.0
#include "cli/live/finding_lines.hpp"

#include <fmt/format.h>

#include "analyze/results/severity_counts.hpp"
#include "cli/core/output.hpp"
#include "cli/live/live_summary.hpp"

namespace roce::cli {

capture::Expected<void> FindingLines::on_start(const CaptureStart&) {
  begin_ns_ = clock_.now_ns();
  return {};
}

void FindingLines::on_finding(const analyze::FindingNews& news, const analyze::Snapshot& snapshot) {
  print_error(fmt::format("{}  {}", elapsed_text(clock_.now_ns() - begin_ns_),
                          finding_line(news.finding, analyze::shown_severity(news.finding, snapshot))));
}

}  // namespace roce::cli

// SPDX-License-Identifier: Apache-2.0
// How texts show findings and diagnoses: the severity's name and colour, packets and times, advice with its
// commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/report/advice.hpp"
#include "analyze/results/snapshot.hpp"
#include "cli/core/page.hpp"

namespace roce::cli {

struct ConsequenceStyle {
  std::string_view margin;  ///< "DEGRADED"
  std::string_view code;    ///< SGR
};
[[nodiscard]] const ConsequenceStyle& consequence_style(analyze::Consequence severity) noexcept;
/// "DEGRADED: 10.0.0.1 → 10.0.0.2 loses 46 of 3669 packets": what a text of one line begins with.
[[nodiscard]] std::string diagnosis_line(const analyze::Diagnosis& diagnosis);

/// "packets 12, 13, 40 ..., from +0.200000 to +4.510000 s, confidence 70 %"
struct Evidence {
  const std::vector<std::uint64_t>& packets;
  bool more = false;  ///< there are more of them
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> last_ns;
  double confidence = 1;
};
[[nodiscard]] std::string evidence_text(const analyze::Snapshot& snapshot, const Evidence& evidence);

/// The file names that replace FILE in commands: a few, if they can be typed.
[[nodiscard]] std::vector<std::string> files_to_type(const analyze::Snapshot& snapshot,
                                                     const ReportStyle& style);
/// Sentences after "To do:", and each command on lines of its own.
void write_advice(Page& page, const std::vector<analyze::AdvicePart>& parts);
/// One command; FILE in it becomes the capture's name.
void write_command(Page& page, const analyze::Snapshot& snapshot, const std::string& command);

}  // namespace roce::cli

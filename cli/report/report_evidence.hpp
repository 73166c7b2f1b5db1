// SPDX-License-Identifier: Apache-2.0
// What findings and diagnoses in the text report have in common: advice with its commands, packets and times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/results/snapshot.hpp"
#include "cli/core/page.hpp"

namespace roce::cli {

/// "packets 12, 13, 40 ..., from +0.200000 to +4.510000 s, confidence 70 %"
struct Evidence {
  const std::vector<std::uint64_t>& packets;
  bool more = false;  ///< there are more of them
  std::optional<std::int64_t> first_ns;
  std::optional<std::int64_t> last_ns;
  double confidence = 1;
};
[[nodiscard]] std::string evidence_text(const analyze::Snapshot& snapshot, const Evidence& evidence);

/// Sentences after "To do:", and each command on lines of its own.
void write_advice(Page& page, const analyze::Snapshot& snapshot, std::string_view advice);
/// One command; FILE in it becomes the capture's name.
void write_command(Page& page, const analyze::Snapshot& snapshot, const std::string& command);

}  // namespace roce::cli

// SPDX-License-Identifier: Apache-2.0
// --trigger: what makes a capture write what it holds in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/results/new_findings.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::cli {

/// What is wrong with a word of --trigger, and which there are; empty for a good one: a severity (findings
/// at or above it), the id of a finding, or an event that is counted ("retransmission").
[[nodiscard]] std::string trigger_error(const std::string& word);

/// Why and when, in the time of packets.
struct TriggerEvent {
  std::string reason;
  std::int64_t time_ns = 0;
};

/// Looks for what was chosen in interim snapshots. Not thread-safe.
class TriggerWatch {
 public:
  /// Words without a trigger_error().
  explicit TriggerWatch(const std::vector<std::string>& words);

  /// `news` is what FindingWatch says of the same snapshot.
  [[nodiscard]] std::vector<TriggerEvent> look(const analyze::Snapshot& snapshot,
                                               const std::vector<analyze::FindingNews>& news);

 private:
  struct Counted {
    std::size_t event = 0;  ///< index into the table of events
    std::uint64_t before = 0;
  };
  [[nodiscard]] bool chosen(const analyze::Finding& finding) const;

  std::optional<analyze::Severity> severity_;
  std::vector<std::string> ids_;
  std::vector<Counted> counted_;
};

}  // namespace roce::cli

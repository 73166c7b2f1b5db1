// SPDX-License-Identifier: Apache-2.0
// --trigger: events on which a capture writes the packets that it buffers.
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

/// Error message for a word of --trigger, with the valid words; empty for a valid one: a severity (findings
/// at or above it), the id of a finding, or a counted event ("retransmission").
[[nodiscard]] std::string trigger_error(const std::string& word);

/// Reason and packet time of a trigger.
struct TriggerEvent {
  std::string reason;
  std::int64_t time_ns = 0;
};

/// Looks for triggers in interim snapshots. Not thread-safe.
class TriggerWatch {
 public:
  /// `words` must be valid by trigger_error().
  explicit TriggerWatch(const std::vector<std::string>& words);

  /// `news`: result of NewFindings for the same snapshot.
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

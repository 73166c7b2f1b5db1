// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/base/events.hpp"

namespace roce::analyze {

/// The evidence of a finding: how often, the first packets that show it, and when (ns since the epoch).
struct Proof {
  static constexpr std::size_t kept = EventLog::kept;

  std::uint64_t count = 0;
  std::vector<std::uint64_t> frames;  ///< the first ones, ascending, each once
  std::optional<std::int64_t> first_time_ns;
  std::optional<std::int64_t> last_time_ns;

  /// Adds an event's log; null adds nothing.
  void add(const EventLog* log);
  /// Adds another's frames and times, and its count.
  void add(const Proof& other);
  /// Add a packet number or a time without raising the count. 0 is no packet and capture::no_time no time:
  /// both are ignored.
  void add_frame(std::uint64_t frame);
  void add_time(std::int64_t time_ns);
};

}  // namespace roce::analyze

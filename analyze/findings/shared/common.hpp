// SPDX-License-Identifier: Apache-2.0
// What nearly every rule needs; only for the files of this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/commands.hpp"
#include "analyze/findings/shared/grouping.hpp"
#include "analyze/findings/shared/texts.hpp"

namespace roce::analyze {

/// From which share on a finding is a warning or an error. Both bounds are fractions of the whole, 0..1.
struct Scale {
  double warning_from = 0;                                      ///< below: notice
  double error_from = std::numeric_limits<double>::infinity();  ///< never an error
  std::uint64_t error_at_least = 0;  ///< occurrences; a share of few packets means little
  std::uint64_t warning_at_least = 0;
};
[[nodiscard]] Severity severity_of(std::uint64_t part, std::uint64_t whole, const Scale& scale) noexcept;

/// A case of one side (0 or 1), proven by what the side `sender` sent of `event`; `of`: see Case::of.
struct EventCase {
  unsigned side = 0;
  unsigned sender = 0;
  Event event{};
  std::uint64_t of = 0;
};
/// Adds the case if the event occurred; returns whether it did.
bool add_case(const Snapshot& snapshot, std::vector<Case>& cases, const Connection& connection,
              const EventCase& what);

/// The whole that shares refer to, including what a filter left out: it may select just the packets that are
/// counted.
[[nodiscard]] inline std::uint64_t all_packets(const Connection& connection, unsigned side) noexcept {
  return connection.packets[side] + connection.left_out[side];
}
[[nodiscard]] inline std::uint64_t all_requests(const Requester& requester) noexcept {
  return requester.requests + requester.requests_left_out;
}
[[nodiscard]] inline std::uint64_t all_acks(const Requester& requester) noexcept {
  return requester.acks + requester.acks_left_out;
}

/// The flow that a side of a connection sent; nullptr if there is none or it was evicted. Lives as long as
/// the snapshot.
[[nodiscard]] const Flow* flow_of(const Snapshot& snapshot, const Connection& connection,
                                  unsigned side) noexcept;

/// Calls `look` for both sides of every connection.
void for_each_side(const Snapshot& snapshot,
                   const std::function<void(const Connection& connection, unsigned side)>& look);

}  // namespace roce::analyze

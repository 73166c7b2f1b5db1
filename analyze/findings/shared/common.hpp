// SPDX-License-Identifier: Apache-2.0
// What nearly every rule needs; for the files of this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/rules.hpp"
#include "analyze/findings/shared/commands.hpp"
#include "analyze/findings/shared/grouping.hpp"
#include "analyze/findings/shared/texts.hpp"

namespace roce::analyze {

/// How grave a share is. Both bounds are fractions of the whole.
struct Scale {
  double warning_from = 0;                                      ///< below: notice
  double error_from = std::numeric_limits<double>::infinity();  ///< never an error
  std::uint64_t error_at_least = 0;                             ///< times; a share of few packets says little
  std::uint64_t warning_at_least = 0;
};
[[nodiscard]] Severity severity_of(std::uint64_t part, std::uint64_t whole, const Scale& scale) noexcept;

/// A case of one side: its proof is what the side `sender` sent of `event`. Without it: no case.
struct EventCase {
  unsigned side = 0;
  unsigned sender = 0;
  Event event{};
  std::uint64_t of = 0;
};
/// Adds the case if the event happened; returns whether it did.
bool add_case(const Snapshot& snapshot, std::vector<Case>& cases, const Connection& connection,
              const EventCase& what);

/// What shares are of: also what a filter left out, for it may choose the very packets that are counted.
[[nodiscard]] inline std::uint64_t all_packets(const Connection& connection, unsigned side) noexcept {
  return connection.packets[side] + connection.left_out[side];
}
[[nodiscard]] inline std::uint64_t all_requests(const Requester& requester) noexcept {
  return requester.requests + requester.requests_left_out;
}
[[nodiscard]] inline std::uint64_t all_acks(const Requester& requester) noexcept {
  return requester.acks + requester.acks_left_out;
}

/// What a side of a connection sent; nullptr if nothing that was kept.
[[nodiscard]] const Flow* flow_of(const Snapshot& snapshot, const Connection& connection,
                                  unsigned side) noexcept;

/// Calls `look` for both sides of every connection.
void for_each_side(const Snapshot& snapshot,
                   const std::function<void(const Connection& connection, unsigned side)>& look);

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// Nothing from a size on gets through, while smaller packets do: a smaller MTU on the way.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {

struct SizeHole {
  std::uint64_t lost_bytes = 0;    ///< message bytes of the smallest packet that never gets through
  std::uint64_t passed_bytes = 0;  ///< of the largest message that did
  std::uint64_t passed = 0;        ///< messages that did
  std::uint32_t pmtu = 0;          ///< of a connection that it hits; 0: not known
  dissect::Transport transport{};
  /// Connections of which a packet never gets through, with the side that sends it.
  std::vector<std::pair<const Connection*, unsigned>> stuck;
};

/// What is sent again and again on those ways without ever being confirmed is larger than all that was, and
/// what was sent behind it got there: the receiver asks for what it misses.
[[nodiscard]] std::optional<SizeHole> size_hole(const Snapshot& snapshot, const std::set<Route>& ways);

}  // namespace roce::analyze::diagnosis

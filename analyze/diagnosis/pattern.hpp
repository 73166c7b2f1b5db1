// SPDX-License-Identifier: Apache-2.0
// How losses are spread over time: what a queue that runs full, a bad transceiver or a link that goes away
// leave behind.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {

struct LossPattern {
  Pattern pattern = Pattern::none;
  std::uint64_t most_at_once = 0;   ///< packets in a row, where that shows
  std::int64_t period_ns = 0;       ///< Pattern::periodic
  std::int64_t outage_ns = 0;       ///< Pattern::outage: its length, at least
  std::size_t connections_hit = 0;  ///< Pattern::outage: at once
  unsigned common = 0;              ///< Pattern::by_class: the DSCP; Pattern::by_path: the UDP source port
  std::size_t others = 0;           ///< and how many others lose none
  /// Pattern::by_size: message bytes of the packets that never get through, at least, and of the largest
  /// message that did; and how many did.
  std::uint64_t lost_bytes = 0;
  std::uint64_t passed_bytes = 0;
  std::uint64_t passed = 0;
};

/// Pattern::none where the incidents are too few to tell.
[[nodiscard]] LossPattern pattern_of(const Snapshot& snapshot, const Trouble& trouble);

}  // namespace roce::analyze::diagnosis

// SPDX-License-Identifier: Apache-2.0
// How losses are spread over time: what a queue that runs full, a bad transceiver or a link that goes away
// leave behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "analyze/diagnosis/size_hole.hpp"
#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {

struct LossPattern {
  Pattern pattern = Pattern::none;
  std::uint64_t most_at_once = 0;   ///< packets in a row, where that shows
  std::int64_t period_ns = 0;       ///< Pattern::periodic
  std::int64_t outage_ns = 0;       ///< Pattern::outage: its length, at least
  std::size_t connections_hit = 0;  ///< Pattern::outage: at once
  unsigned dscp = 0;                ///< Pattern::by_class
  std::string path;                 ///< Pattern::by_path: what tells it apart, as "UDP source port 51234"
  std::size_t others = 0;           ///< and how many others lose none
  std::optional<SizeHole> size;     ///< Pattern::by_size
};

/// Pattern::none where the incidents are too few to tell.
[[nodiscard]] LossPattern pattern_of(const Snapshot& snapshot, const Trouble& trouble);

}  // namespace roce::analyze::diagnosis

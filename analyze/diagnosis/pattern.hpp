// SPDX-License-Identifier: Apache-2.0
// How losses are spread over time: what a queue that runs full, a bad transceiver or a link that goes away
// leave behind.
#pragma once

#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {

struct LossPattern {
  Pattern pattern = Pattern::none;
  std::uint64_t most_at_once = 0;   ///< packets, at least
  std::int64_t period_ns = 0;       ///< Pattern::periodic
  std::int64_t outage_ns = 0;       ///< Pattern::outage: its length, as far as packets show
  std::size_t connections_hit = 0;  ///< Pattern::outage: at once
};

/// Pattern::none where the incidents are too few to tell.
[[nodiscard]] LossPattern pattern_of(const Trouble& trouble);

}  // namespace roce::analyze::diagnosis

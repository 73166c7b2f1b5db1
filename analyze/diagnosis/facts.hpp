// SPDX-License-Identifier: Apache-2.0
// Sentences on what is known beyond the first one; empty where there is nothing to say.
#pragma once

#include <string>

#include "analyze/diagnosis/pattern.hpp"
#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {

/// How losses are spread.
/// `odd`: of unlike_others().
[[nodiscard]] std::string pattern_words(const LossPattern& pattern, const Incident* odd);
/// Of losses upstream the incident that is missing many packets where no other one misses nearly as many: the
/// capture itself may lack them. Null: there is none.
[[nodiscard]] const Incident* unlike_others(const Trouble& trouble);
/// Of an outage that timers make longer than it was.
[[nodiscard]] std::string brief_words(const Trouble& trouble);
/// What waited for the timer though a NAK had asked for it.
[[nodiscard]] std::string lost_again_words(const Trouble& trouble);
/// The queue that the fabric puts these packets in, where a tunnel hides their own marks.
[[nodiscard]] std::string tunnel_words(const Snapshot& snapshot, const Trouble& trouble);
/// Timers that ran out while a port of a switch paused its link; without a full stop.
[[nodiscard]] std::string paused_words(const Snapshot& snapshot, const Trouble& trouble);

}  // namespace roce::analyze::diagnosis

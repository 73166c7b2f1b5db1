// SPDX-License-Identifier: Apache-2.0
// What the rules on lost packets have in common.
#pragma once

#include <string>
#include <vector>

#include "analyze/findings/common.hpp"

namespace roce::analyze {

/// One case a direction that lost packets; a part of the packets that were sent, whether or not they
/// were captured.
[[nodiscard]] std::vector<Case> loss_cases(const Snapshot& snapshot, Event lost);

/// RoCE networks are built to lose nothing: one in ten thousand already costs.
inline constexpr Scale loss_scale{.warning_from = 1e-4, .error_from = 0.01, .error_at_least = 10};

/// " Repaired by 40 repeats (37 after a sequence NAK ...); 212 packets (0.8 MB) had arrived behind a loss
/// and were thrown away." and goodput.
[[nodiscard]] std::string repair_text(const Snapshot& snapshot, const Group& group);

}  // namespace roce::analyze

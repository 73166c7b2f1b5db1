// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/flow/flow.hpp"
#include "analyze/flow/flow_at_point.hpp"

namespace roce::analyze {

/// The policy that the flows of a capture follow, as TOML with counts in comments: for every class that was
/// seen the marks that were seen, and CE where packets are ECN-capable; who used RoCE, with which P_Keys and
/// versions; and the map of DSCPs to priorities where tags show one. Nothing in the capture breaks it.
/// `flow_points` are those of a snapshot, `unlisted` the packets whose flows are not in `flows`: a comment
/// says so.
[[nodiscard]] std::string learn_policy(const std::vector<Flow>& flows,
                                       const std::vector<FlowAtPoint>& flow_points, std::uint64_t unlisted);

}  // namespace roce::analyze

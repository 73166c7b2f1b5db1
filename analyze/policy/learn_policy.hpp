// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/flow/flow.hpp"
#include "analyze/flow/flow_at_point.hpp"

namespace roce::analyze {

/// Makes a policy from the flows of a capture, as TOML with counts in comments: the markings seen of every
/// class, with CE where packets are ECN-capable; addresses, P_Keys and versions of RoCE; and the map of DSCPs
/// to priorities if VLAN tags show one. Nothing in the capture violates it. `flow_points` are those of a
/// Snapshot; `unlisted` is the number of packets whose flows are not in `flows`, for a comment.
[[nodiscard]] std::string learn_policy(const std::vector<Flow>& flows,
                                       const std::vector<FlowAtPoint>& flow_points, std::uint64_t unlisted);

}  // namespace roce::analyze

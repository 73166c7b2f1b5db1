// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyze/compare/compare.hpp"
#include "analyze/compare/sent_before.hpp"

// Internal to compare.
namespace roce::analyze {

/// Pairs of addresses whose packets are all lost between the points: one point sees their requests, the other
/// one nothing of them although it sees traffic of one of the two hosts, and there is no response. `pairs`
/// are those of the whole capture. In the order of `pairs`.
[[nodiscard]] std::vector<BlackHole> find_black_holes(const std::vector<AddressPair>& pairs);

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyze/compare/compare.hpp"
#include "analyze/compare/sent_before.hpp"

// Internal to compare.
namespace roce::analyze {

/// Pairs of addresses all of whose packets are lost between the points: one point shows their requests, the
/// other one nothing of them though it shows traffic of one of the two hosts, and nobody answers. `pairs` of
/// the whole capture. In their order; the list is not bounded but by that of the pairs.
[[nodiscard]] std::vector<BlackHole> find_black_holes(const std::vector<AddressPair>& pairs);

}  // namespace roce::analyze

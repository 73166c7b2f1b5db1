// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// The policy that the flows of a capture follow, as TOML with counts in comments: for every class that was
/// seen the marks that were seen, and CE where packets are ECN-capable; who used RoCE, with which P_Keys and
/// versions; and the map of DSCPs to priorities where tags show one. Nothing in the capture breaks it.
[[nodiscard]] std::string learn_policy(const Snapshot& snapshot);

}  // namespace roce::analyze

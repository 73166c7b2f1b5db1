// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// What a pass of the snapshot's policy does not cover, one sentence each, without a full stop: packets that
/// were not judged, classes of the policy that the capture lacks. Empty without a policy.
[[nodiscard]] std::vector<std::string> not_judged(const Snapshot& snapshot);

}  // namespace roce::analyze

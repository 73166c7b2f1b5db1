// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// What a pass by the snapshot's policy does not speak for, a sentence each, without a full stop: packets
/// that it did not judge, classes that it names and the capture lacks. Empty without a policy.
[[nodiscard]] std::vector<std::string> not_judged(const Snapshot& snapshot);

}  // namespace roce::analyze

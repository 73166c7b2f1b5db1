// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// What the rules evaluated: "losses, retransmissions and answers in 2
/// connections, ICRCs of 125 packets"; empty if that is nothing.
[[nodiscard]] std::string what_was_checked(const Snapshot& snapshot);

/// What they could not: "losses, retransmissions and answers in 1 connection"; empty if that is nothing.
[[nodiscard]] std::string what_was_not_checked(const Snapshot& snapshot);

}  // namespace roce::analyze

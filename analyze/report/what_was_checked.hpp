// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// What the rules evaluated, for reports without findings: "losses, retransmissions and answers in 2
/// connections, ICRCs of 125 packets"; empty if that is nothing.
[[nodiscard]] std::string what_was_checked(const Snapshot& snapshot);

}  // namespace roce::analyze

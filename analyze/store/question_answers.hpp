// SPDX-License-Identifier: Apache-2.0
// Internal to the room: answers that are made of the rows of a statement, not the rows themselves.
#pragma once

#include "analyze/store/questions.hpp"

namespace roce::analyze {

/// Percentiles of operations by source and destination, from rows of two addresses, buckets, counts and the
/// longest.
[[nodiscard]] AnswerRows conclude_latency(AnswerRows rows);
/// Offsets of clocks from rows of two hosts and by how much the second saw a mark later; with a fourth column
/// it is the median of so many marks, and of the second host by name.
[[nodiscard]] AnswerRows conclude_clocks(AnswerRows rows);

}  // namespace roce::analyze

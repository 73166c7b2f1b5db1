// SPDX-License-Identifier: Apache-2.0
// What the capture leaves open, and what would decide.
#pragma once

#include "analyze/diagnosis/troubles.hpp"
#include "analyze/results/diagnosis.hpp"

namespace roce::analyze::diagnosis {

/// Fills `alternatives` and `would_decide`.
void leave_open(const Trouble& t, Diagnosis& d);

}  // namespace roce::analyze::diagnosis

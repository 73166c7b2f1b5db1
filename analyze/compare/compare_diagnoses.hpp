// SPDX-License-Identifier: Apache-2.0
// What a comparison says is wrong, on the scale of the report: by what it did to the traffic.
#pragma once

#include <vector>

#include "analyze/compare/compare.hpp"
#include "analyze/results/diagnosis.hpp"

namespace roce::analyze {

/// One for each finding that is more than worth knowing, the worst first, what only limits the comparison
/// last. `findings` is its index in CompareResult::findings.
[[nodiscard]] std::vector<Diagnosis> compare_diagnoses(const CompareResult& result);

}  // namespace roce::analyze

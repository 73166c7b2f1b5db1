// SPDX-License-Identifier: Apache-2.0
// The table of diagnoses, see columns.hpp.
#pragma once

#include <span>

#include "analyze/results/columns.hpp"
#include "analyze/results/diagnosis.hpp"

namespace roce::analyze {

using DiagnosisColumn = Column<Diagnosis>;
[[nodiscard]] std::span<const DiagnosisColumn> diagnosis_columns() noexcept;

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// The table of markings, see columns.hpp.
#pragma once

#include <span>

#include "analyze/flow/marking_matrix.hpp"
#include "analyze/results/columns.hpp"

namespace roce::analyze {

using MarkingColumn = Column<Marking>;

[[nodiscard]] std::span<const MarkingColumn> marking_columns() noexcept;

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// The table of flows, see columns.hpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyze/flow/flow.hpp"
#include "analyze/results/columns.hpp"

namespace roce::analyze {

using FlowColumn = Column<Flow>;

[[nodiscard]] std::span<const FlowColumn> flow_columns() noexcept;

}  // namespace roce::analyze

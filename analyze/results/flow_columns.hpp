// SPDX-License-Identifier: Apache-2.0
// The table of flows: one row a column, see columns.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/flow/flow_table.hpp"
#include "analyze/results/columns.hpp"

namespace roce::analyze {

using FlowColumn = Column<Flow>;

[[nodiscard]] std::span<const FlowColumn> flow_columns() noexcept;
[[nodiscard]] const FlowColumn* find_flow_column(std::string_view name) noexcept;

/// Address of either end as text.
[[nodiscard]] std::string address_of(const dissect::IpAddress& address);

}  // namespace roce::analyze

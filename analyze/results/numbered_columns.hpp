// SPDX-License-Identifier: Apache-2.0
// The tables of shells and mirrors, see columns.hpp.
#pragma once

#include <span>
#include <string>

#include "analyze/numbered/numbered.hpp"
#include "analyze/results/columns.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

using NumberedColumn = Column<NumberedStream>;
[[nodiscard]] std::span<const NumberedColumn> numbered_columns() noexcept;

/// "UET: 40 RUD request, 12 ACK", "MADs: 6 communication management, 400 class 0x32"; empty lines are left
/// out.
[[nodiscard]] std::vector<std::string> named_packets(const Snapshot& snapshot);

}  // namespace roce::analyze

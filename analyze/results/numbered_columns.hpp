// SPDX-License-Identifier: Apache-2.0
// The tables of shells and mirrors, see columns.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyze/numbered/numbered.hpp"
#include "analyze/results/columns.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

using NumberedColumn = Column<NumberedStream>;
[[nodiscard]] std::span<const NumberedColumn> numbered_columns() noexcept;

enum class NumberedRows : std::uint8_t { shells, mirrors };
/// Most packets first.
[[nodiscard]] std::vector<const NumberedStream*> numbered_rows(const Snapshot& snapshot, NumberedRows which);
/// What their numbers tell, a sentence each; nothing without rows.
[[nodiscard]] std::vector<std::string> numbered_notes(const Snapshot& snapshot, NumberedRows which);
/// The display filter that selects its packets.
[[nodiscard]] std::string numbered_filter(const NumberedStream& stream);

/// "UET: 40 RUD request, 12 ACK", "MADs: 6 communication management, 400 class 0x32"; empty lines are left
/// out.
[[nodiscard]] std::vector<std::string> named_packets(const Snapshot& snapshot);

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// The tables of a comparison's lost packets, retransmissions and changed markings, see columns.hpp.
#pragma once

#include <span>
#include <string_view>

#include "analyze/compare/compare.hpp"
#include "analyze/results/columns.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// "a_to_b" (the packets pass A first) or "b_to_a".
[[nodiscard]] std::string_view compare_direction_name(unsigned direction) noexcept;

using LostColumn = Column<LostPacket>;
[[nodiscard]] std::span<const LostColumn> lost_columns() noexcept;

using RepeatColumn = Column<RepeatRun>;
[[nodiscard]] std::span<const RepeatColumn> repeat_columns() noexcept;

using ComparePathColumn = Column<ComparePath>;
[[nodiscard]] std::span<const ComparePathColumn> compare_path_columns() noexcept;

using MarkChangeColumn = Column<MarkChange>;
[[nodiscard]] std::span<const MarkChangeColumn> mark_change_columns() noexcept;

/// Sets LostPacket::connection and RepeatRun::connection of one direction by the report of the file that has
/// the packets.
void name_connections(CompareResult& result, unsigned direction, const Snapshot& report);

}  // namespace roce::analyze

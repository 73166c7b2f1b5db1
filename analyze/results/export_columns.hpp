// SPDX-License-Identifier: Apache-2.0
// Tables of what switches exported.
#pragma once

#include <span>
#include <vector>

#include "analyze/exports/exports.hpp"
#include "analyze/results/columns.hpp"

namespace roce::analyze {

/// A row refers to its exports, which must outlive it.
template <class What>
struct ExportRow {
  const Exports* exports = nullptr;
  const What* it = nullptr;
};
template <class What>
[[nodiscard]] std::vector<ExportRow<What>> export_rows(const Exports& exports, const std::vector<What>& all) {
  std::vector<ExportRow<What>> rows;
  rows.reserve(all.size());
  for (const What& each : all) rows.push_back({&exports, &each});
  return rows;
}

using ExportSourceRow = ExportRow<ExportSource>;
using ExportFlowRow = ExportRow<ExportFlow>;
using ExportQueueRow = ExportRow<ExportQueue>;
using ExportPortRow = ExportRow<ExportPort>;
using ExportDropRow = ExportRow<ExportDropGroup>;

[[nodiscard]] std::span<const Column<ExportSourceRow>> export_source_columns() noexcept;
[[nodiscard]] std::span<const Column<ExportFlowRow>> export_flow_columns() noexcept;
[[nodiscard]] std::span<const Column<ExportQueueRow>> export_queue_columns() noexcept;
[[nodiscard]] std::span<const Column<ExportPortRow>> export_port_columns() noexcept;
[[nodiscard]] std::span<const Column<ExportDropRow>> export_drop_columns() noexcept;

}  // namespace roce::analyze

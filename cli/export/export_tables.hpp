// SPDX-License-Identifier: Apache-2.0
// The tables of `export`: a common interface to the rows of a snapshot, independent of their types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyze/results/columns.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::cli {

struct ExportColumn {
  std::string_view name;
  std::string_view help;
  analyze::CellType type = analyze::CellType::text;  ///< of all cells that are not empty
};

/// Empty, or a value of its column's type.
using ExportCell = std::variant<std::monostate, std::int64_t, double, std::string>;

class ExportTable {
 public:
  virtual ~ExportTable() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual const std::vector<ExportColumn>& columns() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// The cell as in CSV; "" if it is empty.
  [[nodiscard]] virtual std::string text(std::size_t row, std::size_t column) const = 0;
  [[nodiscard]] ExportCell cell(std::size_t row, std::size_t column) const;
};

using ExportTables = std::vector<std::unique_ptr<ExportTable>>;

/// Diagnoses, connections, incidents, hosts, flows, findings, series, markings, pauses, dcbx and diagnostics.
/// The snapshot must outlive them.
[[nodiscard]] ExportTables export_tables(const analyze::Snapshot& snapshot);
[[nodiscard]] const std::vector<std::string_view>& export_table_names();
/// The table `series` alone, with intervals of at least that length.
[[nodiscard]] std::unique_ptr<ExportTable> series_table(const analyze::Snapshot& snapshot,
                                                        std::int64_t least_width_ns);

}  // namespace roce::cli

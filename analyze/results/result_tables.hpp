// SPDX-License-Identifier: Apache-2.0
// All tables of a snapshot by a common interface, independent of the types of their rows: for exports, and
// for programs that use the library.
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

namespace roce::analyze {

struct ResultColumn {
  std::string_view name;
  std::string_view help;
  CellType type = CellType::text;  ///< of all cells that are not empty
};

/// Empty, or a value of its column's type.
using ResultCell = std::variant<std::monostate, std::int64_t, double, std::string>;

class ResultTable {
 public:
  virtual ~ResultTable() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual const std::vector<ResultColumn>& columns() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// The cell as in CSV; "" if it is empty.
  [[nodiscard]] virtual std::string text(std::size_t row, std::size_t column) const = 0;
  [[nodiscard]] ResultCell cell(std::size_t row, std::size_t column) const;
};

using ResultTables = std::vector<std::unique_ptr<ResultTable>>;

/// Diagnoses, connections, incidents, hosts, flows, findings, series, markings, pauses, dcbx and diagnostics.
/// The snapshot must outlive them.
[[nodiscard]] ResultTables result_tables(const Snapshot& snapshot);
[[nodiscard]] const std::vector<std::string_view>& result_table_names();
/// The table `series` alone, with intervals of at least that length.
[[nodiscard]] std::unique_ptr<ResultTable> series_table(const Snapshot& snapshot,
                                                        std::int64_t least_width_ns);

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// Tables of the commands `flows`, `connections` and others, for the terminal and as CSV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/base/csv.hpp"
#include "analyze/results/columns.hpp"
#include "analyze/results/listing.hpp"
#include "cli/core/text_table.hpp"

namespace roce::cli {

using analyze::Listing;

/// A text table of at most `width` display columns; 0 = no limit. The column `sorted_by` is always shown,
/// even if it is hidden by default or the terminal is too narrow.
template <class Row>
[[nodiscard]] std::string table_text(const std::vector<const Row*>& rows,
                                     std::span<const analyze::Column<Row>> columns,
                                     const std::string& sorted_by, std::size_t width) {
  std::vector<const analyze::Column<Row>*> shown;
  std::vector<TextTable::Column> heads;
  for (const analyze::Column<Row>& column : columns) {
    const bool wanted = column.name == sorted_by;
    if (column.priority == analyze::hidden_column && !wanted) continue;
    shown.push_back(&column);
    heads.push_back({column.heading, column.right, wanted ? std::uint8_t{0} : column.priority});
  }
  TextTable table(std::move(heads));
  for (const Row* row : rows) {
    std::vector<std::string> cells;
    cells.reserve(shown.size());
    for (const analyze::Column<Row>* column : shown) cells.push_back(column->text(*row));
    table.add_row(std::move(cells));
  }
  return table.render(width, 0);
}

/// CSV (RFC 4180) with a header line and all columns.
template <class Row>
[[nodiscard]] std::string table_csv(const std::vector<const Row*>& rows,
                                    std::span<const analyze::Column<Row>> columns) {
  std::string out;
  const auto line = [&](auto&& cell) {
    bool first = true;
    for (const analyze::Column<Row>& column : columns) {
      if (!first) out += ',';
      first = false;
      analyze::append_csv(out, cell(column));
    }
    out += "\r\n";
  };
  line([](const analyze::Column<Row>& column) { return std::string(column.name); });
  for (const Row* row : rows) {
    line([row](const analyze::Column<Row>& column) { return column.machine_text(*row); });
  }
  return out;
}

}  // namespace roce::cli

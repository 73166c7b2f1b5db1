// SPDX-License-Identifier: Apache-2.0
// Tables of rows by columns: for the terminal and as CSV. What `flows` and `connections` share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/results/columns.hpp"
#include "analyze/results/listing.hpp"
#include "cli/core/text_table.hpp"

namespace roce::cli {

using analyze::Listing;

/// `sorted_by` is shown even where it would be hidden or leave a narrow terminal.
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

/// RFC 4180 with a header line and every column.
template <class Row>
[[nodiscard]] std::string table_csv(const std::vector<const Row*>& rows,
                                    std::span<const analyze::Column<Row>> columns) {
  std::string out;
  const auto line = [&](auto&& cell) {
    bool first = true;
    for (const analyze::Column<Row>& column : columns) {
      if (!first) out += ',';
      first = false;
      append_csv(out, cell(column));
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

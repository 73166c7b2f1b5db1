// SPDX-License-Identifier: Apache-2.0
// Internal to the room: the columns of a type of rows, and how each is written into a block.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/store/row_types.hpp"
#include "analyze/store/schema.hpp"

namespace roce::analyze {

// A cell of a block in ClickHouse's TabSeparated.
void append_cell(std::string& out, StoreTime value);
void append_cell(std::string& out, const std::string& value);
void append_cell(std::string& out, std::uint8_t value);
void append_cell(std::string& out, std::uint16_t value);
void append_cell(std::string& out, std::uint32_t value);
void append_cell(std::string& out, std::uint64_t value);
void append_cell(std::string& out, std::int16_t value);
void append_cell(std::string& out, std::int64_t value);
void append_cell(std::string& out, double value);
void append_cell(std::string& out, const std::vector<std::uint16_t>& value);
void append_cell(std::string& out, const std::vector<std::uint32_t>& value);
void append_cell(std::string& out, const std::vector<std::uint64_t>& value);

template <class Row>
struct RowTable {
  const StoreTable* table = nullptr;
  std::vector<void (*)(std::string& out, const Row& row)> cells;  ///< by column

  /// Appends a row with its line end.
  void append(std::string& out, const Row& row) const {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i != 0) out += '\t';
      cells[i](out, row);
    }
    out += '\n';
  }
};

/// Defined for every type of row_types.hpp.
template <class Row>
[[nodiscard]] const RowTable<Row>& row_table();

}  // namespace roce::analyze

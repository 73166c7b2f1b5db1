// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/base/json_writer.hpp"
#include "analyze/results/columns.hpp"

namespace roce::analyze {

/// Columns of a table as keys of a JSON object: numbers as numbers, texts as strings, null where a cell is empty.
/// A report's object has its columns in groups with nested keys between them; a column that is in no group comes at
/// the end, so that a new one needs a row in its table and nothing here.
template <class Row>
class JsonColumns {
 public:
  using Group = std::vector<const Column<Row>*>;

  /// `nested` names columns of which the object tells in another shape, like {"packets": ..., "nak": ...}.
  JsonColumns(std::span<const Column<Row>> columns,
              std::initializer_list<std::initializer_list<std::string_view>> groups,
              std::initializer_list<std::string_view> nested) {
    for (const auto& names : groups) {
      Group& group = groups_.emplace_back();
      for (const std::string_view name : names) group.push_back(find_column(columns, name));
    }
    for (const Column<Row>& column : columns) {
      if (std::find(nested.begin(), nested.end(), column.name) == nested.end() && !grouped(column))
        rest_.push_back(&column);
    }
  }

  /// The columns of a group, from 0, in its order.
  void write(JsonWriter& json, const Row& row, std::size_t group) const { write(json, row, groups_[group]); }
  /// Those that are in no group and not nested.
  void write_rest(JsonWriter& json, const Row& row) const { write(json, row, rest_); }

 private:
  [[nodiscard]] bool grouped(const Column<Row>& column) const {
    return std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
      return std::find(group.begin(), group.end(), &column) != group.end();
    });
  }
  static void write(JsonWriter& json, const Row& row, const Group& columns) {
    for (const Column<Row>* column : columns) {
      const std::string text = column->machine_text(row);
      json.key(column->name);
      if (text.empty()) {
        json.null();
      } else if (column->cell_type() != CellType::text) {
        json.number(text);
      } else {
        json.value(text);
      }
    }
  }

  std::vector<Group> groups_;
  Group rest_;
};

}  // namespace roce::analyze

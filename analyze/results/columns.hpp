// SPDX-License-Identifier: Apache-2.0
// Columns of the tables of flows, connections ...: each column is one row of a constant table, which text
// tables, CSV, HTML, exports, the window and the JSON of flows and connections all use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roce::analyze {

/// Priority of a column that is shown only in CSV and on request.
inline constexpr std::uint8_t hidden_column = 255;

/// What a cell of Column::machine_text() holds unless it is empty.
enum class CellType : std::uint8_t { text, integer, real };

template <class Row>
struct Column {
  std::string_view name;     ///< stable, snake_case: for --sort and CSV
  std::string_view heading;  ///< in tables
  std::string_view help;
  bool right = false;  ///< aligned right
  /// Priority in a text table: 0 = always shown, higher numbers are dropped first on a narrow terminal;
  /// hidden_column: only on request.
  std::uint8_t priority = 0;
  /// Sort key, largest first; null for columns that sort by text.
  double (*number)(const Row&) = nullptr;
  /// For display ("1.46 MB"); may be empty.
  std::string (*text)(const Row&) = nullptr;
  /// For CSV ("1462345"); null = as `text`.
  std::string (*exact)(const Row&) = nullptr;
  /// None: integers if there is a `number`, else text. Databases need one type for all cells of a column,
  /// whatever the values of a capture look like.
  std::optional<CellType> type = std::nullopt;

  [[nodiscard]] CellType cell_type() const {
    return type.value_or(number != nullptr ? CellType::integer : CellType::text);
  }
  [[nodiscard]] std::string machine_text(const Row& row) const {
    return exact != nullptr ? exact(row) : text(row);
  }
};

/// A column of counts; 0 is empty in `text`.
template <class Row, std::uint64_t (*get)(const Row&)>
[[nodiscard]] constexpr Column<Row> count_column(std::string_view name, std::string_view heading,
                                                 std::string_view help, std::uint8_t priority) {
  return {name,
          heading,
          help,
          true,
          priority,
          [](const Row& row) { return static_cast<double>(get(row)); },
          [](const Row& row) {
            const std::uint64_t count = get(row);
            return count != 0 ? std::to_string(count) : std::string();
          },
          [](const Row& row) { return std::to_string(get(row)); }};
}

/// The column of that name, or null.
template <class Row>
[[nodiscard]] const Column<Row>* find_column(std::span<const Column<Row>> columns,
                                             std::string_view name) noexcept {
  for (const Column<Row>& column : columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

/// Sorts by a column: numbers descending, texts ascending, stable. `reverse` reverses the result.
template <class Row>
void sort_rows(std::vector<const Row*>& rows, const Column<Row>& column, bool reverse) {
  // Each key is computed once: texts are costly and a table may have 100 000 rows.
  struct Key {
    double number = 0;
    std::string text;
    const Row* row = nullptr;
  };
  std::vector<Key> keys;
  keys.reserve(rows.size());
  for (const Row* row : rows) {
    if (column.number != nullptr) {
      keys.push_back({column.number(*row), {}, row});
    } else {
      keys.push_back({0, column.text(*row), row});
    }
  }
  std::stable_sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return a.number != b.number ? a.number > b.number : a.text < b.text;
  });
  std::transform(keys.begin(), keys.end(), rows.begin(), [](const Key& key) { return key.row; });
  if (reverse) std::reverse(rows.begin(), rows.end());
}

}  // namespace roce::analyze

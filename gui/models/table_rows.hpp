// SPDX-License-Identifier: Apache-2.0
// Which rows of a table are shown, and in which order. Independent of models, so that it can run on another
// thread for tables of a hundred thousand rows; see TableModel.
#pragma once

#include <QString>
#include <QStringList>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/results/columns.hpp"
#include "analyze/results/finding.hpp"
#include "gui/models/row_changes.hpp"
#include "gui/models/shown_names.hpp"
#include "gui/models/time_span.hpp"

namespace roce::gui {

[[nodiscard]] inline QString to_qt(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// Filter and order of a table.
struct RowChoice {
  QStringList words;                       ///< all must occur in a row, ignoring case
  std::optional<analyze::Severity> least;  ///< only rows of this severity or worse
  std::optional<TimeSpan> time;            ///< only rows seen in that time range
  int sort_column = -1;                    ///< -1: in the order of the table
  Qt::SortOrder order = Qt::AscendingOrder;
  [[nodiscard]] bool operator==(const RowChoice&) const = default;
};

/// A table and the unique keys of its rows.
template <class Table>
struct KeyedTable {
  KeyedTable(std::unique_ptr<Table> of, std::shared_ptr<const void> borrowed)
      : behind(std::move(borrowed)), table(std::move(of)) {
    if (!table) return;
    keys.reserve(table->size());
    std::unordered_map<std::string, int> often;
    for (std::size_t i = 0; i < table->size(); ++i) {
      std::string key = table->key(i);
      // Keys must be unique: they identify rows.
      if (const int before = often[key]++; before != 0) key += '\x1f' + std::to_string(before);
      keys.push_back(std::move(key));
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return keys.size(); }

  std::shared_ptr<const void> behind;  ///< owns what the rows borrow from
  std::unique_ptr<Table> table;
  std::vector<std::string> keys;
};

/// The rows of a table that are shown. Immutable once made.
template <class Table>
struct ShownRows {
  std::shared_ptr<const KeyedTable<Table>> of;
  std::vector<std::uint32_t> places;             ///< in the table, by row shown
  std::unordered_map<std::string_view, int> at;  ///< rows shown, by key; the keys are the table's
  int worst = -1;                                ///< the first row of the worst severity; -1: no rows
};

/// The change from one list of rows to the next.
struct RowStep {
  std::vector<int> places;  ///< new number of each old row; -1: gone
  RowChanges changes;
};

/// Numeric columns beyond the main ones are left out of the text search: their texts are costly to make.
template <class Row>
[[nodiscard]] bool is_searched(const analyze::Column<Row>& column) noexcept {
  return column.number == nullptr || column.priority == 0;
}

namespace rows_detail {

template <class Table>
[[nodiscard]] bool passes(const Table& table, std::size_t i, const RowChoice& choice) {
  if (choice.least) {
    const auto severity = table.severity(i);
    if (!severity || *severity < *choice.least) return false;
  }
  if constexpr (requires { table.time(i); }) {
    if (!is_in(table.time(i), choice.time)) return false;
  }
  if (choice.words.isEmpty()) return true;
  const auto names = host_names();  // a host is found by its name and by its address
  QStringList texts;
  for (const auto& column : Table::columns()) {
    if (!is_searched(column)) continue;
    const std::string text = column.text(table.row(i));
    texts << to_qt(text);
    if (names) texts << to_qt(names->named(text));
  }
  return std::all_of(choice.words.begin(), choice.words.end(), [&](const QString& word) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const QString& text) { return text.contains(word, Qt::CaseInsensitive); });
  });
}

/// Sorts by `value` of each row, computed once per row.
template <class Value, class Less>
void sort_by(std::vector<std::uint32_t>& rows, Qt::SortOrder order, Value value, Less less) {
  std::vector<std::pair<decltype(value(0U)), std::uint32_t>> sorted;
  sorted.reserve(rows.size());
  for (const std::uint32_t row : rows) sorted.emplace_back(value(row), row);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    return order == Qt::AscendingOrder ? less(a.first, b.first) : less(b.first, a.first);
  });
  std::transform(sorted.begin(), sorted.end(), rows.begin(), [](const auto& entry) { return entry.second; });
}

/// Sorts numeric columns by number, others by text, ignoring case.
template <class Table>
void sort(const Table& table, std::vector<std::uint32_t>& rows, const RowChoice& choice) {
  const auto columns = Table::columns();
  if (choice.sort_column < 0 || static_cast<std::size_t>(choice.sort_column) >= columns.size()) return;
  const auto& column = columns[static_cast<std::size_t>(choice.sort_column)];
  if (column.number != nullptr) {
    sort_by(
        rows, choice.order,
        [&](std::uint32_t row) {
          const double number = column.number(table.row(row));
          return number == number ? number : 0;  // NaN would break the order
        },
        std::less<>());
  } else {
    sort_by(
        rows, choice.order, [&](std::uint32_t row) { return to_qt(column.text(table.row(row))); },
        [](const QString& a, const QString& b) { return QString::compare(a, b, Qt::CaseInsensitive) < 0; });
  }
}

}  // namespace rows_detail

/// On any thread.
template <class Table>
[[nodiscard]] ShownRows<Table> shown_rows(std::shared_ptr<const KeyedTable<Table>> of,
                                          const RowChoice& choice) {
  ShownRows<Table> shown{std::move(of), {}, {}, -1};
  if (!shown.of || !shown.of->table) return shown;
  const Table& table = *shown.of->table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (rows_detail::passes(table, i, choice)) shown.places.push_back(static_cast<std::uint32_t>(i));
  }
  rows_detail::sort(table, shown.places, choice);
  shown.at.reserve(shown.places.size());
  std::optional<analyze::Severity> worst;
  for (std::size_t row = 0; row < shown.places.size(); ++row) {
    shown.at.emplace(shown.of->keys[shown.places[row]], static_cast<int>(row));
    const auto severity = table.severity(shown.places[row]);
    if (shown.worst >= 0 && !(severity && (!worst || *severity > *worst))) continue;
    worst = severity;
    shown.worst = static_cast<int>(row);
  }
  return shown;
}

/// Rows of a table as text, see TableModelBase::text_of(). On any thread.
template <class Table>
[[nodiscard]] QString rows_text(const Table& table, const std::vector<std::uint32_t>& rows,
                                const std::vector<int>& columns) {
  QString text;
  const auto add_line = [&](auto&& cell) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i != 0) text += QLatin1Char('\t');
      text += to_qt(cell(Table::columns()[static_cast<std::size_t>(columns[i])]))
                  .replace(QLatin1Char('\n'), QLatin1String("; "));
    }
    text += QLatin1Char('\n');
  };
  add_line([](const auto& column) { return std::string(column.heading); });
  for (const std::uint32_t row : rows)
    add_line([&](const auto& column) { return column.text(table.row(row)); });
  return text;
}

/// On any thread.
template <class Table>
[[nodiscard]] RowStep row_step(const ShownRows<Table>& before, const ShownRows<Table>& now) {
  RowStep step{std::vector<int>(before.places.size(), -1), {}};
  for (std::size_t i = 0; i < before.places.size(); ++i) {
    const auto found = now.at.find(before.of->keys[before.places[i]]);
    if (found != now.at.end()) step.places[i] = found->second;
  }
  step.changes = row_changes(step.places, static_cast<int>(now.places.size()));
  return step;
}

}  // namespace roce::gui

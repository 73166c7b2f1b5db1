// SPDX-License-Identifier: Apache-2.0
// One model for every table of columns (analyze/columns.hpp). Cells are made when they are asked for; rows
// have stable keys, and a new snapshot inserts, removes and changes rows but never resets the model.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <QVariant>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/columns.hpp"
#include "analyze/snapshot.hpp"
#include "gui/models/row_changes.hpp"

namespace roce::gui {

using SnapshotPtr = std::shared_ptr<const analyze::Snapshot>;

[[nodiscard]] inline QString to_qt(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// What all tables have in common. Used on the thread of the window only, as every model.
class TableModelBase : public QAbstractTableModel {
 public:
  enum Role {
    sort_role = Qt::UserRole + 1,  ///< double, or QString in columns of text
    severity_role,                 ///< int of analyze::Severity; invalid: nothing to say
    exact_role,                    ///< QString, as in CSV
    key_role,                      ///< QString, stable: which row this is
    id_role,                       ///< qulonglong: connection or flow; invalid where rows have none
    // Of horizontal headers:
    name_role,      ///< QString, the column's stable name
    hidden_role,    ///< bool: shown on request only
    numbers_role,   ///< bool: sorts by number
    searched_role,  ///< bool: a text that is typed is looked for here
  };

  using QAbstractTableModel::QAbstractTableModel;

  /// Takes over a snapshot, or null for none.
  virtual void show(SnapshotPtr snapshot) = 0;
  /// The row of that key, or -1.
  [[nodiscard]] virtual int row_of(const QString& key) const = 0;
  /// The column of that name, or -1.
  [[nodiscard]] virtual int column_of(std::string_view name) const = 0;
};

/// Table: the rows of one snapshot.
///   using Row;
///   static std::span<const analyze::Column<Row>> columns();
///   explicit Table(const analyze::Snapshot&);  // borrows from it
///   std::size_t size() const;
///   const Row& row(std::size_t) const;         // lives as long as the table
///   std::string key(std::size_t) const;
///   std::optional<analyze::Severity> severity(std::size_t) const;
///   std::optional<std::uint64_t> id(std::size_t) const;
template <class Table>
class TableModel final : public TableModelBase {
 public:
  using Row = typename Table::Row;
  using Column = analyze::Column<Row>;

  using TableModelBase::TableModelBase;

  void show(SnapshotPtr snapshot) override {
    // A table of something else is handed over as a whole.
    if constexpr (std::is_constructible_v<Table, const analyze::Snapshot&>) {
      auto next = snapshot ? std::make_unique<Table>(*snapshot) : nullptr;
      show_table(std::move(next), snapshot);
      snapshot_ = std::move(snapshot);
    }
  }
  /// `behind` is what its rows are borrowed from, and is kept as long as they are.
  void show_table(std::unique_ptr<Table> next, std::shared_ptr<const void> behind) {
    std::vector<Shown> rows = rows_of(next.get());
    std::unordered_map<std::string, int> at;
    at.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) at.emplace(rows[i].key, static_cast<int>(i));
    std::vector<int> places(shown_.size(), -1);
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      if (const auto found = at.find(shown_[i].key); found != at.end()) places[i] = found->second;
    }
    apply(row_changes(places, static_cast<int>(rows.size())), rows);
    // Those that stayed still show the old snapshot.
    shown_ = std::move(rows);
    at_ = std::move(at);
    table_ = std::move(next);
    behind_ = std::move(behind);
    if (!shown_.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  }

  [[nodiscard]] int row_of(const QString& key) const override {
    const auto found = at_.find(key.toStdString());
    return found == at_.end() ? -1 : found->second;
  }
  [[nodiscard]] int column_of(std::string_view name) const override {
    const std::span<const Column> all = Table::columns();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Column& c) { return c.name == name; });
    return found == all.end() ? -1 : static_cast<int>(found - all.begin());
  }

  [[nodiscard]] const Row& row(int number) const { return *shown_[static_cast<std::size_t>(number)].row; }
  [[nodiscard]] const SnapshotPtr& snapshot() const noexcept { return snapshot_; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(shown_.size());
  }
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(Table::columns().size());
  }

  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Shown& shown = shown_[static_cast<std::size_t>(index.row())];
    const Column& column = Table::columns()[static_cast<std::size_t>(index.column())];
    switch (role) {
      case Qt::DisplayRole:
        return to_qt(column.text(*shown.row));
      case Qt::TextAlignmentRole:
        return alignment(column);
      case Qt::AccessibleTextRole:
        return QStringLiteral("%1: %2").arg(to_qt(column.heading), to_qt(column.text(*shown.row)));
      case sort_role:
        return column.number != nullptr ? QVariant(column.number(*shown.row))
                                        : QVariant(to_qt(column.text(*shown.row)));
      case severity_role:
        return shown.severity ? QVariant(static_cast<int>(*shown.severity)) : QVariant();
      case exact_role:
        return to_qt(column.machine_text(*shown.row));
      case key_role:
        return QString::fromStdString(shown.key);
      case id_role:
        return shown.id ? QVariant::fromValue<qulonglong>(*shown.id) : QVariant();
      default:
        return {};
    }
  }

  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
    const std::span<const Column> all = Table::columns();
    if (orientation != Qt::Horizontal || section < 0 || static_cast<std::size_t>(section) >= all.size())
      return {};
    const Column& column = all[static_cast<std::size_t>(section)];
    switch (role) {
      case Qt::DisplayRole:
        return to_qt(column.heading);
      case Qt::ToolTipRole:
        return to_qt(column.help);
      case Qt::TextAlignmentRole:
        return alignment(column);
      case name_role:
        return to_qt(column.name);
      case hidden_role:
        return column.priority == Column::hidden;
      case numbers_role:
        return column.number != nullptr;
      // Figures that are costly to make are no place to look for a typed text.
      case searched_role:
        return column.number == nullptr || column.priority == 0;
      default:
        return {};
    }
  }

 private:
  struct Shown {
    const Row* row = nullptr;
    std::string key;
    std::optional<analyze::Severity> severity;
    std::optional<std::uint64_t> id;
  };

  [[nodiscard]] static QVariant alignment(const Column& column) {
    return QVariant::fromValue((column.right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }

  [[nodiscard]] static std::vector<Shown> rows_of(const Table* table) {
    std::vector<Shown> rows;
    if (table == nullptr) return rows;
    rows.reserve(table->size());
    std::unordered_map<std::string, int> often;
    for (std::size_t i = 0; i < table->size(); ++i) {
      std::string key = table->key(i);
      // Two rows of one key would be one row to a view.
      if (const int before = often[key]++; before != 0) key += '\x1f' + std::to_string(before);
      rows.push_back({&table->row(i), std::move(key), table->severity(i), table->id(i)});
    }
    return rows;
  }

  void apply(const RowChanges& changes, const std::vector<Shown>& next) {
    for (const RowRun& run : changes.removed) {
      beginRemoveRows({}, run.first, run.last);
      shown_.erase(shown_.begin() + run.first, shown_.begin() + run.last + 1);
      endRemoveRows();
    }
    for (const RowRun& run : changes.inserted) {
      beginInsertRows({}, run.first, run.last);
      shown_.insert(shown_.begin() + run.first, next.begin() + run.first, next.begin() + run.last + 1);
      endInsertRows();
    }
  }

  SnapshotPtr snapshot_;
  std::shared_ptr<const void> behind_;
  std::unique_ptr<Table> table_;
  std::vector<Shown> shown_;
  std::unordered_map<std::string, int> at_;  ///< rows by key
};

}  // namespace roce::gui

// SPDX-License-Identifier: Apache-2.0
// One model for every table of columns (analyze/results/columns.hpp). Cells are made on request. Rows have
// stable keys: a new snapshot, filter or order inserts, removes and moves rows but never resets the model.
// Rows of large tables are made, filtered and sorted on another thread; the newest request wins.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <QVariant>
#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyze/results/columns.hpp"
#include "analyze/results/snapshot.hpp"
#include "gui/models/background_call.hpp"
#include "gui/models/row_changes.hpp"
#include "gui/models/shown_names.hpp"
#include "gui/models/table_rows.hpp"

namespace roce::gui {

using SnapshotPtr = std::shared_ptr<const analyze::Snapshot>;

/// Common base of all tables. GUI thread only.
class TableModelBase : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Role {
    severity_role = Qt::UserRole + 1,  ///< int of analyze::Severity; invalid: none
    exact_role,                        ///< QString, as in CSV
    key_role,                          ///< QString, stable identity of the row
    id_role,                           ///< qulonglong: connection or flow; invalid where rows have none
    time_role,                         ///< TimeSpan, from first to last; invalid: no times
    // Of horizontal headers:
    name_role,      ///< QString, the column's stable name
    hidden_role,    ///< bool: shown on request only
    numbers_role,   ///< bool: sorts by number
    searched_role,  ///< bool: included in the text search
  };

  using QAbstractTableModel::QAbstractTableModel;

  /// Shows a snapshot; null: none. Small ones are shown at once; rows of large ones follow, see is_settled().
  virtual void show(SnapshotPtr snapshot) = 0;
  /// Only rows that contain all words, ignoring case; empty: all.
  void set_text(const QString& text);
  /// Only rows of this severity or worse; nullopt: all.
  void set_severity(std::optional<analyze::Severity> least);
  /// Only rows seen in that time range, and those without times; nullopt: all. A table whose constructor
  /// takes the time range is made again by the next show().
  void set_time(const std::optional<TimeSpan>& time);
  /// By a column's numbers or texts; -1: in the order of the table.
  void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

  /// Number of rows including those filtered out.
  [[nodiscard]] virtual int all_rows() const = 0;
  /// The row of that key, or -1.
  [[nodiscard]] virtual int row_of(const QString& key) const = 0;
  /// The first row of the worst severity, or -1.
  [[nodiscard]] virtual int worst_row() const = 0;
  /// The column of that name, or -1.
  [[nodiscard]] virtual int column_of(std::string_view name) const = 0;
  /// Whether no rows are being made on the other thread.
  [[nodiscard]] virtual bool is_settled() const = 0;
  /// Returns a function that makes tab-separated text of these rows, below their headings. It may be called
  /// once, on any thread, and uses the rows as they are now.
  [[nodiscard]] virtual std::function<QString()> text_of(const std::vector<RowRun>& rows,
                                                         std::vector<int> columns) const = 0;

 Q_SIGNALS:
  /// Rows may have changed; emitted once for each snapshot, filter or order.
  void rows_changed();

 protected:
  [[nodiscard]] const RowChoice& choice() const noexcept { return choice_; }
  /// choice() has changed.
  virtual void choice_changed() = 0;
  /// What making a table grows with.
  [[nodiscard]] static std::size_t size_of(const analyze::Snapshot& snapshot);

 private:
  RowChoice choice_;
};

/// Table: the rows of one snapshot.
///   using Row;
///   static std::span<const analyze::Column<Row>> columns();
///   explicit Table(const analyze::Snapshot&);  // borrows from it; on any thread
///   std::size_t size() const;
///   const Row& row(std::size_t) const;         // lives as long as the table
///   std::string key(std::size_t) const;
///   std::optional<analyze::Severity> severity(std::size_t) const;
///   std::optional<std::uint64_t> id(std::size_t) const;
///   std::optional<TimeSpan> time(std::size_t) const;  // optional
/// A table that lists only a selection of rows takes the time range as second argument of its constructor.
/// Const members are called on any thread.
template <class Table>
class TableModel final : public TableModelBase {
 public:
  using Row = typename Table::Row;
  using Column = analyze::Column<Row>;

  explicit TableModel(QObject* parent = nullptr) : TableModelBase(parent) {}
  ~TableModel() override {
    work_.cancel();
    let_go(std::move(now_));
  }
  TableModel(const TableModel&) = delete;
  TableModel& operator=(const TableModel&) = delete;

  void show(SnapshotPtr snapshot) override {
    // Tables that are not made of a snapshot come through show_table().
    if constexpr (std::is_constructible_v<Table, const analyze::Snapshot&>) {
      const std::size_t size = snapshot ? size_of(*snapshot) : 0;
      show_made(size, [snapshot, time = choice().time] {
        return std::make_shared<const Keyed>(snapshot ? table_of(*snapshot, time) : nullptr, snapshot);
      });
    }
  }
  /// `behind` owns what the rows borrow from and is kept alive with them.
  void show_table(std::unique_ptr<Table> next, std::shared_ptr<const void> behind) {
    const std::size_t size = next ? next->size() : 0;
    const auto holder = std::make_shared<std::unique_ptr<Table>>(std::move(next));
    show_made(size, [holder, behind = std::move(behind)] {
      return std::make_shared<const Keyed>(std::move(*holder), behind);
    });
  }

  [[nodiscard]] int all_rows() const override { return static_cast<int>(now_->of->size()); }
  [[nodiscard]] int row_of(const QString& key) const override {
    const auto found = now_->at.find(key.toStdString());
    return found == now_->at.end() ? -1 : found->second;
  }
  [[nodiscard]] int worst_row() const override { return now_->worst; }
  [[nodiscard]] int column_of(std::string_view name) const override {
    const std::span<const Column> all = Table::columns();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Column& c) { return c.name == name; });
    return found == all.end() ? -1 : static_cast<int>(found - all.begin());
  }
  [[nodiscard]] bool is_settled() const override { return !working_; }

  [[nodiscard]] std::function<QString()> text_of(const std::vector<RowRun>& rows,
                                                 std::vector<int> columns) const override {
    std::vector<std::uint32_t> chosen;
    for (const RowRun& run : rows)
      chosen.insert(chosen.end(), now_->places.begin() + run.first, now_->places.begin() + run.last + 1);
    return [of = now_->of, chosen = std::move(chosen), columns = std::move(columns)] {
      return of->table ? rows_text(*of->table, chosen, columns) : QString();
    };
  }

  [[nodiscard]] const Row& row(int number) const {
    const Place& place = shown_[static_cast<std::size_t>(number)];
    return place.of->table->row(place.row);
  }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(shown_.size());
  }
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(Table::columns().size());
  }

  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Place& place = shown_[static_cast<std::size_t>(index.row())];
    const Table& table = *place.of->table;
    const Row& row = table.row(place.row);
    const Column& column = Table::columns()[static_cast<std::size_t>(index.column())];
    switch (role) {
      case Qt::DisplayRole:
        return with_names(column.text(row));
      case Qt::TextAlignmentRole:
        return alignment(column);
      case Qt::AccessibleTextRole:
        return QStringLiteral("%1: %2").arg(to_qt(column.heading), with_names(column.text(row)));
      case severity_role: {
        const auto severity = table.severity(place.row);
        return severity ? QVariant(static_cast<int>(*severity)) : QVariant();
      }
      case exact_role:
        return to_qt(column.machine_text(row));
      case key_role:
        return to_qt(place.of->keys[place.row]);
      case id_role: {
        const auto id = table.id(place.row);
        return id ? QVariant::fromValue<qulonglong>(*id) : QVariant();
      }
      case time_role:
        if constexpr (requires { table.time(place.row); }) {
          const auto time = table.time(place.row);
          return time ? QVariant::fromValue(*time) : QVariant();
        }
        return {};
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
        return column.priority == analyze::hidden_column;
      case numbers_role:
        return column.number != nullptr;
      case searched_role:
        return is_searched(column);
      default:
        return {};
    }
  }

 protected:
  void choice_changed() override {
    if (working_) {
      outdated_ = true;
      return;
    }
    work(now_->of->size(), [of = now_->of] { return of; });
  }

 private:
  using Keyed = KeyedTable<Table>;
  using Rows = ShownRows<Table>;
  using Maker = std::function<std::shared_ptr<const Keyed>()>;
  /// A row that is shown. During a change some still belong to the previous table.
  struct Place {
    const Keyed* of = nullptr;
    std::uint32_t row = 0;
  };
  struct Made {
    std::shared_ptr<const Rows> rows;
    RowStep step;
  };

  /// Up to this many rows are made faster than a thread could be started.
  static constexpr std::size_t made_at_once = 500;
  /// More separate changes than this would keep a view busy; see change_all().
  static constexpr std::size_t most_runs = 64;

  [[nodiscard]] static QVariant alignment(const Column& column) {
    return QVariant::fromValue((column.right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }

  [[nodiscard]] static std::unique_ptr<Table> table_of(const analyze::Snapshot& snapshot,
                                                       [[maybe_unused]] const std::optional<TimeSpan>& time) {
    if constexpr (std::is_constructible_v<Table, const analyze::Snapshot&, const std::optional<TimeSpan>&>) {
      return std::make_unique<Table>(snapshot, time);
    } else {
      return std::make_unique<Table>(snapshot);
    }
  }

  void show_made(std::size_t size, Maker make) {
    ++shows_;
    // An empty table is shown at once and cancels what is being made.
    if (size == 0) {
      work_.cancel();
      working_ = outdated_ = false;
      next_ = nullptr;
    }
    if (working_) {
      next_ = std::move(make);
    } else {
      work(size, std::move(make));
    }
  }

  [[nodiscard]] static Made made(const Maker& make, const RowChoice& choice, const Rows& before) {
    auto rows = std::make_shared<const Rows>(shown_rows<Table>(make(), choice));
    RowStep step = row_step(before, *rows);
    return {std::move(rows), std::move(step)};
  }

  void work(std::size_t size, Maker make) {
    if (size <= made_at_once) return take(made(make, choice(), *now_));
    working_ = true;
    work_.run([this, make = std::move(make), chosen = choice(), before = now_]() -> std::function<void()> {
      std::shared_ptr<Made> ready;
      try {
        ready = std::make_shared<Made>(made(make, chosen, *before));
      } catch (const std::exception&) {
        // Out of memory: the old rows stay until the next snapshot.
      }
      return [this, ready] { came(ready); };
    });
  }

  void came(const std::shared_ptr<Made>& ready) {
    working_ = false;
    Maker next = std::exchange(next_, nullptr);
    const bool again = std::exchange(outdated_, false);
    const std::uint64_t shows = shows_;
    if (ready) take(std::move(*ready));
    if (shows != shows_ || working_) return;  // a slot has shown something newer
    if (next) {
      work(made_at_once + 1, std::move(next));
    } else if (again) {
      choice_changed();
    }
  }

  void take(Made made) {
    const std::vector<std::uint32_t>& places = made.rows->places;
    std::vector<Place> next;
    next.reserve(places.size());
    for (const std::uint32_t row : places) next.push_back({made.rows->of.get(), row});
    const RowChanges& changes = made.step.changes;
    if (changes.removed.size() + changes.inserted.size() <= most_runs) {
      change_runs(changes, next);
    } else {
      change_all(made.step.places, next);
    }
    // Rows that stayed still refer to the old table.
    shown_ = std::move(next);
    let_go(std::exchange(now_, std::move(made.rows)));
    if (!shown_.empty()) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    Q_EMIT rows_changed();
  }

  static void let_go(std::shared_ptr<const Rows> rows) {
    if (rows->of->size() > made_at_once) free_in_background(std::move(rows));
  }

  void change_runs(const RowChanges& changes, const std::vector<Place>& next) {
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

  /// The same in four steps, however many runs there are: rows to remove move to the end and are removed,
  /// new ones are appended and move to their places.
  void change_all(const std::vector<int>& places, const std::vector<Place>& next) {
    std::vector<int> order(shown_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto at = [&](int row) { return places[static_cast<std::size_t>(row)]; };
    const auto stays =
        std::stable_partition(order.begin(), order.end(), [&](int row) { return at(row) >= 0; });
    const auto left = static_cast<int>(stays - order.begin());
    std::sort(order.begin(), stays, [&](int a, int b) { return at(a) < at(b); });
    std::vector<int> target;  // of the rows that stay, and then of those that come
    std::vector<bool> taken(next.size());
    for (auto row = order.begin(); row != stays; ++row) {
      target.push_back(at(*row));
      taken[static_cast<std::size_t>(at(*row))] = true;
    }
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (!taken[i]) target.push_back(static_cast<int>(i));
    }
    std::vector<int> to(shown_.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      to[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    move_rows(to);
    if (left < rowCount()) {
      beginRemoveRows({}, left, rowCount() - 1);
      shown_.resize(static_cast<std::size_t>(left));
      endRemoveRows();
    }
    if (shown_.size() < next.size()) {
      beginInsertRows({}, left, static_cast<int>(next.size()) - 1);
      for (std::size_t i = shown_.size(); i < next.size(); ++i)
        shown_.push_back(next[static_cast<std::size_t>(target[i])]);
      endInsertRows();
    }
    move_rows(target);
  }

  /// Row i goes to `to[i]`.
  void move_rows(const std::vector<int>& to) {
    if (std::is_sorted(to.begin(), to.end())) return;
    Q_EMIT layoutAboutToBeChanged({}, VerticalSortHint);
    std::vector<Place> moved(shown_.size());
    for (std::size_t i = 0; i < to.size(); ++i) moved[static_cast<std::size_t>(to[i])] = shown_[i];
    shown_ = std::move(moved);
    const QModelIndexList from = persistentIndexList();
    QModelIndexList there;
    there.reserve(from.size());
    for (const QModelIndex& one : from) there << index(to[static_cast<std::size_t>(one.row())], one.column());
    changePersistentIndexList(from, there);
    Q_EMIT layoutChanged({}, VerticalSortHint);
  }

  std::shared_ptr<const Rows> now_ =
      std::make_shared<const Rows>(Rows{std::make_shared<const Keyed>(nullptr, nullptr), {}, {}, -1});
  std::vector<Place> shown_;  ///< those of now_, except during a change
  bool working_ = false;      ///< rows are being made; now_ stays meanwhile
  bool outdated_ = false;     ///< choice() has changed since working_ was set
  std::uint64_t shows_ = 0;   ///< calls of show_made()
  Maker next_;                ///< of the newest table shown while working_
  BackgroundCall work_{*this};
};

}  // namespace roce::gui

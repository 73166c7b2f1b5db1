// SPDX-License-Identifier: Apache-2.0
#include "gui/models/finding_tree.hpp"

#include <QCoreApplication>
#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "gui/models/row_changes.hpp"
#include "gui/models/tables.hpp"

namespace roce::gui {

using analyze::Finding;

FindingTree::FindingTree(QObject* parent) : QAbstractItemModel(parent) {}
FindingTree::~FindingTree() = default;

FindingTree::Kinds FindingTree::kinds_of(const analyze::Snapshot& snapshot) {
  Kinds kinds;
  std::unordered_map<std::string_view, Kind*> at;
  std::unordered_map<std::string, int> often;
  for (const Finding& finding : snapshot.findings) {  // worst first, and so are the kinds
    Kind*& kind = at[finding.id];
    if (kind == nullptr) kind = kinds.emplace_back(std::make_unique<Kind>(Kind{finding.id, {}})).get();
    std::string key = finding_key(finding);
    if (const int before = often[key]++; before != 0) key += '\x1f' + std::to_string(before);
    kind->rows.push_back({&finding, std::move(key)});
  }
  return kinds;
}

void FindingTree::show(SnapshotPtr snapshot) {
  Kinds next = snapshot ? kinds_of(*snapshot) : Kinds{};
  show_kinds(next);
  // kinds_ now has the kinds of `next` in their order; those that stayed have their old rows.
  for (std::size_t i = 0; i < next.size(); ++i) {
    if (next[i]) show_rows(static_cast<int>(i), next[i]->rows);
  }
  snapshot_ = std::move(snapshot);
  if (kinds_.empty()) return;
  Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, column_count - 1));
  for (int i = 0; i < rowCount(); ++i) {
    const QModelIndex kind = index(i, 0);
    Q_EMIT dataChanged(index(0, 0, kind), index(rowCount(kind) - 1, column_count - 1, kind));
  }
}

/// Takes over the kinds of `next`: new ones are moved out of it.
void FindingTree::show_kinds(Kinds& next) {
  std::vector<int> places(kinds_.size(), -1);
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const auto found =
        std::find_if(next.begin(), next.end(), [&](const auto& k) { return k->id == kinds_[i]->id; });
    if (found != next.end()) places[i] = static_cast<int>(found - next.begin());
  }
  const RowChanges changes = row_changes(places, static_cast<int>(next.size()));
  for (const RowRun& run : changes.removed) {
    beginRemoveRows({}, run.first, run.last);
    kinds_.erase(kinds_.begin() + run.first, kinds_.begin() + run.last + 1);
    endRemoveRows();
  }
  for (const RowRun& run : changes.inserted) {
    beginInsertRows({}, run.first, run.last);
    for (int i = run.first; i <= run.last; ++i)
      kinds_.insert(kinds_.begin() + i, std::move(next[static_cast<std::size_t>(i)]));
    endInsertRows();
  }
}

void FindingTree::show_rows(int place, const std::vector<Row>& next) {
  const QModelIndex parent = index(place, 0);
  std::vector<Row>& rows = kinds_[static_cast<std::size_t>(place)]->rows;
  std::unordered_map<std::string_view, int> at;
  for (std::size_t i = 0; i < next.size(); ++i) at.emplace(next[i].key, static_cast<int>(i));
  std::vector<int> places(rows.size(), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (const auto found = at.find(rows[i].key); found != at.end()) places[i] = found->second;
  }
  const RowChanges changes = row_changes(places, static_cast<int>(next.size()));
  for (const RowRun& run : changes.removed) {
    beginRemoveRows(parent, run.first, run.last);
    rows.erase(rows.begin() + run.first, rows.begin() + run.last + 1);
    endRemoveRows();
  }
  for (const RowRun& run : changes.inserted) {
    beginInsertRows(parent, run.first, run.last);
    rows.insert(rows.begin() + run.first, next.begin() + run.first, next.begin() + run.last + 1);
    endInsertRows();
  }
  rows = next;
}

const FindingTree::Kind* FindingTree::kind_at(const QModelIndex& index) const {
  if (index.internalPointer() != nullptr) return static_cast<const Kind*>(index.internalPointer());
  return kinds_[static_cast<std::size_t>(index.row())].get();
}

int FindingTree::place_of(const Kind* kind) const {
  const auto found =
      std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& k) { return k.get() == kind; });
  return static_cast<int>(found - kinds_.begin());
}

const Finding* FindingTree::finding(const QModelIndex& index) const {
  if (!index.isValid()) return nullptr;
  const std::vector<Row>& rows = kind_at(index)->rows;
  return rows[index.internalPointer() != nullptr ? static_cast<std::size_t>(index.row()) : 0].finding;
}

QModelIndex FindingTree::index_of(const QString& key) const {
  const std::string wanted = key.toStdString();
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const std::vector<Row>& rows = kinds_[i]->rows;
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.key == wanted; });
    if (found != rows.end())
      return index(static_cast<int>(found - rows.begin()), 0, index(static_cast<int>(i), 0));
  }
  return {};
}

QModelIndex FindingTree::index(int row, int column, const QModelIndex& parent) const {
  if (row < 0 || column < 0 || column >= column_count || row >= rowCount(parent)) return {};
  return createIndex(row, column,
                     parent.isValid() ? kinds_[static_cast<std::size_t>(parent.row())].get() : nullptr);
}

QModelIndex FindingTree::parent(const QModelIndex& child) const {
  if (!child.isValid() || child.internalPointer() == nullptr) return {};
  return createIndex(place_of(static_cast<const Kind*>(child.internalPointer())), 0);
}

int FindingTree::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return static_cast<int>(kinds_.size());
  if (parent.internalPointer() != nullptr || parent.column() != 0) return 0;
  return static_cast<int>(kinds_[static_cast<std::size_t>(parent.row())]->rows.size());
}

int FindingTree::columnCount(const QModelIndex&) const {
  return column_count;
}

QVariant FindingTree::data(const QModelIndex& index, int role) const {
  const Finding* shown = finding(index);
  if (shown == nullptr) return {};
  const bool is_kind = index.internalPointer() == nullptr;
  const std::vector<Row>& rows = kind_at(index)->rows;
  const bool title = index.column() == title_column;
  switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole: {
      if (title) return is_kind ? to_qt(shown->title) : to_qt(shown->subject);
      std::uint64_t count = shown->count;
      if (is_kind) {
        count = std::accumulate(rows.begin(), rows.end(), std::uint64_t{0},
                                [](std::uint64_t sum, const Row& row) { return sum + row.finding->count; });
      }
      return QString::number(count);
    }
    case Qt::ToolTipRole:
      return to_qt(first_sentence(shown->explanation));
    case Qt::TextAlignmentRole:
      return QVariant::fromValue((title ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case TableModelBase::severity_role:
      return static_cast<int>(shown->severity);
    case TableModelBase::time_role: {
      const auto time = is_kind ? std::nullopt : time_of(*shown);
      return time ? QVariant::fromValue(*time) : QVariant();
    }
    case TableModelBase::key_role:
      return is_kind ? to_qt(shown->id) : to_qt(rows[static_cast<std::size_t>(index.row())].key);
    default:
      return {};
  }
}

QVariant FindingTree::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count) return {};
  const bool title = section == title_column;
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue((title ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role == TableModelBase::searched_role) return title;
  if (role != Qt::DisplayRole) return {};
  return title ? QCoreApplication::translate("FindingTree", "Finding")
               : QCoreApplication::translate("FindingTree", "Count");
}

}  // namespace roce::gui

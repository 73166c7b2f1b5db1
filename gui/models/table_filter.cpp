// SPDX-License-Identifier: Apache-2.0
#include "gui/models/table_filter.hpp"

#include <algorithm>

namespace roce::gui {

TableFilter::TableFilter(QObject* parent) : QSortFilterProxyModel(parent) {
  setSortRole(TableModelBase::sort_role);
  setDynamicSortFilter(true);
}

void TableFilter::set_text(const QString& text) {
  words_ = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  invalidateRowsFilter();
}

void TableFilter::set_severity(std::optional<analyze::Severity> least) {
  least_ = least;
  invalidateRowsFilter();
}

bool TableFilter::holds(const QModelIndex& row, const QString& word) const {
  const QAbstractItemModel& model = *sourceModel();
  for (int column = 0; column < model.columnCount(row.parent()); ++column) {
    if (!model.headerData(column, Qt::Horizontal, TableModelBase::searched_role).toBool()) continue;
    if (row.siblingAtColumn(column).data().toString().contains(word, Qt::CaseInsensitive)) return true;
  }
  return row.parent().isValid() && holds(row.parent(), word);
}

bool TableFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  const QModelIndex index = sourceModel()->index(row, 0, parent);
  // In a tree rows are shown for the sake of those below them.
  if (isRecursiveFilteringEnabled() && sourceModel()->hasChildren(index)) return false;
  if (least_) {
    const QVariant severity = index.data(TableModelBase::severity_role);
    if (!severity.isValid() || severity.toInt() < static_cast<int>(*least_)) return false;
  }
  return std::all_of(words_.begin(), words_.end(), [&](const QString& word) { return holds(index, word); });
}

bool TableFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const QVariant a = left.data(sortRole());
  const QVariant b = right.data(sortRole());
  // Numbers are compared as numbers, whatever the locale says of texts.
  if (a.userType() == QMetaType::Double && b.userType() == QMetaType::Double)
    return a.toDouble() < b.toDouble();
  return QString::compare(a.toString(), b.toString(), Qt::CaseInsensitive) < 0;
}

}  // namespace roce::gui

// SPDX-License-Identifier: Apache-2.0
#include "gui/models/finding_filter.hpp"

#include <algorithm>

#include "gui/models/table_model.hpp"

namespace roce::gui {

FindingFilter::FindingFilter(QObject* parent) : QSortFilterProxyModel(parent) {
  // A kind is shown if any of its findings is.
  setRecursiveFilteringEnabled(true);
}

void FindingFilter::set_text(const QString& text) {
  words_ = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  invalidateRowsFilter();
}

void FindingFilter::set_severity(std::optional<analyze::Severity> least) {
  least_ = least;
  invalidateRowsFilter();
}

void FindingFilter::set_time(const std::optional<TimeSpan>& time) {
  if (time == time_) return;
  time_ = time;
  invalidateRowsFilter();
}

bool FindingFilter::holds(const QModelIndex& row, const QString& word) const {
  const QAbstractItemModel& model = *sourceModel();
  for (int column = 0; column < model.columnCount(row.parent()); ++column) {
    if (!model.headerData(column, Qt::Horizontal, TableModelBase::searched_role).toBool()) continue;
    if (row.siblingAtColumn(column).data().toString().contains(word, Qt::CaseInsensitive)) return true;
  }
  return row.parent().isValid() && holds(row.parent(), word);
}

bool FindingFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  const QModelIndex index = sourceModel()->index(row, 0, parent);
  if (sourceModel()->hasChildren(index)) return false;
  if (least_) {
    const QVariant severity = index.data(TableModelBase::severity_role);
    if (!severity.isValid() || severity.toInt() < static_cast<int>(*least_)) return false;
  }
  if (time_) {
    const QVariant times = index.data(TableModelBase::time_role);
    if (times.isValid() && !is_in(times.value<TimeSpan>(), time_)) return false;
  }
  return std::all_of(words_.begin(), words_.end(), [&](const QString& word) { return holds(index, word); });
}

}  // namespace roce::gui

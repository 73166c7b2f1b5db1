// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QSortFilterProxyModel>
#include <QString>
#include <optional>

#include "analyze/results/finding.hpp"
#include "gui/models/time_span.hpp"

namespace roce::gui {

/// Filters the tree of findings by text, severity and time; a kind is shown if any of its findings is. The
/// text of a kind counts for its findings too. Tables filter in their model (table_model.hpp).
class FindingFilter : public QSortFilterProxyModel {
 public:
  explicit FindingFilter(QObject* parent = nullptr);

  /// Words that a finding must all contain, ignoring case; empty: no filter.
  void set_text(const QString& text);
  /// Only findings of this severity or worse; nullopt: all.
  void set_severity(std::optional<analyze::Severity> least);
  /// Only findings in that time range, and those without times; nullopt: all.
  void set_time(const std::optional<TimeSpan>& time);

 protected:
  [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  [[nodiscard]] bool holds(const QModelIndex& row, const QString& word) const;

  QStringList words_;
  std::optional<analyze::Severity> least_;
  std::optional<TimeSpan> time_;
};

}  // namespace roce::gui

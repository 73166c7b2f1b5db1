// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QSortFilterProxyModel>
#include <QString>
#include <optional>

#include "analyze/results/finding.hpp"
#include "gui/models/time_span.hpp"

namespace roce::gui {

/// Of the tree of findings those that hold a text and are bad enough; kinds only with some of theirs. A
/// finding also holds what its kind does. Tables filter by themselves (table_model.hpp).
class FindingFilter : public QSortFilterProxyModel {
 public:
  explicit FindingFilter(QObject* parent = nullptr);

  /// Words, all of which a finding must hold, in whatever case; empty: every one.
  void set_text(const QString& text);
  /// Only findings with this severity or a worse one; nullopt: every one.
  void set_severity(std::optional<analyze::Severity> least);
  /// Only findings of that time range, and those without times; nullopt: every one.
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

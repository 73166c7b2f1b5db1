// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QSortFilterProxyModel>
#include <QString>
#include <optional>

#include "analyze/finding.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {

/// Sorts a table by its columns' numbers or texts, and shows the rows that hold a text and are bad enough. A
/// row of a tree also holds what the row above it does.
class TableFilter : public QSortFilterProxyModel {
 public:
  explicit TableFilter(QObject* parent = nullptr);

  /// Words, all of which a row must hold, in whatever case; empty: every row.
  void set_text(const QString& text);
  /// Only rows with this severity or a worse one; nullopt: every row.
  void set_severity(std::optional<analyze::Severity> least);

 protected:
  [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
  [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

 private:
  [[nodiscard]] bool holds(const QModelIndex& row, const QString& word) const;

  QStringList words_;
  std::optional<analyze::Severity> least_;
};

}  // namespace roce::gui

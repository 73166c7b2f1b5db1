// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QStyledItemDelegate>
#include <memory>
#include <utility>

#include "gui/models/connection_sparks.hpp"

namespace roce::gui {

/// Delegate for a numeric column of connections that adds a sparkline of their packets over time.
class SparkDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  /// Null: numbers without sparklines.
  void show(std::shared_ptr<const ConnectionSparks> sparks) { sparks_ = std::move(sparks); }
  [[nodiscard]] const std::shared_ptr<const ConnectionSparks>& sparks() const noexcept { return sparks_; }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                 const QModelIndex& index) override;

 private:
  [[nodiscard]] const ConnectionSpark* spark_of(const QModelIndex& index) const;

  std::shared_ptr<const ConnectionSparks> sparks_;
};

}  // namespace roce::gui

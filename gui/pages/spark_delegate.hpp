// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QStyledItemDelegate>
#include <memory>
#include <utility>

#include "gui/models/connection_sparks.hpp"

namespace roce::gui {

/// A column of figures of connections, with a small line of their packets over time beside each.
class SparkDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  /// Null: figures alone.
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

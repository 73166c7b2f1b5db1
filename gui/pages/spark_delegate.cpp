// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/spark_delegate.hpp"

#include <QAbstractItemView>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <bit>

#include "gui/charts/spark_geometry.hpp"
#include "gui/charts/theme.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {
namespace {

constexpr int widest = 96;  ///< pixels: three per interval
constexpr int air = 6;

}  // namespace

const ConnectionSpark* SparkDelegate::spark_of(const QModelIndex& index) const {
  const QVariant id = index.data(TableModelBase::id_role);
  return sparks_ && id.isValid() ? sparks_->of(id.toULongLong()) : nullptr;
}

void SparkDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
  QStyledItemDelegate::paint(painter, option, index);
  const ConnectionSpark* spark = spark_of(index);
  if (spark == nullptr) return;
  const int text = option.fontMetrics.horizontalAdvance(index.data().toString()) + 2 * air;
  const QRectF room(option.rect.left() + air, option.rect.top() + 3,
                    std::min(widest, option.rect.width() - text - 2 * air), option.rect.height() - 6);
  const SparkLines lines = spark_lines(*spark, room);
  if (lines.line.isEmpty()) return;
  const bool selected = option.state.testFlag(QStyle::State_Selected);
  const Colours& c = colours(option.palette);
  const QColor ink = option.palette.color(QPalette::HighlightedText);
  const QColor line = selected ? ink : c.throughput;
  painter->save();
  QColor below = line;
  below.setAlpha(60);
  painter->setPen(Qt::NoPen);
  painter->setBrush(below);
  painter->drawPolygon(QPolygonF(lines.line) << room.bottomRight() << room.bottomLeft());
  painter->setPen(QPen(line, 1));
  painter->drawPolyline(lines.line);
  painter->setPen(QPen(selected ? ink : c.retransmitted, 2));
  painter->drawLines(lines.ticks);
  painter->restore();
}

QSize SparkDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  return QStyledItemDelegate::sizeHint(option, index) + QSize(widest + air, 0);
}

bool SparkDelegate::helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                              const QModelIndex& index) {
  const ConnectionSpark* spark = spark_of(index);
  if (spark == nullptr || event->type() != QEvent::ToolTip)
    return QStyledItemDelegate::helpEvent(event, view, option, index);
  QString text =
      tr("Packets over the duration of the capture, in %1 equal intervals.").arg(ConnectionSpark::parts);
  if (spark->resent != 0)
    text += tr(" Ticks above: retransmissions, in %1 of them.").arg(std::popcount(spark->resent));
  QToolTip::showText(event->globalPos(), text, view);
  return true;
}

}  // namespace roce::gui

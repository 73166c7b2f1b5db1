// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/interface_list.hpp"

#include <QEvent>
#include <QFontMetrics>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPolygonF>
#include <QScrollBar>
#include <algorithm>

#include "analyze/base/units.hpp"
#include "gui/charts/theme.hpp"
#include "gui/models/shown_text.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {

InterfaceList::InterfaceList(QWidget* parent) : QAbstractScrollArea(parent) {
  setAccessibleName(tr("Interfaces of this host"));
  setObjectName(QStringLiteral("interfaces"));
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFrameShape(NoFrame);
  viewport()->setBackgroundRole(QPalette::Base);
  viewport()->setAutoFillBackground(true);
  connect(&rates_, &InterfaceRates::changed, this, &InterfaceList::show_rates);
}

int InterfaceList::row_height() const {
  return QFontMetrics(font()).height() * 2;
}

QSize InterfaceList::sizeHint() const {
  const int width = QFontMetrics(font()).averageCharWidth() * 46;
  return {width, row_height() * std::clamp(static_cast<int>(rates_.rows().size()), 2, 8)};
}

void InterfaceList::show_rates() {
  current_ = std::clamp(current_, 0, std::max(0, static_cast<int>(rates_.rows().size()) - 1));
  fit_bar();
  updateGeometry();
  viewport()->update();
}

void InterfaceList::fit_bar() {
  const int all = row_height() * static_cast<int>(rates_.rows().size());
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(row_height());
  verticalScrollBar()->setRange(0, std::max(0, all - viewport()->height()));
}

/// The counters are read only while somebody sees them.
void InterfaceList::showEvent(QShowEvent* event) {
  QAbstractScrollArea::showEvent(event);
  rates_.watch(true);
}

void InterfaceList::hideEvent(QHideEvent* event) {
  QAbstractScrollArea::hideEvent(event);
  rates_.watch(false);
}

void InterfaceList::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  const QFontMetrics metrics(font());
  const Colours& all = colours(palette());
  const int height = row_height();
  const int width = viewport()->width();
  const int name_width = metrics.averageCharWidth() * 17;
  const int rate_width = metrics.horizontalAdvance(QStringLiteral("000.0 Mb/s")) + 8;
  for (std::size_t i = 0; i < rates_.rows().size(); ++i) {
    const InterfaceRates::Row& row = rates_.rows()[i];
    const QRect line(0, static_cast<int>(i) * height - verticalScrollBar()->value(), width, height);
    if (line.bottom() < 0 || line.top() > viewport()->height()) continue;
    if (static_cast<int>(i) == current_ && hasFocus()) painter.fillRect(line, all.selection);
    painter.setPen(palette().color(QPalette::Link));
    const QString name = metrics.elidedText(shown_name(row.name), Qt::ElideMiddle, name_width - 8);
    painter.drawText(line.adjusted(8, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, name);
    painter.setPen(palette().color(QPalette::Text));
    const double now = row.bits.isEmpty() ? 0 : row.bits.back();
    painter.drawText(line.adjusted(0, 0, -8, 0), Qt::AlignRight | Qt::AlignVCenter,
                     row.bits.isEmpty() ? QString() : to_qt(analyze::rate_text(now)));
    const QRectF room(name_width + 8, line.top() + height * 0.2, width - name_width - rate_width - 24,
                      height * 0.6);
    if (room.width() < 20) continue;
    const double most = row.bits.isEmpty() ? 0 : *std::max_element(row.bits.begin(), row.bits.end());
    QPolygonF spark;
    const double step = room.width() / static_cast<double>(InterfaceRates::most_seconds - 1);
    for (qsizetype s = 0; s < row.bits.size(); ++s) {
      const double x = room.right() - static_cast<double>(row.bits.size() - 1 - s) * step;
      spark << QPointF(x, room.bottom() - (most > 0 ? row.bits[s] / most : 0) * room.height());
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(palette().color(QPalette::Mid), 1));
    painter.drawLine(QLineF(room.left(), room.bottom(), room.right(), room.bottom()));
    painter.setPen(QPen(all.throughput, 1.5));
    painter.drawPolyline(spark);
    painter.setRenderHint(QPainter::Antialiasing, false);
  }
  if (!rates_.rows().empty()) return;
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(viewport()->rect(), Qt::AlignCenter | Qt::TextWordWrap, tr("No interface is up"));
}

void InterfaceList::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  fit_bar();
}

void InterfaceList::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::FontChange) show_rates();
}

void InterfaceList::set_current(int row) {
  current_ = std::clamp(row, 0, std::max(0, static_cast<int>(rates_.rows().size()) - 1));
  const int top = current_ * row_height();
  if (top < verticalScrollBar()->value()) verticalScrollBar()->setValue(top);
  if (top + row_height() > verticalScrollBar()->value() + viewport()->height())
    verticalScrollBar()->setValue(top + row_height() - viewport()->height());
  viewport()->update();
}

void InterfaceList::mouseReleaseEvent(QMouseEvent* event) {
  const int row = (event->pos().y() + verticalScrollBar()->value()) / row_height();
  if (event->button() != Qt::LeftButton || row < 0 || row >= static_cast<int>(rates_.rows().size())) return;
  set_current(row);
  Q_EMIT chosen(rates_.rows()[static_cast<std::size_t>(row)].name);
}

void InterfaceList::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Up) return set_current(current_ - 1);
  if (event->key() == Qt::Key_Down) return set_current(current_ + 1);
  if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && !rates_.rows().empty()) {
    Q_EMIT chosen(rates_.rows()[static_cast<std::size_t>(current_)].name);
    return;
  }
  QAbstractScrollArea::keyPressEvent(event);
}

void InterfaceList::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  viewport()->update();
}

}  // namespace roce::gui

// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/ladder.hpp"

#include <QHelpEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "analyze/base/units.hpp"
#include "gui/charts/trace_marks.hpp"
#include "gui/models/incident_trace.hpp"
#include "gui/models/table_rows.hpp"
#include "gui/models/time_format.hpp"
#include "gui/models/trace_text.hpp"

namespace roce::gui {
namespace {

using analyze::ConnectionTrace;
using analyze::TracePoint;

double letter(const QFont& font) {
  return QFontMetricsF(font).averageCharWidth();
}

}  // namespace

LadderView::LadderView(QWidget* parent) : QAbstractScrollArea(parent) {
  setAccessibleName(tr("Ladder diagram"));
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setBackgroundRole(QPalette::Base);
  viewport()->setAutoFillBackground(true);
}

double LadderView::row_height() const {
  return std::ceil(QFontMetricsF(font()).height() * (explains_ ? 2.2 : 1.75));
}

void LadderView::show_trace(std::shared_ptr<const ConnectionTrace> trace, std::int64_t origin_ns,
                            const std::array<QString, 2>& ends) {
  trace_ = std::move(trace);
  origin_ns_ = origin_ns;
  ends_ = ends;
  make_rows();
  current_ = 0;
  if (trace_) said_ = rows_.empty() ? tr("No packets.") : QString();
  fit_scroll_bar();
  verticalScrollBar()->setValue(0);
  viewport()->update();
}

void LadderView::make_rows() {
  rows_ = trace_ ? ladder_rows(*trace_) : std::vector<LadderRow>();
  if (folds_ && trace_) rows_ = folded_rows(*trace_, rows_);
}

void LadderView::set_folding(bool folds) {
  if (folds == std::exchange(folds_, folds) || !trace_ || rows_.empty()) return;
  const std::uint64_t packet = packet_of(current_);
  make_rows();
  fit_scroll_bar();
  current_ = 0;
  if (const auto row = ladder_row_of(*trace_, rows_, packet)) set_current(*row, false);
  viewport()->update();
}

/// Time between a row and the packet before it, in nanoseconds; 0: there is none.
std::int64_t LadderView::gap_before(std::size_t row) const {
  const std::uint32_t point = rows_[row].point;
  if (point == 0 || rows_[row].lost_before) return 0;
  const std::int64_t before = trace_->points[point - 1].time_ns, now = trace_->points[point].time_ns;
  return before == capture::no_time || now == capture::no_time ? 0 : std::max<std::int64_t>(now - before, 0);
}

void LadderView::say(const QString& text) {
  said_ = text;
  viewport()->update();
}

void LadderView::show_packet(const std::optional<std::uint64_t>& number) {
  if (!number || !trace_ || (current_ < rows_.size() && packet_of(current_) == *number)) return;
  if (const auto row = ladder_row_of(*trace_, rows_, *number)) set_current(*row, false);
}

void LadderView::show_time(std::int64_t time_ns) {
  if (!trace_ || !trace_->timed || rows_.empty()) return;
  verticalScrollBar()->setValue(static_cast<int>(ladder_row_at(*trace_, rows_, time_ns)));
}

/// The heading takes one row.
void LadderView::fit_scroll_bar() {
  const int page = std::max(1, static_cast<int>(viewport()->height() / row_height()) - 1);
  verticalScrollBar()->setPageStep(page);
  verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(rows_.size()) - page));
}

void LadderView::set_current(std::size_t row, bool tell) {
  if (row >= rows_.size()) return;
  current_ = row;
  const int first = verticalScrollBar()->value(), page = verticalScrollBar()->pageStep();
  const auto place = static_cast<int>(row);
  if (place < first) verticalScrollBar()->setValue(place);
  if (place >= first + page) verticalScrollBar()->setValue(tell ? place - page + 1 : place - page / 2);
  setAccessibleDescription(point_text(trace_->points[rows_[row].point], origin_ns_));
  viewport()->update();
  if (tell) Q_EMIT packet_chosen(packet_of(row));
}

QString LadderView::label_of(const LadderRow& row) const {
  const TracePoint& p = trace_->points[row.point];
  if (row.lost_before) return tr("lost upstream of the capture point: %1").arg(p.verdict.lost_before);
  QString text = kind_text(p);
  if (!p.has(TracePoint::no_psn)) text += tr("  PSN %1").arg(psn_text(p.psn));
  if (p.psns > 1) text += QStringLiteral("–%1").arg(psn_text(p.psn + p.psns - 1));
  if (p.bytes != 0) text += tr("  %1 B").arg(p.bytes);
  return text;
}

QStringList LadderView::remarks_beside(const LadderRow& row) const {
  if (row.lost_before) return {};
  const TracePoint& p = trace_->points[row.point];
  QStringList remarks = remarks_of(p);
  if (row.more != 0) remarks.prepend(tr("%1 more like it follow").arg(row.more));
  return remarks;
}

void LadderView::paint_arrow(QPainter& painter, const LadderArrow& arrow, const QColor& colour) const {
  painter.setPen(QPen(colour, 1.5, arrow.captured ? Qt::SolidLine : Qt::DashLine));
  painter.drawLine(arrow.line);
  const double size = row_height() * 0.16;
  const QPointF end = arrow.line.p2();
  painter.setPen(QPen(colour, 1.8));
  if (!arrow.arrives) {
    painter.drawLine(end + QPointF(-size, -size), end + QPointF(size, size));
    painter.drawLine(end + QPointF(-size, size), end + QPointF(size, -size));
    return;
  }
  const double back = arrow.line.dx() > 0 ? -1.8 * size : 1.8 * size;
  painter.setBrush(colour);
  painter.setPen(Qt::NoPen);
  painter.drawPolygon(QPolygonF({end, end + QPointF(back, -size), end + QPointF(back, size)}));
  painter.setBrush(Qt::NoBrush);
}

void LadderView::paint_row(QPainter& painter, const QRectF& rect, const LadderColumns& columns,
                           std::size_t row) const {
  const TracePoint& p = trace_->points[rows_[row].point];
  const bool ghost = rows_[row].lost_before;
  if (row == current_) painter.fillRect(rect, colours(palette()).selection);
  const QColor quiet = palette().color(QPalette::PlaceholderText);
  const QColor text = palette().color(QPalette::Text);
  painter.setPen(QPen(quiet, 1));
  for (const double x : {columns.a, columns.b}) painter.drawLine(QLineF(x, rect.top(), x, rect.bottom()));
  const auto right_of = [&](double from, double to, const QString& words) {
    painter.drawText(QRectF(from, rect.top(), to - from, rect.height()), Qt::AlignRight | Qt::AlignVCenter,
                     words);
  };
  if (!ghost) {
    painter.setPen(quiet);
    right_of(0, columns.number, QString::number(p.packet));
    painter.setPen(text);
    if (p.time_ns != capture::no_time)
      right_of(columns.number, columns.time, short_time(origin_ns_, p.time_ns));
    // The time since the packet before, as a bar between times and arrows.
    const double room = columns.a - columns.time - 6, bar = room * gap_share(gap_before(row));
    if (bar >= 1) {
      const QRectF place(columns.time + 3, rect.top() + 0.3 * rect.height(), bar, 0.4 * rect.height());
      painter.fillRect(place, colours(palette()).notice);
    }
  }
  const TraceMark mark = ghost ? TraceMark::lost_before : main_mark(p);
  const QColor colour = colours(palette()).*trace_mark_look(mark).colour;
  const LadderArrow arrow = ladder_arrow(p, ghost, columns, rect.top(), rect.height());
  paint_arrow(painter, arrow, colour);
  painter.setPen(ghost || p.remarkable() ? text : quiet);
  const QRectF above(columns.a + 4, rect.top(), columns.b - columns.a - 8, rect.height() * 0.66);
  painter.drawText(above, Qt::AlignHCenter | Qt::AlignBottom,
                   painter.fontMetrics().elidedText(label_of(rows_[row]), Qt::ElideRight,
                                                    static_cast<int>(above.width())));
  const QStringList remarks = remarks_beside(rows_[row]);
  const QString rule = explains_ && !ghost ? rule_text(p.verdict) : QString();
  if (remarks.isEmpty() && rule.isEmpty()) return;
  const QRectF words(columns.remarks, rect.top(), rect.right() - columns.remarks - 4, rect.height());
  const auto line = [&](const QRectF& place, const QString& sentence) {
    painter.drawText(
        place, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(sentence, Qt::ElideRight, static_cast<int>(words.width())));
  };
  painter.setPen(text);
  if (rule.isEmpty()) return line(words, remarks.join(QStringLiteral("; ")));
  // The rule below what it leads to.
  line(QRectF(words.topLeft(), QSizeF(words.width(), words.height() / 2)),
       remarks.join(QStringLiteral("; ")));
  painter.setPen(quiet);
  line(QRectF(words.left(), words.center().y(), words.width(), words.height() / 2), rule);
}

std::size_t LadderView::paint(QPainter& painter, const QRectF& area, std::size_t first) const {
  const double height = row_height();
  const LadderColumns columns = ladder_columns(area.width(), letter(font()), explains_);
  painter.save();
  painter.setClipRect(area);
  painter.translate(area.topLeft());
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(font());
  const LadderSpan span = visible_rows(rows_.size(), first, height, area.height() - height);
  for (std::size_t row = span.from; row < span.to; ++row) {
    const double top = height * static_cast<double>(row - span.from + 1);
    paint_row(painter, {0, top, area.width(), height}, columns, row);
  }
  // The heading last, so that it covers the first row.
  painter.fillRect(QRectF(0, 0, area.width(), height), palette().brush(QPalette::Window));
  QFont bold = font();
  bold.setBold(true);
  painter.setFont(bold);
  painter.setPen(palette().color(QPalette::Text));
  const auto head = [&](double from, double to, Qt::Alignment alignment, const QString& text) {
    painter.drawText(QRectF(from, 0, to - from, height), static_cast<int>(alignment) | Qt::AlignVCenter,
                     text);
  };
  head(0, columns.number, Qt::AlignRight, tr("No."));
  head(columns.number, columns.time, Qt::AlignRight, time_heading());
  const double half = (columns.b - columns.a) / 2;
  head(columns.a, columns.a + half - 4, Qt::AlignLeft, ends_[0]);
  head(columns.a + half + 4, columns.b, Qt::AlignRight, ends_[1]);
  head(columns.remarks, area.width(), Qt::AlignLeft, tr("Remarks"));
  painter.restore();
  return span.to - span.from;
}

void LadderView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  draw_chart(painter, viewport()->size());
}

void LadderView::draw_chart(QPainter& painter, const QSize& size) {
  const QRect all(QPoint(0, 0), size);
  if (!said_.isEmpty() || !trace_) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(all.adjusted(20, 20, -20, -20), static_cast<int>(Qt::AlignCenter) | Qt::TextWordWrap,
                     said_);
    return;
  }
  paint(painter, all, static_cast<std::size_t>(verticalScrollBar()->value()));
}

std::optional<std::size_t> LadderView::row_at(const QPoint& place) const {
  const auto line = static_cast<int>(place.y() / row_height()) - 1;
  if (line < 0 || !trace_ || !said_.isEmpty()) return std::nullopt;
  const auto row = static_cast<std::size_t>(verticalScrollBar()->value() + line);
  return row < rows_.size() ? std::optional(row) : std::nullopt;
}

bool LadderView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto row = row_at(help->pos());
  if (!row) {
    QToolTip::hideText();
    return true;
  }
  QString text = point_text(trace_->points[rows_[*row].point], origin_ns_);
  if (const std::int64_t gap = gap_before(*row); gap > 0)
    text += QLatin1Char('\n') + tr("%1 after the packet before").arg(to_qt(analyze::duration_text(gap)));
  QToolTip::showText(help->globalPos(), text, this);
  return true;
}

void LadderView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  fit_scroll_bar();
}

void LadderView::mousePressEvent(QMouseEvent* event) {
  if (const auto row = row_at(event->pos())) set_current(*row, true);
}

void LadderView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const auto row = row_at(event->pos())) Q_EMIT packet_activated(packet_of(*row));
}

void LadderView::keyPressEvent(QKeyEvent* event) {
  if (rows_.empty() || !said_.isEmpty()) return QAbstractScrollArea::keyPressEvent(event);
  const std::size_t last = rows_.size() - 1;
  const auto page = static_cast<std::size_t>(verticalScrollBar()->pageStep());
  const bool jump = event->modifiers().testFlag(Qt::ControlModifier);
  const auto to_remarkable = [this](bool forward) {
    if (const auto row = next_remarkable(*trace_, rows_, current_, forward)) set_current(*row, true);
  };
  switch (event->key()) {
    case Qt::Key_Up:
      return jump ? to_remarkable(false) : set_current(current_ == 0 ? 0 : current_ - 1, true);
    case Qt::Key_Down:
      return jump ? to_remarkable(true) : set_current(std::min(last, current_ + 1), true);
    case Qt::Key_PageUp:
      return set_current(current_ - std::min(current_, page), true);
    case Qt::Key_PageDown:
      return set_current(std::min(last, current_ + page), true);
    case Qt::Key_Home:
      return set_current(0, true);
    case Qt::Key_End:
      return set_current(last, true);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      Q_EMIT packet_activated(packet_of(current_));
      return;
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

void LadderView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() != QEvent::FontChange && event->type() != QEvent::PaletteChange) return;
  fit_scroll_bar();
  viewport()->update();
}

}  // namespace roce::gui

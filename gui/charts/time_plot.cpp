// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/time_plot.hpp"

#include <QHelpEvent>
#include <QTextDocument>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "gui/charts/plot_style.hpp"
#include "gui/charts/timeline_geometry.hpp"

namespace roce::gui {
namespace {

constexpr double nanoseconds = 1e9;

QCPItemText* text_at(QCustomPlot* plot, double x, double y, Qt::Alignment alignment) {
  auto* item = new QCPItemText(plot);
  item->setClipToAxisRect(false);
  item->position->setAxisRect(plot->axisRect(0));
  item->position->setType(QCPItemPosition::ptAxisRectRatio);
  item->position->setCoords(x, y);
  item->setPositionAlignment(alignment);
  item->setVisible(false);
  return item;
}

}  // namespace

TimePlot::TimePlot(QWidget* parent) : QCustomPlot(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMinimumHeight(140);
  setNoAntialiasingOnDrag(true);
  axisRect(0)->setMinimumMargins(QMargins(4, 6, 12, 2));
  axisRect(0)->setRangeDrag(Qt::Horizontal | Qt::Vertical);
  put_legend_above(*this);
  chosen_ = new QCPItemRect(this);
  for (QCPItemPosition* position : {chosen_->topLeft, chosen_->bottomRight}) {
    position->setTypeX(QCPItemPosition::ptPlotCoords);
    position->setTypeY(QCPItemPosition::ptAxisRectRatio);
  }
  chosen_->setVisible(false);
  line_ = new QCPItemLine(this);
  line_->setHead(QCPLineEnding(QCPLineEnding::esBar, 9));
  line_->setTail(QCPLineEnding(QCPLineEnding::esBar, 9));
  line_->setVisible(false);
  distance_ = new QCPItemText(this);
  distance_->setPositionAlignment(Qt::AlignBottom | Qt::AlignHCenter);
  distance_->setPadding(QMargins(5, 3, 5, 3));
  distance_->setVisible(false);
  said_ = text_at(this, 0.5, 0.45, Qt::AlignCenter);
  note_ = text_at(this, 0.004, 0.995, Qt::AlignBottom | Qt::AlignLeft);
  setSelectionRectMode(QCP::srmNone);
  connect(selectionRect(), &QCPSelectionRect::accepted, this, [this](const QRect& rect) {
    if (tool_ == Tool::choose_time) choose(rect);
  });
  for (QCPAxis* axis : {time_axis(), value_axis()}) {
    connect(axis, qOverload<const QCPRange&, const QCPRange&>(&QCPAxis::rangeChanged), this,
            [this, axis](const QCPRange& now, const QCPRange& before) { keep_in_bounds(axis, now, before); });
  }
  connect(time_axis(), qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this,
          [this](const QCPRange& range) {
            shade_span();
            Q_EMIT range_changed(range.lower, range.upper);
          });
  set_tool(Tool::move);
}

void TimePlot::set_tool(Tool tool) {
  tool_ = tool;
  setInteraction(QCP::iRangeDrag, tool == Tool::move);
  setSelectionRectMode(tool == Tool::zoom          ? QCP::srmZoom
                       : tool == Tool::choose_time ? QCP::srmCustom
                                                   : QCP::srmNone);
  setCursor(tool == Tool::move ? Qt::ArrowCursor : Qt::CrossCursor);
  if (tool != Tool::measure) {
    measured_from_.reset();
    line_->setVisible(false);
    distance_->setVisible(false);
    replot(rpQueuedReplot);
  }
  Q_EMIT tool_changed();
}

void TimePlot::set_whole(const QCPRange& time, const std::optional<QCPRange>& values, double least_values) {
  whole_time_ = time;
  whole_values_ = values;
  least_values_ = least_values;
}

/// Outside of these bounds there is no data, and tick labels would lose precision.
void TimePlot::keep_in_bounds(QCPAxis* axis, const QCPRange& now, const QCPRange& before) {
  const bool time = axis == time_axis();
  if (!time && !whole_values_) return;
  const QCPRange& whole = time ? whole_time_ : *whole_values_;
  constexpr double least_time = 1e-9, most = 1e3;
  const double least = std::min(time ? least_time : least_values_, whole.size());
  const bool too_close = now.size() < least && now.size() < before.size();
  const bool too_far = now.size() > most * whole.size() && now.size() > before.size();
  const double beside = most * whole.size();
  const bool away = now.lower > whole.upper + beside || now.upper < whole.lower - beside;
  if (too_close || too_far) axis->setRange(before);
  if (away) axis->setRange(whole);
}

void TimePlot::set_origin(std::int64_t origin_ns, bool timed) {
  origin_ns_ = origin_ns;
  timed_ = timed;
  time_axis()->setLabel(timed ? tr("seconds since the first packet") : tr("packet number"));
}

void TimePlot::show_all() {
  time_axis()->setRange(whole_time_);
  if (whole_values_) {
    value_axis()->setRange(*whole_values_);
  } else {
    fit_values();
  }
  replot(rpQueuedReplot);
}

void TimePlot::show_range(double from, double to) {
  if (!(to > from)) return;
  time_axis()->setRange(from, to);
  fit_values();
  replot(rpQueuedReplot);
}

void TimePlot::show_span(const std::optional<TimeSpan>& span) {
  span_ = span;
  chosen_->setVisible(span.has_value() && timed_);
  if (span) {
    chosen_->topLeft->setCoords(seconds_of(origin_ns_, span->from), 0);
    chosen_->bottomRight->setCoords(seconds_of(origin_ns_, span->to), 1);
  }
  shade_span();
  replot(rpQueuedReplot);
}

/// No shading where the range covers the whole visible part.
void TimePlot::shade_span() {
  if (!span_) return;
  const QCPRange range = time_axis()->range();
  const double slack = 0.01 * range.size();
  const bool all = seconds_of(origin_ns_, span_->from) <= range.lower + slack &&
                   seconds_of(origin_ns_, span_->to) >= range.upper - slack;
  chosen_->setBrush(all ? QBrush(Qt::NoBrush) : QBrush(colours(palette()).selection));
}

void TimePlot::say(const QString& text) {
  said_->setText(text);
  said_->setVisible(!text.isEmpty());
  replot(rpQueuedReplot);
}

QString TimePlot::said() const {
  return said_->visible() ? said_->text() : QString();
}

void TimePlot::note(const QString& text) {
  note_->setText(text);
  note_->setVisible(!text.isEmpty());
}

QPointF TimePlot::coordinates(const QPoint& place) const {
  return {time_axis()->pixelToCoord(place.x()), value_axis()->pixelToCoord(place.y())};
}

void TimePlot::zoom(double factor, const std::optional<QPoint>& place, bool time, bool values) {
  const QPointF centre = coordinates(place.value_or(axisRect(0)->center()));
  if (time) time_axis()->scaleRange(factor, centre.x());
  // Values without a range of their own are fitted to the visible times, from zero.
  if (values && whole_values_) value_axis()->scaleRange(factor, centre.y());
  replot(rpQueuedReplot);
}

void TimePlot::shift(double part_of_time, double part_of_values) {
  if (part_of_time != 0) time_axis()->moveRange(part_of_time * time_axis()->range().size());
  if (part_of_values != 0 && whole_values_)
    value_axis()->moveRange(part_of_values * value_axis()->range().size());
  replot(rpQueuedReplot);
}

void TimePlot::choose(const QRect& rect) {
  if (!timed_) return;
  const auto ns = [this](int pixel) {
    const double most = 4e18;  // beyond any capture
    return origin_ns_ + std::llround(std::clamp(time_axis()->pixelToCoord(pixel) * nanoseconds, -most, most));
  };
  const TimeSpan span{ns(std::min(rect.left(), rect.right())), ns(std::max(rect.left(), rect.right()))};
  Q_EMIT span_chosen(span.from < span.to ? std::optional(span) : std::nullopt);
}

void TimePlot::show_measured(const QPoint& to) {
  const QPointF end = coordinates(to);
  line_->start->setCoords(*measured_from_);
  line_->end->setCoords(end);
  line_->setVisible(true);
  distance_->position->setCoords((*measured_from_ + end) / 2);
  distance_->setText(distance_text(*measured_from_, end));
  distance_->setVisible(true);
  replot(rpQueuedReplot);
}

void TimePlot::resizeEvent(QResizeEvent* event) {
  wrap_legend(*this);
  QCustomPlot::resizeEvent(event);
}

bool TimePlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QCustomPlot::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const std::optional<Hit> found = hit(help->pos());
  // Plain text: it may contain bytes of the capture.
  found ? QToolTip::showText(help->globalPos(), Qt::convertFromPlainText(found->text), this)
        : QToolTip::hideText();
  return true;
}

void TimePlot::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->pos();
  if (tool_ == Tool::measure && event->button() == Qt::LeftButton) {
    measured_from_ = coordinates(event->pos());
    return;
  }
  QCustomPlot::mousePressEvent(event);
}

void TimePlot::mouseMoveEvent(QMouseEvent* event) {
  if (tool_ == Tool::measure && measured_from_ && (event->buttons() & Qt::LeftButton) != 0) {
    show_measured(event->pos());
    return;
  }
  QCustomPlot::mouseMoveEvent(event);
}

void TimePlot::mouseReleaseEvent(QMouseEvent* event) {
  QCustomPlot::mouseReleaseEvent(event);
  // A drag is no click.
  if (event->button() != Qt::LeftButton || (event->pos() - pressed_).manhattanLength() > 3) return;
  if (tool_ == Tool::choose_time) Q_EMIT span_chosen(std::nullopt);
  if (const std::optional<Hit> found = hit(event->pos())) Q_EMIT packet_chosen(found->packet);
}

void TimePlot::mouseDoubleClickEvent(QMouseEvent* event) {
  QCustomPlot::mouseDoubleClickEvent(event);
  if (const std::optional<Hit> found = hit(event->pos())) {
    Q_EMIT packet_activated(found->packet);
  } else {
    show_all();
  }
}

void TimePlot::wheelEvent(QWheelEvent* event) {
  const double steps = event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
  const double factor = std::pow(0.8, steps / 120);
  // Both axes; with Shift or Ctrl only one.
  const bool only_time = event->modifiers().testFlag(Qt::ShiftModifier);
  const bool only_values = event->modifiers().testFlag(Qt::ControlModifier);
  zoom(factor, event->position().toPoint(), !only_values, !only_time);
  event->accept();
}

void TimePlot::keyPressEvent(QKeyEvent* event) {
  constexpr double step = 0.1;
  struct Row {
    int key;
    double time, values;
  };
  constexpr Row moves[] = {{Qt::Key_Left, -step, 0},       {Qt::Key_Right, step, 0},
                           {Qt::Key_Up, 0, step},          {Qt::Key_Down, 0, -step},
                           {Qt::Key_PageUp, -9 * step, 0}, {Qt::Key_PageDown, 9 * step, 0}};
  const auto* move = std::find_if(std::begin(moves), std::end(moves),
                                  [event](const Row& row) { return row.key == event->key(); });
  if (move != std::end(moves)) return shift(move->time, move->values);
  switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoom(0.8, std::nullopt, true, true);
    case Qt::Key_Minus:
      return zoom(1.25, std::nullopt, true, true);
    case Qt::Key_Home:
    case Qt::Key_0:
      return show_all();
    case Qt::Key_Escape:
      return set_tool(Tool::move);
    default:
      QCustomPlot::keyPressEvent(event);
  }
}

void TimePlot::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  const bool ready = note_ != nullptr;
  if (ready && (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)) restyle();
}

void TimePlot::restyle() {
  const QPalette& p = palette();
  const Colours& c = colours(p);
  setBackground(p.brush(QPalette::Base));
  style_axes(axisRect(0), p, font());
  style_legend(legend, p, font());
  chosen_->setPen(QPen(c.throughput, 1));
  chosen_->setBrush(c.selection);
  shade_span();
  selectionRect()->setBrush(c.selection);
  selectionRect()->setPen(QPen(c.throughput, 1));
  line_->setPen(QPen(p.color(QPalette::Text), 1.4));
  distance_->setColor(p.color(QPalette::ToolTipText));
  distance_->setBrush(p.brush(QPalette::ToolTipBase));
  distance_->setPen(p.color(QPalette::PlaceholderText));
  for (QCPItemText* text : {said_, note_}) {
    text->setColor(p.color(QPalette::PlaceholderText));
    text->setFont(font());
  }
  distance_->setFont(font());
  note_->setBrush(see_through(p));
  replot(rpQueuedReplot);
}

}  // namespace roce::gui

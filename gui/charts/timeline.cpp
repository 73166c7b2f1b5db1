// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/timeline.hpp"

#include <QEvent>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "analyze/base/units.hpp"
#include "gui/charts/plot_style.hpp"
#include "gui/charts/theme.hpp"
#include "gui/charts/timeline_geometry.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/time_format.hpp"

namespace roce::gui {

Timeline::Timeline(QWidget* parent) : QCustomPlot(parent) {
  setAccessibleName(tr("Timeline of the capture"));
  setAccessibleDescription(
      tr("Throughput, goodput and events over time. Drag to select a time range, wheel "
         "to zoom, double click to show everything."));
  setMouseTracking(true);
  setMinimumHeight(150);
  setFocusPolicy(Qt::StrongFocus);
  setAutoAddPlottableToLegend(false);
  legend->layout()->take(legend);
  plotLayout()->clear();
  rates_ = add_rect(0);
  events_ = add_rect(1);
  plotLayout()->setRowStretchFactor(0, 3);
  plotLayout()->setRowStretchFactor(1, 2);
  put_legend_above(*this);
  plotLayout()->setRowSpacing(2);
  auto* margins = new QCPMarginGroup(this);
  rates_->setMarginGroup(QCP::msLeft | QCP::msRight, margins);
  events_->setMarginGroup(QCP::msLeft | QCP::msRight, margins);
  // One time axis, at the bottom.
  rates_->axis(QCPAxis::atBottom)->setTickLabels(false);
  events_->axis(QCPAxis::atBottom)->setLabel(tr("seconds since the first packet"));

  throughput_ = add_graph(rates_, tr("on the wire"));
  goodput_ = add_graph(rates_, tr("goodput"));
  retransmitted_ = add_graph(events_, tr("retransmitted"));
  lost_ = add_graph(events_, tr("lost"));
  ce_ = add_graph(events_, tr("CE"));
  cnps_ = add_graph(events_, tr("CNP"));
  QCPAxisRect* const rects[] = {rates_, events_};
  for (std::size_t i = 0; i < std::size(rects); ++i) {
    marks_[i] = new QCPItemRect(this);
    marks_[i]->setClipAxisRect(rects[i]);
    for (QCPItemPosition* position : {marks_[i]->topLeft, marks_[i]->bottomRight}) {
      position->setAxisRect(rects[i]);
      position->setAxes(rects[i]->axis(QCPAxis::atBottom), rects[i]->axis(QCPAxis::atLeft));
      position->setTypeX(QCPItemPosition::ptPlotCoords);
      position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    }
    marks_[i]->setVisible(false);
  }
  for (std::size_t i = 0; i < std::size(rects); ++i) {
    auto* line = new QCPItemStraightLine(this);
    line->setClipAxisRect(rects[i]);
    line->setLayer(QStringLiteral("overlay"));
    for (QCPItemPosition* position : {line->point1, line->point2}) {
      position->setAxisRect(rects[i]);
      position->setAxes(rects[i]->axis(QCPAxis::atBottom), rects[i]->axis(QCPAxis::atLeft));
      position->setTypeX(QCPItemPosition::ptPlotCoords);
      position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    }
    line->setVisible(false);
    pointed_[i] = line;
  }
  layer(QStringLiteral("overlay"))->setMode(QCPLayer::lmBuffered);
  nothing_ = new QCPItemText(this);
  nothing_->setClipToAxisRect(false);
  nothing_->position->setAxisRect(rates_);
  nothing_->position->setType(QCPItemPosition::ptAxisRectRatio);
  nothing_->position->setCoords(0.5, 0.5);
  nothing_->setText(tr("no RDMA packets with timestamps"));

  // One polygon of thousands of steps takes a third of a second to draw, line by line hardly any time.
  setPlottingHint(QCP::phFastPolylines);
  setInteraction(QCP::iRangeZoom);
  setSelectionRectMode(QCP::srmCustom);
  connect(selectionRect(), &QCPSelectionRect::accepted, this, [this](const QRect& rect) { choose(rect); });
  connect(selectionRect(), &QCPSelectionRect::canceled, this, [this] { Q_EMIT span_chosen(std::nullopt); });
  connect(this, &QCustomPlot::mouseDoubleClick, this, &Timeline::show_all);
  move_together(rates_->axis(QCPAxis::atBottom), events_->axis(QCPAxis::atBottom));
  show_all();
  restyle();
}

QCPAxisRect* Timeline::add_rect(int row) {
  auto* rect = new QCPAxisRect(this);
  plotLayout()->addElement(row, 0, rect);
  for (QCPAxis* axis : rect->axes()) axis->setLayer(QStringLiteral("axes"));
  for (QCPAxis* axis : rect->axes()) axis->grid()->setLayer(QStringLiteral("grid"));
  rect->setRangeZoom(Qt::Horizontal);
  rect->setRangeZoomAxes(rect->axis(QCPAxis::atBottom), nullptr);
  rect->setMinimumMargins(QMargins(4, 4, 10, 2));
  return rect;
}

QCPGraph* Timeline::add_graph(QCPAxisRect* rect, const QString& name) {
  QCPGraph* graph = addGraph(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
  graph->setName(name);
  graph->setLineStyle(QCPGraph::lsStepLeft);
  graph->addToLegend();
  return graph;
}

void Timeline::show_snapshot(std::shared_ptr<const analyze::Snapshot> snapshot) {
  const bool whole = rates_->axis(QCPAxis::atBottom)->range() == whole_;
  snapshot_ = std::move(snapshot);
  origin_ns_ = snapshot_ ? snapshot_->first_read_ns.value_or(snapshot_->totals.first_time_ns) : 0;
  const analyze::Series none;
  lines_ = timeline_lines(snapshot_ && snapshot_->totals.any_time ? snapshot_->series : none, origin_ns_);
  const double most = highest(lines_.throughput);
  const RateUnit unit = rate_unit(most);
  throughput_->setData(lines_.times, scaled(lines_.throughput, unit.bits), true);
  goodput_->setData(lines_.times, scaled(lines_.goodput, unit.bits), true);
  const std::pair<QCPGraph*, const QVector<double>*> counts[] = {{retransmitted_, &lines_.retransmitted},
                                                                 {lost_, &lines_.lost},
                                                                 {ce_, &lines_.ce},
                                                                 {cnps_, &lines_.cnps}};
  double most_events = 0;
  for (const auto& [graph, values] : counts) {
    const double top = highest(*values);
    most_events = std::max(most_events, top);
    graph->setData(lines_.times, *values, true);
    // Events that never occur need no legend entry.
    graph->setVisible(top > 0);
    top > 0 ? graph->addToLegend() : graph->removeFromLegend();
  }
  whole_ = lines_.times.isEmpty() ? QCPRange(0, 1) : QCPRange(lines_.times.front(), lines_.times.back());
  rates_->axis(QCPAxis::atLeft)->setLabel(QString::fromUtf8(unit.name));
  rates_->axis(QCPAxis::atLeft)->setRange(0, most > 0 ? 1.08 * most / unit.bits : 1);
  events_->axis(QCPAxis::atLeft)->setLabel(tr("packets"));
  events_->axis(QCPAxis::atLeft)->setRange(0, most_events > 0 ? 1.08 * most_events : 1);
  nothing_->setVisible(lines_.times.isEmpty());
  events_->setVisible(true);
  wrap_legend(*this);
  if (whole || !whole_.contains(rates_->axis(QCPAxis::atBottom)->range().center())) show_all();
  show_span(span_);
}

QString Timeline::values_at(const QPoint& place) const {
  const int i = step_at(lines_, rates_->axis(QCPAxis::atBottom)->pixelToCoord(place.x()));
  if (i < 0 || snapshot_ == nullptr || !(rates_->rect() | events_->rect()).contains(place)) return {};
  const RateUnit unit = rate_unit(lines_.throughput[i]);
  const auto rate = [&unit](double bits) { return QString::number(bits / unit.bits, 'f', 2); };
  const auto from = snapshot_->series.start_ns() + i * snapshot_->series.width_ns();
  QStringList texts{
      tr("%1, %2 long")
          .arg(shown_time(*snapshot_, from), to_qt(analyze::duration_text(snapshot_->series.width_ns()))),
      tr("%1 %3 on the wire, goodput %2 %3")
          .arg(rate(lines_.throughput[i]), rate(lines_.goodput[i]), QString::fromUtf8(unit.name))};
  const std::pair<const QVector<double>*, QString> counts[] = {
      {&lines_.retransmitted, tr("%1 retransmitted")},
      {&lines_.lost, tr("%1 lost")},
      {&lines_.ce, tr("%1 CE")},
      {&lines_.cnps, tr("%1 CNP")}};
  for (const auto& [values, text] : counts) {
    if (values->at(i) > 0) texts << text.arg(values->at(i));
  }
  return texts.join(QLatin1Char('\n'));
}

bool Timeline::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = values_at(help->pos());
    text.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), text, this);
    return true;
  }
  if (event->type() == QEvent::Leave) {
    for (QCPItemStraightLine* line : pointed_) line->setVisible(false);
    layer(QStringLiteral("overlay"))->replot();
  }
  return QCustomPlot::event(event);
}

/// The values follow the pointer at once.
void Timeline::mouseMoveEvent(QMouseEvent* event) {
  QCustomPlot::mouseMoveEvent(event);
  const QString text = event->buttons() == Qt::NoButton ? values_at(event->pos()) : QString();
  const double seconds = rates_->axis(QCPAxis::atBottom)->pixelToCoord(event->pos().x());
  for (QCPItemStraightLine* line : pointed_) {
    line->setVisible(!text.isEmpty());
    line->point1->setCoords(seconds, 0);
    line->point2->setCoords(seconds, 1);
  }
  layer(QStringLiteral("overlay"))->replot();
  text.isEmpty() ? QToolTip::hideText() : QToolTip::showText(event->globalPosition().toPoint(), text, this);
}

void Timeline::show_all() {
  rates_->axis(QCPAxis::atBottom)->setRange(whole_);
  replot(QCustomPlot::rpQueuedReplot);
}

void Timeline::show_span(const std::optional<TimeSpan>& span) {
  span_ = span;
  for (QCPItemRect* mark : marks_) {
    mark->setVisible(span.has_value() && snapshot_ != nullptr);
    if (!mark->visible()) continue;
    mark->topLeft->setCoords(seconds_of(origin_ns_, span->from), 0);
    mark->bottomRight->setCoords(seconds_of(origin_ns_, span->to), 1);
  }
  replot(QCustomPlot::rpQueuedReplot);
}

void Timeline::choose(const QRect& rect) {
  if (!snapshot_) return;
  const QCPAxis* time = rates_->axis(QCPAxis::atBottom);
  Q_EMIT span_chosen(span_between(snapshot_->series, origin_ns_, time->pixelToCoord(rect.left()),
                                  time->pixelToCoord(rect.right())));
}

void Timeline::resizeEvent(QResizeEvent* event) {
  wrap_legend(*this);
  QCustomPlot::resizeEvent(event);
}

void Timeline::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) restyle();
}

void Timeline::restyle() {
  if (cnps_ == nullptr) return;  // during construction
  const QPalette& p = palette();
  const Colours& c = colours(p);
  setBackground(p.brush(QPalette::Base));
  for (QCPAxisRect* rect : {rates_, events_}) {
    style_axes(rect, p, font());
    rect->axis(QCPAxis::atLeft)->ticker()->setTickCount(3);
  }
  style_legend(legend, p, font());
  style_graph(throughput_, c.throughput, true, Qt::SolidLine);
  style_graph(goodput_, c.goodput, false, Qt::SolidLine);
  style_graph(retransmitted_, c.retransmitted, true, Qt::SolidLine);
  style_graph(lost_, c.lost, false, Qt::DotLine);
  style_graph(ce_, c.ce, false, Qt::SolidLine);
  style_graph(cnps_, c.cnp, false, Qt::DashLine);
  for (QCPItemStraightLine* line : pointed_) line->setPen(QPen(p.color(QPalette::PlaceholderText), 1));
  for (QCPItemRect* mark : marks_) {
    mark->setBrush(c.selection);
    mark->setPen(QPen(c.throughput, 1));
  }
  selectionRect()->setBrush(c.selection);
  selectionRect()->setPen(QPen(c.throughput, 1));
  nothing_->setColor(p.color(QPalette::PlaceholderText));
  nothing_->setFont(font());
  replot(QCustomPlot::rpQueuedReplot);
}

}  // namespace roce::gui

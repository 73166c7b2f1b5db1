// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/throughput.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyze/base/units.hpp"
#include "gui/charts/plot_style.hpp"
#include "gui/charts/timeline_geometry.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/trace_text.hpp"

namespace roce::gui {

ThroughputPlot::ThroughputPlot(QWidget* parent) : TimePlot(parent) {
  setAccessibleName(tr("Throughput graph"));
  setAccessibleDescription(tr("Throughput, goodput and PSNs in flight over time."));
  setAutoAddPlottableToLegend(false);
  below_ = new QCPAxisRect(this);
  plotLayout()->addElement(2, 0, below_);
  plotLayout()->setRowStretchFactor(1, 3);
  plotLayout()->setRowStretchFactor(2, 2);
  plotLayout()->setRowSpacing(2);
  for (QCPAxis* axis : below_->axes()) {
    axis->setLayer(QStringLiteral("axes"));
    axis->grid()->setLayer(QStringLiteral("grid"));
  }
  below_->setMinimumMargins(QMargins(4, 4, 12, 2));
  auto* margins = new QCPMarginGroup(this);
  for (QCPAxisRect* rect : {axisRect(0), below_}) rect->setMarginGroup(QCP::msLeft | QCP::msRight, margins);
  // Only the time axis moves: values are fitted to it.
  for (QCPAxisRect* rect : {axisRect(0), below_}) {
    rect->setRangeDrag(Qt::Horizontal);
    rect->setRangeZoom(Qt::Horizontal);
    rect->setRangeZoomAxes(rect->axis(QCPAxis::atBottom), nullptr);
  }
  QCPAxis* const lower = below_->axis(QCPAxis::atBottom);
  time_axis()->setTickLabels(false);
  move_together(time_axis(), lower);
  const auto add = [this](QCPAxisRect* rect, const QString& name) {
    QCPGraph* graph = addGraph(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
    graph->setName(name);
    graph->setLineStyle(QCPGraph::lsStepLeft);
    graph->addToLegend();
    return graph;
  };
  throughput_ = add(axisRect(0), tr("on the wire"));
  goodput_ = add(axisRect(0), tr("goodput"));
  in_flight_ = add(below_, tr("PSNs in flight"));
  below_->axis(QCPAxis::atLeft)->setLabel(tr("PSNs"));
  connect(this, &TimePlot::range_changed, this, &ThroughputPlot::compute);
  restyle();
}

void ThroughputPlot::show_trace(std::shared_ptr<const analyze::ConnectionTrace> trace, std::int64_t origin_ns,
                                unsigned side) {
  trace_ = std::move(trace);
  side_ = side;
  set_origin(origin_ns, true);
  time_axis()->setLabel({});
  below_->axis(QCPAxis::atBottom)->setLabel(tr("seconds since the first packet"));
  refill();
}

void ThroughputPlot::show_side(unsigned side) {
  side_ = side;
  refill();
}

void ThroughputPlot::refill() {
  QCPRange whole(0, 1);
  const bool any = trace_ && trace_->timed && !trace_->points.empty();
  if (any) {
    whole = {seconds_of(origin(), trace_->points.front().time_ns),
             seconds_of(origin(), trace_->points.back().time_ns)};
    if (whole.size() < 1e-6) whole.upper = whole.lower + 1e-6;
  }
  if (trace_) {
    say(any ? QString() : tr("These packets have no timestamps, so there is no throughput."));
    QString text = missing_text(*trace_);
    if (!trace_->complete())
      text += tr(" Throughput counts all packets, in steps of %1.")
                  .arg(to_qt(analyze::duration_text(trace_->sent[side_].width_ns())));
    note(text);
  }
  set_whole({whole.lower - 0.01 * whole.size(), whole.upper + 0.01 * whole.size()}, std::nullopt);
  show_all();
}

void ThroughputPlot::compute() {
  const QCPRange range = time_axis()->range();
  // Steps of several pixels: at one pixel a single packet would look like a burst.
  const int steps = std::clamp(axisRect(0)->width() / 8, 20, 1000);
  lines_ = trace_ ? throughput_lines(*trace_, side_, origin(), range.lower, range.upper, steps)
                  : ThroughputLines();
  const double most = highest(lines_.throughput);
  const RateUnit unit = rate_unit(most);
  throughput_->setData(lines_.seconds, scaled(lines_.throughput, unit.bits), true);
  goodput_->setData(lines_.seconds, scaled(lines_.goodput, unit.bits), true);
  in_flight_->setData(lines_.seconds, lines_.in_flight, true);
  value_axis()->setLabel(QString::fromUtf8(unit.name));
  value_axis()->setRange(0, most > 0 ? 1.08 * most / unit.bits : 1);
  const double flying = highest(lines_.in_flight);
  below_->axis(QCPAxis::atLeft)->setRange(0, flying > 0 ? 1.08 * flying : 1);
  replot(rpQueuedReplot);
}

std::optional<TimePlot::Hit> ThroughputPlot::hit(const QPoint& place) const {
  if (!trace_ || lines_.seconds.size() < 2 || trace_->points.empty()) return std::nullopt;
  const double seconds = time_axis()->pixelToCoord(place.x());
  const auto behind = std::upper_bound(lines_.seconds.begin(), lines_.seconds.end(), seconds);
  if (behind == lines_.seconds.begin() || behind == lines_.seconds.end()) return std::nullopt;
  const auto i = behind - lines_.seconds.begin() - 1;
  // The first packet of that step or later.
  const auto point = std::lower_bound(
      trace_->points.begin(), trace_->points.end(), lines_.seconds[i],
      [this](const analyze::TracePoint& p, double s) { return seconds_of(origin(), p.time_ns) < s; });
  if (point == trace_->points.end()) return std::nullopt;
  const RateUnit unit = rate_unit(lines_.throughput[i]);
  const auto rate = [&](double bits) { return QString::number(bits / unit.bits, 'f', 2); };
  return Hit{point->packet, tr("%1, %2: %3 %5 on the wire, goodput %4 %5, at most %6 PSNs in flight")
                                .arg(to_qt(analyze::duration_text(std::llround(lines_.step_seconds * 1e9))),
                                     side_ == 0 ? tr("a → b") : tr("b → a"), rate(lines_.throughput[i]),
                                     rate(lines_.goodput[i]), QString::fromUtf8(unit.name))
                                .arg(lines_.in_flight[i])};
}

QString ThroughputPlot::distance_text(const QPointF& from, const QPointF& to) const {
  // Bits sent between the two.
  const double low = std::min(from.x(), to.x()), high = std::max(from.x(), to.x());
  double bits = 0;
  for (int i = 0; i + 1 < lines_.seconds.size(); ++i) {
    const double shared = std::min(high, lines_.seconds[i + 1]) - std::max(low, lines_.seconds[i]);
    if (shared > 0) bits += shared * lines_.throughput[i];
  }
  const RateUnit unit = rate_unit(high > low ? bits / (high - low) : 0);
  return tr("%1, on average %2 %3")
      .arg(to_qt(analyze::duration_text(std::llround(std::min(high - low, 9e9) * 1e9))))
      .arg(high > low ? bits / (high - low) / unit.bits : 0, 0, 'f', 2)
      .arg(QString::fromUtf8(unit.name));
}

void ThroughputPlot::resizeEvent(QResizeEvent* event) {
  TimePlot::resizeEvent(event);
  compute();
}

void ThroughputPlot::restyle() {
  TimePlot::restyle();
  if (in_flight_ == nullptr) return;  // during construction
  const Colours& c = colours(palette());
  style_axes(below_, palette(), font());
  value_axis()->ticker()->setTickCount(4);
  below_->axis(QCPAxis::atLeft)->ticker()->setTickCount(3);
  style_graph(throughput_, c.throughput, true);
  style_graph(goodput_, c.goodput, false);
  style_graph(in_flight_, c.cnp, true);
  replot(rpQueuedReplot);
}

}  // namespace roce::gui

// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/latency.hpp"

#include <QSharedPointer>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analyze/base/units.hpp"
#include "gui/charts/latency_look.hpp"
#include "gui/charts/own_plottable.hpp"
#include "gui/charts/plot_style.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/trace_text.hpp"

namespace roce::gui {

using analyze::OperationKind;
using analyze::OperationStats;

class LatencyPlot::Dots final : public OwnPlottable {
 public:
  Dots(LatencyPlot& plot, OperationKind kind)
      : OwnPlottable(plot.time_axis(), plot.value_axis()), plot_(plot), kind_(kind) {}

  [[nodiscard]] QCPScatterStyle style() const {
    const LatencyLook& look = latency_looks[static_cast<std::size_t>(kind_)];
    const QColor colour = colours(plot_.palette()).*look.colour;
    return {look.shape, QPen(colour, 1.2), QBrush(colour), 5};
  }

 protected:
  void draw(QCPPainter* painter) override {
    const auto found = std::find_if(plot_.series_.begin(), plot_.series_.end(),
                                    [this](const LatencySeries& s) { return s.kind == kind_; });
    if (found == plot_.series_.end()) return;
    const QCPScatterStyle plain = style();
    const QColor again = colours(plot_.palette()).retransmitted;
    const QCPScatterStyle retried(QCPScatterStyle::ssCircle, QPen(again, 1.6), QBrush(Qt::NoBrush), 9);
    painter->setAntialiasing(true);
    for (const LatencyCell& cell : latency_cells(*found, plot_.view())) {
      const QPointF place(plot_.time_axis()->coordToPixel(cell.seconds),
                          plot_.value_axis()->coordToPixel(cell.latency));
      plain.applyTo(painter, plain.pen());
      plain.drawShape(painter, place);
      if (!plot_.trace_->operations[cell.operation].retried) continue;
      retried.applyTo(painter, retried.pen());
      retried.drawShape(painter, place);
    }
    painter->setBrush(Qt::NoBrush);
  }
  void drawLegendIcon(QCPPainter* painter, const QRectF& rect) const override {
    style().applyTo(painter, style().pen());
    style().drawShape(painter, rect.center());
  }

 private:
  LatencyPlot& plot_;
  OperationKind kind_;
};

LatencyPlot::LatencyPlot(QWidget* parent) : TimePlot(parent) {
  setAccessibleName(tr("Latency graph"));
  setAccessibleDescription(tr("Latency of each operation over its start time."));
  value_axis()->setScaleType(QCPAxis::stLogarithmic);
  value_axis()->setTicker(QSharedPointer<DurationTicker>::create());
  value_axis()->setLabel(tr("latency"));
  setAutoAddPlottableToLegend(false);
  for (std::size_t i = 0; i < analyze::operation_kind_count; ++i)
    dots_.push_back(new Dots(*this, static_cast<OperationKind>(i)));
  restyle();
}

LatencyPlot::~LatencyPlot() = default;

void LatencyPlot::show_trace(std::shared_ptr<const analyze::ConnectionTrace> trace,
                             std::shared_ptr<const analyze::Snapshot> snapshot, std::int64_t origin_ns,
                             unsigned side) {
  trace_ = std::move(trace);
  snapshot_ = std::move(snapshot);
  side_ = side;
  set_origin(origin_ns, true);
  refill();
}

void LatencyPlot::fit_values() {
  const QCPRange times = time_axis()->range();
  double least = 0, most = 0;
  for (const LatencySeries& s : series_) {
    for (std::size_t i = 0; i < s.seconds.size(); ++i) {
      if (s.seconds[i] < times.lower || s.seconds[i] > times.upper) continue;
      least = least > 0 ? std::min(least, s.latency[i]) : s.latency[i];
      most = std::max(most, s.latency[i]);
    }
  }
  if (most > 0) value_axis()->setRange(least / 2, most * 3);
}

void LatencyPlot::show_side(unsigned side) {
  side_ = side;
  refill();
}

void LatencyPlot::refill() {
  series_ = trace_ ? latency_series(*trace_, side_, origin()) : std::vector<LatencySeries>();
  for (QCPAbstractItem* item : percentiles_) removeItem(item);
  percentiles_.clear();
  legend->clearItems();
  double least = 1, most = 1e-9;
  QCPRange time(0, 1);
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const LatencySeries& s = series_[i];
    const auto [low, high] = std::minmax_element(s.latency.begin(), s.latency.end());
    least = std::min(least, *low);
    most = std::max(most, *high);
    time = i == 0 ? QCPRange(s.seconds.front(), s.seconds.back()) : time;
    time.expand(QCPRange(s.seconds.front(), s.seconds.back()));
  }
  if (trace_ && snapshot_ && trace_->connection < snapshot_->connections.size()) {
    const auto& operations = snapshot_->connections[trace_->connection].requester[side_].operations;
    for (const OperationStats& stats : operations) {
      if (stats.latency_ns.count() != 0) add_percentiles(stats);
    }
  }
  wrap_legend(*this);
  legend->setVisible(!series_.empty());
  if (trace_) {
    say(!series_.empty()
            ? QString()
            : tr("No operation in this direction was captured from its first packet to its completion."));
    note(missing_text(*trace_));
  }
  const double length = std::max(time.size(), 1e-6);
  set_whole({time.lower - 0.02 * length, time.upper + 0.08 * length},
            QCPRange(least / 2, std::max(most, least) * 3));
  show_all();
  restyle();
}

/// In the legend and, for the first kinds only, as lines: those of all six would hide the dots.
void LatencyPlot::add_percentiles(const OperationStats& stats) {
  const auto seconds = [&](double fraction) {
    return static_cast<double>(stats.latency_ns.percentile(fraction)) * 1e-9;
  };
  Dots* dots = dots_[static_cast<std::size_t>(stats.kind)];
  dots->setName(tr("%1: %2, p50 %3, p99 %4, max %5")
                    .arg(operation_text(stats.kind))
                    .arg(stats.latency_ns.count())
                    .arg(latency_text(seconds(0.5)), latency_text(seconds(0.99)),
                         latency_text(static_cast<double>(stats.latency_ns.max()) * 1e-9)));
  dots->addToLegend();
  constexpr std::size_t items_of_a_kind = 6, kinds = 2;
  if (percentiles_.size() >= kinds * items_of_a_kind) return;
  constexpr std::pair<double, const char*> rows[] = {{0.5, "p50"}, {0.9, "p90"}, {0.99, "p99"}};
  for (const auto& [fraction, name] : rows) {
    const double value = std::max(1e-9, seconds(fraction));
    auto* line = new QCPItemStraightLine(this);
    line->point1->setCoords(0, value);
    line->point2->setCoords(1, value);
    auto* text = new QCPItemText(this);
    text->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    text->position->setTypeY(QCPItemPosition::ptPlotCoords);
    text->position->setCoords(0.998, value);
    text->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
    text->setText(QStringLiteral("%1 %2 %3")
                      .arg(operation_text(stats.kind), QString::fromLatin1(name), latency_text(value)));
    // Overlapping labels would be unreadable.
    const bool free = std::none_of(percentiles_.begin(), percentiles_.end(), [value](QCPAbstractItem* item) {
      const auto* other = qobject_cast<QCPItemText*>(item);
      return other != nullptr && other->visible() &&
             std::abs(std::log(other->position->value() / value)) < 0.3;
    });
    text->setVisible(free);
    const QColor colour = dots->style().pen().color();
    line->setPen(QPen(colour, 1, Qt::DashLine));
    text->setColor(colour);
    percentiles_.push_back(line);
    percentiles_.push_back(text);
  }
}

LatencyView LatencyPlot::view() const {
  const QCPRange time = time_axis()->range(), latency = value_axis()->range();
  return {time.lower, time.upper, latency.lower, latency.upper, axisRect(0)->width(), axisRect(0)->height()};
}

std::optional<TimePlot::Hit> LatencyPlot::hit(const QPoint& place) const {
  if (!trace_ || !axisRect(0)->rect().contains(place)) return std::nullopt;
  for (const LatencySeries& s : series_) {
    const auto found = operation_near(s, view(), time_axis()->pixelToCoord(place.x()),
                                      value_axis()->pixelToCoord(place.y()));
    if (!found) continue;
    const analyze::TracedOperation& o = trace_->operations[*found];
    QString text = tr("%1, message %2\n%3 bytes\nfrom packet %4 to packet %5\nlatency %6")
                       .arg(operation_text(o.kind))
                       .arg(o.message)
                       .arg(o.bytes)
                       .arg(o.request)
                       .arg(o.answer)
                       .arg(to_qt(analyze::duration_text(o.latency_ns)));
    if (o.retried) text += QLatin1Char('\n') + tr("partly retransmitted");
    return Hit{o.request, text};
  }
  return std::nullopt;
}

QString LatencyPlot::distance_text(const QPointF& from, const QPointF& to) const {
  return tr("%1 apart, %2 times the latency")
      .arg(latency_text(std::abs(to.x() - from.x())))
      .arg(from.y() > 0 ? to.y() / from.y() : 0, 0, 'g', 3);
}

void LatencyPlot::restyle() {
  TimePlot::restyle();
  for (QCPAbstractItem* item : percentiles_) {
    if (auto* text = qobject_cast<QCPItemText*>(item)) {
      QColor back = palette().color(QPalette::Base);
      back.setAlpha(180);
      text->setBrush(back);
      text->setFont(font());
    }
  }
}

}  // namespace roce::gui

// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/sequence.hpp"

#include <QSharedPointer>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analyze/base/units.hpp"
#include "gui/charts/own_plottable.hpp"
#include "gui/charts/plot_style.hpp"
#include "gui/charts/timeline_geometry.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/trace_text.hpp"

namespace roce::gui {
namespace {

using analyze::ConnectionTrace;
using analyze::TracePoint;
using MarkForm = TraceMarkLook::Form;

/// Labels with the 24-bit PSNs of packets instead of the extended ones.
class PsnTicker final : public QCPAxisTicker {
 protected:
  double getTickStep(const QCPRange& range) override {
    return std::max(1.0, std::floor(QCPAxisTicker::getTickStep(range)));
  }
  /// None between two PSNs.
  int getSubTickCount(double step) override {
    const int count = QCPAxisTicker::getSubTickCount(step);
    return std::fmod(step, count + 1) == 0 ? count : 0;
  }
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    return psn_text(std::llround(tick));
  }
};

}  // namespace

/// All packets with one mark.
class SequencePlot::Layer final : public OwnPlottable {
 public:
  Layer(SequencePlot& plot, TraceMark mark)
      : OwnPlottable(plot.time_axis(), plot.value_axis()), plot_(plot), mark_(mark) {
    setName(trace_mark_name(mark));
  }
  [[nodiscard]] bool shows_anything() const { return !plot_.lines_.of(mark_).seconds.empty(); }

 protected:
  void draw(QCPPainter* painter) override {
    const QCPAxis* time = plot_.time_axis();
    const QCPAxis* psn = plot_.value_axis();
    const QCPRange range = time->range();
    const int columns = plot_.axisRect(0)->width();
    const SequenceSeries& series = plot_.lines_.of(mark_);
    const double psn_per_pixel = psn->range().size() / std::max(1, plot_.axisRect(0)->height());
    painter->setPen(QPen(colour(), form() == MarkForm::steps ? 1.3 : 1.6));
    const bool marks_everything = form() == MarkForm::bar || form() == MarkForm::sign;
    painter->setAntialiasing(form() == MarkForm::sign);
    if (form() == MarkForm::steps) {
      draw_steps(*painter, step_pieces(series, range.lower, range.upper, columns));
      return;
    }
    const auto pieces =
        sequence_pieces(series, range.lower, range.upper, columns,
                        marks_everything ? (form() == MarkForm::sign ? 6 : 1.5) * psn_per_pixel
                                         : std::numeric_limits<double>::infinity());
    const QRect rect = plot_.axisRect(0)->rect();
    constexpr int tick = 9;
    for (const SequencePiece& piece : pieces) {
      const double x = time->coordToPixel(piece.seconds);
      const double low = psn->coordToPixel(static_cast<double>(piece.low));
      const double high = psn->coordToPixel(static_cast<double>(piece.high));
      if (form() == MarkForm::bar) {
        painter->drawLine(QLineF(x, low, x, std::min(high, low - 1)));
      } else if (form() == MarkForm::foot) {
        painter->drawLine(QLineF(x, rect.bottom() - tick, x, rect.bottom() - 1));
      } else if (form() == MarkForm::head) {
        painter->drawLine(QLineF(x, rect.top() + 1, x, rect.top() + tick));
      } else {
        draw_sign(*painter, x, low, high);
      }
    }
  }

  void drawLegendIcon(QCPPainter* painter, const QRectF& rect) const override {
    const QPointF middle = rect.center();
    painter->setPen(QPen(colour(), form() == MarkForm::bar ? 2 : 1.3));
    if (form() == MarkForm::sign) {
      const QCPScatterStyle style = trace_mark_style(mark_, plot_.palette());
      style.applyTo(painter, QPen(colour(), 1.6));
      style.drawShape(painter, middle);
    } else if (form() == MarkForm::steps) {
      painter->drawPolyline(QPolygonF({rect.bottomLeft(), QPointF(middle.x(), rect.bottom()),
                                       QPointF(middle.x(), rect.top()), rect.topRight()}));
    } else {
      painter->drawLine(QLineF(middle.x(), rect.top(), middle.x(), rect.bottom()));
    }
  }

 private:
  [[nodiscard]] MarkForm form() const { return trace_mark_look(mark_).form; }
  [[nodiscard]] QColor colour() const { return colours(plot_.palette()).*trace_mark_look(mark_).colour; }

  void draw_steps(QCPPainter& painter, const std::vector<SequencePiece>& pieces) const {
    if (pieces.empty()) return;
    QPolygonF line;
    for (const SequencePiece& piece : pieces) {
      const double low = plot_.value_axis()->coordToPixel(static_cast<double>(piece.low));
      const double high = plot_.value_axis()->coordToPixel(static_cast<double>(piece.high));
      const double x = plot_.time_axis()->coordToPixel(piece.seconds);
      if (!line.isEmpty()) line << QPointF(x, line.back().y());
      line << QPointF(x, low) << QPointF(plot_.time_axis()->coordToPixel(piece.last_seconds), high);
    }
    line << QPointF(plot_.axisRect(0)->right(), line.back().y());
    painter.drawPolyline(line);
  }

  void draw_sign(QCPPainter& painter, double x, double low, double high) const {
    const QCPScatterStyle style = trace_mark_style(mark_, plot_.palette());
    painter.setPen(QPen(colour(), 1.4));
    if (low - high > style.size()) painter.drawLine(QLineF(x, low, x, high));
    style.applyTo(&painter, QPen(colour(), 1.6));
    style.drawShape(&painter, QPointF(x, (low + high) / 2));
    painter.setBrush(Qt::NoBrush);
  }

  SequencePlot& plot_;
  TraceMark mark_;
};

/// Bands while a port was paused.
class SequencePlot::Pauses final : public OwnPlottable {
 public:
  explicit Pauses(SequencePlot& plot) : OwnPlottable(plot.time_axis(), plot.value_axis()), plot_(plot) {
    setName(SequencePlot::tr("paused"));
  }
  [[nodiscard]] bool shows_anything() const {
    return plot_.trace_ && plot_.trace_->timed && !plot_.trace_->pauses.empty();
  }

 protected:
  void draw(QCPPainter* painter) override {
    if (!shows_anything()) return;
    const QRect rect = plot_.axisRect(0)->rect();
    painter->setPen(Qt::NoPen);
    painter->setBrush(brush());
    double drawn_to = rect.left() - 1;
    for (const analyze::TracedPause& pause : plot_.trace_->pauses) {
      const double from =
          std::max(drawn_to, plot_.time_axis()->coordToPixel(seconds_of(plot_.origin(), pause.from_ns)));
      const double to = plot_.time_axis()->coordToPixel(seconds_of(plot_.origin(), pause.to_ns));
      // At least a pixel wide, and no pixel painted twice.
      const double end = std::min<double>(std::max(to, from + 1), rect.right() + 1);
      if (end <= drawn_to || from > rect.right()) continue;
      painter->drawRect(QRectF(from, rect.top(), end - from, rect.height()));
      drawn_to = end;
    }
  }
  void drawLegendIcon(QCPPainter* painter, const QRectF& rect) const override {
    painter->fillRect(rect, brush());
  }

 private:
  [[nodiscard]] QBrush brush() const {
    QColor colour = colours(plot_.palette()).lost;
    colour.setAlpha(60);
    return {colour, Qt::BDiagPattern};
  }
  SequencePlot& plot_;
};

SequencePlot::SequencePlot(QWidget* parent) : TimePlot(parent) {
  setAccessibleName(tr("Sequence graph"));
  setAccessibleDescription(
      tr("Packet sequence numbers over time: requests, acknowledgements, responses, and anomalies."));
  const auto ticker = QSharedPointer<PsnTicker>::create();
  // Ticks at round 24-bit PSNs, also after a wrap-around.
  ticker->setTickOrigin(1 << 24);
  value_axis()->setTicker(ticker);
  value_axis()->setLabel(tr("PSN"));
  setAutoAddPlottableToLegend(false);
  pauses_ = new Pauses(*this);
  for (std::size_t i = 0; i < trace_mark_count; ++i)
    layers_.push_back(new Layer(*this, static_cast<TraceMark>(i)));
  cross_ = new QCPItemTracer(this);
  cross_->setStyle(QCPItemTracer::tsCrosshair);
  cross_->setVisible(false);
  restyle();
}

SequencePlot::~SequencePlot() = default;

unsigned SequencePlot::busier_side(const ConnectionTrace& trace) noexcept {
  std::array<std::uint64_t, 2> requests{};
  for (const TracePoint& point : trace.points) {
    if (point.kind == TracePoint::Kind::request) ++requests[point.side()];
  }
  return requests[1] > requests[0] ? 1 : 0;
}

void SequencePlot::show_trace(std::shared_ptr<const ConnectionTrace> trace, std::int64_t origin_ns,
                              unsigned side) {
  trace_ = std::move(trace);
  side_ = side;
  set_origin(origin_ns, !trace_ || trace_->timed);
  refill();
}

void SequencePlot::show_side(unsigned side) {
  side_ = side;
  refill();
}

void SequencePlot::refill() {
  lines_ = trace_ ? sequence_lines(*trace_, side_, origin()) : SequenceLines();
  legend->clearItems();
  for (Layer* layer : layers_) {
    if (layer->shows_anything()) layer->addToLegend();
  }
  if (pauses_->shows_anything()) pauses_->addToLegend();
  wrap_legend(*this);
  legend->setVisible(!lines_.empty());
  if (trace_) {
    say(lines_.empty() ? tr("No requests were captured in this direction.") : QString());
    note(missing_text(*trace_));
  }
  // Margins, and room for ticks at the edges.
  const double length = std::max(lines_.last - lines_.first, 1e-6);
  const double height = std::max<double>(1, static_cast<double>(lines_.highest - lines_.lowest));
  set_whole({lines_.first - 0.02 * length, lines_.last + 0.02 * length},
            QCPRange(static_cast<double>(lines_.lowest) - 0.06 * height,
                     static_cast<double>(lines_.highest) + 0.06 * height),
            1);
  show_all();
  mark_packet();
}

void SequencePlot::fit_values() {
  const QCPRange times = time_axis()->range();
  const auto psns = psns_between(lines_, times.lower, times.upper);
  if (!psns) return;
  const double air = std::max(2.0, 0.06 * static_cast<double>(psns->second - psns->first));
  value_axis()->setRange(static_cast<double>(psns->first) - air, static_cast<double>(psns->second) + air);
}

void SequencePlot::show_packet(const std::optional<std::uint64_t>& number) {
  packet_ = number;
  mark_packet();
}

namespace {

/// The point of that packet, if the trace has it and it belongs to the requests of that side.
const TracePoint* point_of(const ConnectionTrace* trace, unsigned side, std::uint64_t packet) {
  if (trace == nullptr) return nullptr;
  const auto found = std::find_if(trace->points.begin(), trace->points.end(),
                                  [packet](const TracePoint& p) { return p.packet == packet; });
  if (found == trace->points.end() || found->has(TracePoint::no_psn) || found->space() != side)
    return nullptr;
  return &*found;
}

}  // namespace

void SequencePlot::mark_packet() {
  const TracePoint* point = packet_ ? point_of(trace_.get(), side_, *packet_) : nullptr;
  cross_->setVisible(point != nullptr);
  if (point != nullptr)
    cross_->position->setCoords(axis_seconds(*trace_, *point, origin()), static_cast<double>(point->psn));
  replot(rpQueuedReplot);
}

std::optional<QPoint> SequencePlot::place_of(std::uint64_t packet) const {
  const TracePoint* point = point_of(trace_.get(), side_, packet);
  if (point == nullptr) return std::nullopt;
  return QPointF(time_axis()->coordToPixel(axis_seconds(*trace_, *point, origin())),
                 value_axis()->coordToPixel(static_cast<double>(point->psn)))
      .toPoint();
}

std::optional<TimePlot::Hit> SequencePlot::hit(const QPoint& place) const {
  const QRect rect = axisRect(0)->rect();
  if (!trace_ || !rect.contains(place)) return std::nullopt;
  constexpr int edge = 12;
  SequencePlace where;
  where.seconds = time_axis()->pixelToCoord(place.x());
  where.psn = value_axis()->pixelToCoord(place.y());
  where.seconds_per_pixel = time_axis()->range().size() / std::max(1, rect.width());
  where.psn_per_pixel = value_axis()->range().size() / std::max(1, rect.height());
  const MarkForm form = place.y() > rect.bottom() - edge ? MarkForm::foot
                        : place.y() < rect.top() + edge  ? MarkForm::head
                                                         : MarkForm::bar;
  const auto found = point_near(lines_, where, form);
  if (!found) return std::nullopt;
  const TracePoint& point = trace_->points[*found];
  return Hit{point.packet, point_text(point, origin())};
}

QString SequencePlot::distance_text(const QPointF& from, const QPointF& to) const {
  const SequenceDistance d = sequence_distance(from.x(), from.y(), to.x(), to.y());
  const QString psns = tr("%1 PSNs").arg(std::llround(d.psns));
  if (!trace_ || !trace_->timed) return psns;
  QString text = tr("%1, %2").arg(
      to_qt(analyze::duration_text(std::llround(std::min(std::abs(d.seconds), 9e9) * 1e9))), psns);
  if (d.psns_per_second != 0) text += tr(", %1 per second").arg(std::abs(d.psns_per_second), 0, 'g', 4);
  return text;
}

void SequencePlot::restyle() {
  TimePlot::restyle();
  if (cross_ == nullptr) return;  // during construction
  QColor cross = palette().color(QPalette::Text);
  cross.setAlpha(150);
  cross_->setPen(QPen(cross, 1, Qt::DashLine));
}

}  // namespace roce::gui

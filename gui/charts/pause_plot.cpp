// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/pause_plot.hpp"

#include <QCoreApplication>
#include <QSharedPointer>
#include <QWheelEvent>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analyze/base/units.hpp"
#include "gui/charts/own_plottable.hpp"
#include "gui/charts/plot_style.hpp"
#include "gui/charts/timeline_geometry.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/time_format.hpp"

namespace roce::gui {
namespace {

constexpr double air = 0.12;     ///< of a row, above it and below
constexpr double sign_size = 9;  ///< pixels
constexpr int reach = 6;         ///< pixels: tolerance of the mouse
constexpr double ns_per_second = 1e9;

struct SignLook {
  QCPScatterStyle::ScatterShape shape;
  const QColor Colours::*colour;
  bool filled;
  const char* name;
};
/// By PauseSign::Kind: each has its own shape or filling.
constexpr std::array<SignLook, 4> pause_looks = {{
    {QCPScatterStyle::ssTriangle, &Colours::lost, false, QT_TRANSLATE_NOOP("PausePlot", "longest pause")},
    {QCPScatterStyle::ssTriangle, &Colours::error, true, QT_TRANSLATE_NOOP("PausePlot", "pause storm")},
    {QCPScatterStyle::ssCircle, &Colours::info, false, QT_TRANSLATE_NOOP("PausePlot", "first DCBX")},
    {QCPScatterStyle::ssDiamond, &Colours::warning, true, QT_TRANSLATE_NOOP("PausePlot", "DCBX changed")},
}};

QCPScatterStyle style_of(const SignLook& look, const QPalette& palette) {
  const QColor colour = colours(palette).*look.colour;
  return {look.shape, QPen(palette.color(QPalette::Text), 1.2),
          look.filled ? QBrush(colour) : QBrush(Qt::NoBrush), sign_size};
}

}  // namespace

/// The share of the time that was paused.
class PausePlot::Bars final : public OwnPlottable {
 public:
  explicit Bars(PausePlot& plot) : OwnPlottable(plot.time_axis(), plot.value_axis()), plot_(plot) {
    setName(PausePlot::tr("share of time paused"));
  }

 protected:
  void draw(QCPPainter* painter) override {
    const QCPAxis* time = plot_.time_axis();
    const QCPAxis* rows = plot_.value_axis();
    const QRect rect = plot_.axisRect(0)->rect();
    const Colours& c = colours(plot_.palette());
    for (std::size_t i = 0; i < plot_.strips_.strips.size(); ++i) {
      const auto row = static_cast<double>(i);
      const double low = rows->coordToPixel(row + 1 - air), high = rows->coordToPixel(row + air);
      QColor line = plot_.palette().color(QPalette::PlaceholderText);
      line.setAlpha(110);
      painter->setPen(QPen(line, 1));
      painter->setBrush(Qt::NoBrush);
      painter->drawLine(QLineF(rect.left(), low, rect.right(), low));
      painter->setPen(Qt::NoPen);
      painter->setBrush(c.throughput);
      for (const PauseStep& step : plot_.strips_.strips[i].steps) {
        const double from = time->coordToPixel(seconds_of(plot_.origin(), step.from_ns));
        const double to = time->coordToPixel(seconds_of(plot_.origin(), step.to_ns));
        if (to < rect.left() || from > rect.right()) continue;
        // Keep the shortest pause visible.
        const double height = std::max(1.5, (low - high) * step.share());
        const double left = std::max<double>(from, rect.left());
        const double right = std::min<double>(std::max(to, from + 1), rect.right() + 1);
        painter->drawRect(QRectF(left, low - height, right - left, height));
      }
    }
  }
  void drawLegendIcon(QCPPainter* painter, const QRectF& rect) const override {
    painter->fillRect(rect.adjusted(0, rect.height() * 0.3, 0, 0), colours(plot_.palette()).throughput);
  }

 private:
  PausePlot& plot_;
};

/// All events of one kind.
class PausePlot::Signs final : public OwnPlottable {
 public:
  Signs(PausePlot& plot, PauseSign::Kind kind)
      : OwnPlottable(plot.time_axis(), plot.value_axis()), plot_(plot), kind_(kind) {
    setName(QCoreApplication::translate("PausePlot", look().name));
  }
  [[nodiscard]] bool shows_anything() const {
    return std::any_of(plot_.strips_.strips.begin(), plot_.strips_.strips.end(),
                       [this](const PauseStrip& strip) {
                         return std::any_of(strip.signs.begin(), strip.signs.end(),
                                            [this](const PauseSign& sign) { return sign.kind == kind_; });
                       });
  }

 protected:
  void draw(QCPPainter* painter) override {
    const QCPScatterStyle style = style_of(look(), plot_.palette());
    style.applyTo(painter, style.pen());
    painter->setAntialiasing(true);
    const QRect rect = plot_.axisRect(0)->rect();
    for (std::size_t i = 0; i < plot_.strips_.strips.size(); ++i) {
      for (const PauseSign& sign : plot_.strips_.strips[i].signs) {
        if (sign.kind != kind_) continue;
        const QPoint at = plot_.place_of(i, sign.time_ns);
        if (at.x() >= rect.left() - reach && at.x() <= rect.right() + reach) style.drawShape(painter, at);
      }
    }
    painter->setBrush(Qt::NoBrush);
  }
  void drawLegendIcon(QCPPainter* painter, const QRectF& rect) const override {
    const QCPScatterStyle style = style_of(look(), plot_.palette());
    style.applyTo(painter, style.pen());
    painter->setAntialiasing(true);
    style.drawShape(painter, rect.center());
    painter->setBrush(Qt::NoBrush);
  }

 private:
  [[nodiscard]] const SignLook& look() const { return pause_looks[static_cast<std::size_t>(kind_)]; }
  PausePlot& plot_;
  PauseSign::Kind kind_;
};

PausePlot::PausePlot(QWidget* parent) : TimePlot(parent) {
  setAccessibleName(tr("Pauses over time"));
  setAccessibleDescription(
      tr("Which port paused which priority when, and changes of DCBX announcements. "
         "Drag to select a time range."));
  setAutoAddPlottableToLegend(false);
  value_axis()->setRangeReversed(true);
  value_axis()->setSubTicks(false);
  value_axis()->grid()->setVisible(false);
  bars_ = new Bars(*this);
  for (std::size_t i = 0; i < pause_looks.size(); ++i)
    signs_.push_back(new Signs(*this, static_cast<PauseSign::Kind>(i)));
  // All rows are always visible.
  connect(value_axis(), qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this, [this] { fit_values(); });
  set_tool(Tool::choose_time);
  restyle();
  show_snapshot(nullptr);
}

PausePlot::~PausePlot() = default;

void PausePlot::show_snapshot(std::shared_ptr<const analyze::Snapshot> snapshot) {
  snapshot_ = std::move(snapshot);
  const QCPRange before = time_axis()->range();
  const bool seen_whole = strips_.strips.empty() || before == whole_;
  strips_ = snapshot_ && snapshot_->totals.any_time ? pause_strips(*snapshot_) : PauseStrips();
  set_origin(snapshot_ ? snapshot_->first_read_ns.value_or(snapshot_->totals.first_time_ns) : 0, true);
  const double from = seconds_of(origin(), strips_.from_ns);
  const double length = std::max(1e-6, seconds_of(origin(), strips_.to_ns) - from);
  whole_ = {from - 0.01 * length, from + 1.01 * length};
  set_whole(whole_, std::nullopt);
  name_rows();
  legend->clearItems();
  if (std::any_of(strips_.strips.begin(), strips_.strips.end(),
                  [](const PauseStrip& s) { return !s.steps.empty(); }))
    bars_->addToLegend();
  for (Signs* signs : signs_) {
    if (signs->shows_anything()) signs->addToLegend();
  }
  wrap_legend(*this);
  legend->setVisible(!strips_.strips.empty());
  say(!snapshot_               ? QString()
      : strips_.strips.empty() ? tr("No PAUSE or PFC frames and no DCBX announcements were captured.")
                               : QString());
  QStringList notes;
  if (strips_.left_out != 0) notes << tr("%1 more rows are in the tables.").arg(strips_.left_out);
  if (std::any_of(strips_.strips.begin(), strips_.strips.end(),
                  [](const PauseStrip& s) { return s.at_least; }))
    notes << tr("Where the link speed is unknown, durations are lower bounds.");
  note(notes.join(QLatin1Char(' ')));
  if (seen_whole) {
    show_all();
  } else {
    show_range(before.lower, before.upper);
  }
}

/// A tick with the row's name at the middle of each row.
void PausePlot::name_rows() {
  const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  constexpr qsizetype longest = 44;
  for (std::size_t i = 0; i < strips_.strips.size(); ++i) {
    QString name = to_qt(strips_.strips[i].name).simplified();
    if (name.size() > longest) name = name.left(longest) + QStringLiteral("...");
    ticker->addTick(static_cast<double>(i) + 0.5, name);
  }
  value_axis()->setTicker(ticker);
  fit_values();
  // Names must not overlap.
  const int rows = std::max<int>(3, static_cast<int>(strips_.strips.size()));
  setMinimumHeight(70 + rows * (fontMetrics().height() + 4));
}

void PausePlot::fit_values() {
  value_axis()->setRange(-0.1, std::max<double>(1, static_cast<double>(strips_.strips.size())));
}

QPoint PausePlot::place_of(std::size_t strip, std::int64_t time_ns) const {
  const bool bars = strip < strips_.strips.size() && !strips_.strips[strip].steps.empty();
  // At the top of rows with bars; in the middle of others.
  const double row = static_cast<double>(strip) + (bars ? air + 0.1 : 0.5);
  // Keep coordinates in range for events far outside of the visible part.
  constexpr double far = 1e6;
  const double x = std::clamp(time_axis()->coordToPixel(seconds_of(origin(), time_ns)), -far, far);
  return QPointF(x, value_axis()->coordToPixel(row)).toPoint();
}

std::optional<TimePlot::Hit> PausePlot::hit(const QPoint& place) const {
  if (!snapshot_ || !axisRect(0)->rect().contains(place)) return std::nullopt;
  const double seconds = time_axis()->pixelToCoord(place.x());
  const double pixel = time_axis()->range().size() / std::max(1, axisRect(0)->width());
  constexpr double most = 4.6e18;  // nanoseconds: no pause is later, and differences fit 64 bits
  if (!(std::abs(static_cast<double>(origin()) + seconds * ns_per_second) < most)) return std::nullopt;
  if (!(reach * pixel * ns_per_second < most)) return std::nullopt;
  const auto found =
      pause_at(strips_, origin() + std::llround(seconds * ns_per_second),
               value_axis()->pixelToCoord(place.y()), std::llround(reach * pixel * ns_per_second));
  if (!found) return std::nullopt;
  const QString name = to_qt(found->strip->name);
  if (found->sign != nullptr) {
    const PauseSign& sign = *found->sign;
    return Hit{sign.packet, tr("%1\n%2: %3\npacket %4")
                                .arg(name, shown_time(*snapshot_, sign.time_ns), to_qt(sign.text),
                                     QString::number(sign.packet))};
  }
  const PauseStep& step = *found->step;
  // A step has a packet only if the longest pause begins in it.
  std::uint64_t packet = 0;
  for (const PauseSign& sign : found->strip->signs) {
    if (sign.time_ns >= step.from_ns && sign.time_ns < step.to_ns) packet = sign.packet;
  }
  return Hit{packet, tr("%1\n%2: %3 of %4 paused (%5 %)")
                         .arg(name, shown_time(*snapshot_, step.from_ns),
                              to_qt(analyze::duration_text(step.paused_ns)),
                              to_qt(analyze::duration_text(step.to_ns - step.from_ns)),
                              QString::number(100 * step.share(), 'g', 3))};
}

QString PausePlot::distance_text(const QPointF& from, const QPointF& to) const {
  const double seconds = std::min(std::abs(to.x() - from.x()), 9e9);
  return to_qt(analyze::duration_text(std::llround(seconds * ns_per_second)));
}

/// All rows are always visible, so the wheel zooms only the time axis.
void PausePlot::wheelEvent(QWheelEvent* event) {
  QWheelEvent only_time(event->position(), event->globalPosition(), event->pixelDelta(), event->angleDelta(),
                        event->buttons(), event->modifiers() | Qt::ShiftModifier, event->phase(),
                        event->inverted());
  TimePlot::wheelEvent(&only_time);
  event->accept();
}

void PausePlot::restyle() {
  TimePlot::restyle();
  if (signs_.empty()) return;  // during construction
  value_axis()->setTickPen(Qt::NoPen);
  replot(rpQueuedReplot);
}

}  // namespace roce::gui

// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/master_timeline.hpp"

#include <QCoreApplication>
#include <QEvent>
#include <QFontMetrics>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPolygonF>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "analyze/base/units.hpp"
#include "analyze/results/incident_columns.hpp"
#include "gui/models/shown_text.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/time_format.hpp"

namespace roce::gui {
namespace {

QString translated(const char* text) {
  return QCoreApplication::translate("Lanes", text);
}

QString rate_words(double bits) {
  return to_qt(analyze::rate_text(bits));
}

QString value_text(const LaneOfSeries& lane, double value) {
  return lane.rates ? rate_words(value) : QString::number(value, 'f', 0);
}

constexpr int pad = 4;  // pixels between labels and lanes

}  // namespace

MasterTimeline::MasterTimeline(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Timeline"));
  setAccessibleDescription(
      tr("Rates, losses, marks, NAKs, pauses and incidents over time. Drag to select a time range for all "
         "pages, "
         "wheel to zoom, double click to show everything."));
  setObjectName(QStringLiteral("master_timeline"));
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&model_, &TimelineModel::changed, this, &MasterTimeline::take_model);
  make_lanes();
}

void MasterTimeline::show_snapshot(const std::shared_ptr<const analyze::Snapshot>& snapshot,
                                   const std::shared_ptr<const PacketStore>& packets, bool check_icrc) {
  const std::optional<TimeSpan> before = model_.whole();
  const bool all = !before || view_ == *before;
  model_.show(snapshot, packets, check_icrc);
  const std::optional<TimeSpan> now = model_.whole();
  if (!now) return;
  if (all || view_.to <= now->from || view_.from >= now->to) {
    set_view(*now);
  } else {
    set_view(moved(view_, 0, *now));
  }
}

void MasterTimeline::take_model() {
  strips_ = model_.snapshot() ? pause_strips(*model_.snapshot(), most_pauses) : PauseStrips{};
  // DCBX is told on its own page.
  std::erase_if(strips_.strips, [](const PauseStrip& strip) { return strip.steps.empty(); });
  make_lanes();
  update();
}

void MasterTimeline::make_lanes() {
  lanes_.clear();
  int top = 0;
  const auto add = [&](Lane lane, double lines) {
    lane.top = top;
    lane.height = static_cast<int>(std::lround(lines * line_height()));
    top += lane.height + 2;
    lanes_.push_back(lane);
  };
  if (const auto& snapshot = model_.snapshot()) {
    for (const LaneOfSeries& lane : series_lanes()) {
      if (is_needed(lane, snapshot->series)) add({Lane::Kind::series, &lane, 0, 0, 0}, lane.lines);
    }
    for (std::size_t i = 0; i < strips_.strips.size(); ++i) add({Lane::Kind::pause, nullptr, i, 0, 0}, 1);
    if (!snapshot->incidents.empty()) add({Lane::Kind::incidents, nullptr, 0, 0, 0}, 1);
  } else {
    add({Lane::Kind::series, &series_lanes().front(), 0, 0, 0}, series_lanes().front().lines);
  }
  updateGeometry();
}

int MasterTimeline::line_height() const {
  return QFontMetrics(font()).height();
}

int MasterTimeline::label_width() const {
  const QFontMetrics metrics(font());
  int width = 0;
  for (const LaneOfSeries& lane : series_lanes()) {
    QString names;
    for (const LaneCurve& curve : lane.curves) names += translated(curve.name) + QStringLiteral("  ");
    width = std::max(width, metrics.horizontalAdvance(names));
  }
  for (const Lane& lane : lanes_) {
    if (lane.kind == Lane::Kind::pause)
      width = std::max(width,
                       std::min(metrics.horizontalAdvance(name_of(lane)), metrics.averageCharWidth() * 30));
  }
  return width + 2 * pad;
}

int MasterTimeline::lanes_height() const {
  return lanes_.empty() ? 0 : lanes_.back().top + lanes_.back().height;
}

QSize MasterTimeline::sizeHint() const {
  return {900, lanes_height() + line_height() + 8};
}

QSize MasterTimeline::minimumSizeHint() const {
  return {label_width() + 120, sizeHint().height()};
}

QRect MasterTimeline::plot_rect() const {
  const int left = label_width();
  return {left, 2, std::max(1, width() - left - 8), lanes_height()};
}

void MasterTimeline::set_view(const TimeSpan& view) {
  view_ = view;
  const QRect plot = plot_rect();
  scale_ = TimeScale(view_, plot.left(), plot.width());
  model_.set_view(view_, plot.width());
  update();
  Q_EMIT view_changed();
}

void MasterTimeline::zoom(double factor, std::int64_t around_ns) {
  if (const auto whole = model_.whole())
    set_view(zoomed(view_, factor, around_ns, *whole, TimelineModel::shortest_ns));
}

void MasterTimeline::show_all() {
  if (const auto whole = model_.whole()) set_view(*whole);
}

void MasterTimeline::show_view(const TimeSpan& view) {
  const auto whole = model_.whole();
  if (!whole) return;
  const std::int64_t middle = view.from + (view.to - view.from) / 2;
  set_view(zoomed(view, 1, middle, *whole, TimelineModel::shortest_ns));
}

void MasterTimeline::show_span(const std::optional<TimeSpan>& span) {
  span_ = span;
  update();
}

void MasterTimeline::show_incident(const std::optional<std::uint64_t>& first_packet) {
  if (first_packet == incident_) return;
  incident_ = first_packet;
  update();
}

void MasterTimeline::set_link_speed(std::uint64_t bps) {
  if (bps == link_speed_bps_) return;
  link_speed_bps_ = bps;
  update();
}

const MasterTimeline::Lane* MasterTimeline::lane_at(int y) const {
  const int within = y - plot_rect().top();
  for (const Lane& lane : lanes_) {
    if (within >= lane.top && within < lane.top + lane.height) return &lane;
  }
  return nullptr;
}

QString MasterTimeline::name_of(const Lane& lane) const {
  switch (lane.kind) {
    case Lane::Kind::series:
      return translated(lane.of->name);
    case Lane::Kind::pause:
      return shown_name(QString::fromStdString(strips_.strips[lane.strip].name));
    case Lane::Kind::incidents:
      break;
  }
  return tr("incidents");
}

QStringList MasterTimeline::lane_names() const {
  QStringList names;
  for (const Lane& lane : lanes_) names << name_of(lane);
  return names;
}

QStringList MasterTimeline::series_values(std::int64_t time_ns) const {
  const analyze::Series& series = model_.series();
  const auto place = bucket_at(series, time_ns);
  if (!place) return {};
  const analyze::Series::Bucket& bucket = series.buckets()[*place];
  const double seconds = static_cast<double>(series.width_ns()) / 1e9;
  const std::int64_t from = series.start_ns() + static_cast<std::int64_t>(*place) * series.width_ns();
  QStringList lines{
      tr("%1, %2 long")
          .arg(shown_time(*model_.snapshot(), from), to_qt(analyze::duration_text(series.width_ns())))};
  for (const LaneOfSeries& lane : series_lanes()) {
    for (const LaneCurve& curve : lane.curves) {
      const double value = curve.value(bucket, seconds);
      if (lane.rates) {
        lines << tr("%1 %2").arg(rate_words(value), translated(curve.name));
      } else if (value > 0) {
        lines << tr("%1 %2").arg(value, 0, 'f', 0).arg(translated(curve.name));
      }
    }
  }
  return lines;
}

QString MasterTimeline::values_at(const QPoint& place) const {
  const QRect plot = plot_rect();
  if (!model_.snapshot() || !model_.whole() || !plot.contains(place)) return {};
  const std::int64_t time = scale_.time_at(place.x());
  QStringList lines = series_values(time);
  const Lane* lane = lane_at(place.y());
  if (lane != nullptr && lane->kind == Lane::Kind::incidents) {
    const auto found = model_.incident_at(time, static_cast<std::int64_t>(6 * scale_.ns_per_pixel()));
    if (found) {
      const analyze::Incident& incident = model_.snapshot()->incidents[*found];
      lines << tr("incident %1: %2").arg(incident.id).arg(to_qt(analyze::incident_what_text(incident)));
      lines << to_qt(analyze::incident_cost_text(incident)) << tr("Click: its packets, step by step");
    }
  }
  for (const PauseStrip& strip : strips_.strips) {
    const auto step = std::find_if(strip.steps.begin(), strip.steps.end(),
                                   [&](const PauseStep& s) { return s.from_ns <= time && time < s.to_ns; });
    if (step == strip.steps.end()) continue;
    lines << tr("%1: paused %2 of %3")
                 .arg(shown_name(QString::fromStdString(strip.name)),
                      to_qt(analyze::duration_text(step->paused_ns)),
                      to_qt(analyze::duration_text(step->to_ns - step->from_ns)));
  }
  lines.removeAll(QString());
  return lines.join(QLatin1Char('\n'));
}

void MasterTimeline::paint_series(QPainter& painter, const Lane& lane, const QRect& plot,
                                  const TimeScale& scale) const {
  const analyze::Series& series = model_.series();
  const Colours& all = colours(palette());
  std::vector<std::vector<double>> curves;
  double most = 0;
  for (const LaneCurve& curve : lane.of->curves) {
    curves.push_back(column_values(series, curve, scale, plot.left(), plot.width()));
    for (const double value : curves.back()) most = std::max(most, value);
  }
  const double speed = lane.of->rates ? static_cast<double>(link_speed_bps_) : 0;
  // A link that is nearly idle would flatten what there is.
  constexpr double far_above = 4;
  const bool with_speed = speed > 0 && speed <= far_above * most;
  const double top = with_speed ? std::max(most, speed) : most;
  const QRect area(plot.left(), plot.top() + lane.top, plot.width(), lane.height);
  const auto y_of = [&](double value) {
    return area.bottom() + 1 - (top > 0 ? value / top : 0) * (area.height() - 2);
  };
  painter.setRenderHint(QPainter::Antialiasing, false);
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const LaneCurve& curve = lane.of->curves[c];
    QColor colour = all.*curve.colour;
    const std::vector<double>& values = curves[c];
    if (curve.filled) {
      QColor fill = colour;
      fill.setAlphaF(lane.of->rates ? 0.35F : 0.8F);
      for (std::size_t x = 0; x < values.size(); ++x) {
        if (values[x] <= 0) continue;
        // What happened once must be seen.
        const double high = std::min(y_of(values[x]), static_cast<double>(area.bottom()));
        painter.fillRect(QRectF(area.left() + static_cast<double>(x), high, 1, area.bottom() + 1 - high),
                         fill);
      }
    }
    if (curve.filled && !lane.of->rates) continue;
    // Where there is nothing, the axis is line enough.
    painter.setPen(QPen(colour, 1));
    QPolygonF line;
    const auto draw = [&] {
      if (line.size() > 1) painter.drawPolyline(line);
      line.clear();
    };
    for (std::size_t x = 0; x < values.size(); ++x) {
      const bool any =
          values[x] > 0 || (x > 0 && values[x - 1] > 0) || (x + 1 < values.size() && values[x + 1] > 0);
      if (any) {
        line << QPointF(area.left() + static_cast<double>(x), std::min(y_of(values[x]), area.bottom() + 0.0));
      } else {
        draw();
      }
    }
    draw();
  }
  if (with_speed) {
    painter.setPen(QPen(palette().color(QPalette::Text), 1, Qt::DashLine));
    painter.drawLine(QLineF(area.left(), y_of(speed), area.right(), y_of(speed)));
  }
  if (top <= 0) return;
  const QString text = with_speed ? tr("link %1").arg(rate_words(speed)) : value_text(*lane.of, top);
  const QFontMetrics metrics(painter.font());
  QRect box(0, area.top(), metrics.horizontalAdvance(text) + 4, metrics.height());
  box.moveRight(area.right());
  QColor behind = palette().color(QPalette::Base);
  behind.setAlpha(180);
  painter.fillRect(box, behind);
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(box, Qt::AlignCenter, text);
}

void MasterTimeline::paint_pause(QPainter& painter, const Lane& lane, const QRect& plot,
                                 const TimeScale& scale) const {
  const QRect area(plot.left(), plot.top() + lane.top, plot.width(), lane.height);
  const QColor colour = colours(palette()).error;
  for (const PauseStep& step : strips_.strips[lane.strip].steps) {
    const double from = std::max<double>(area.left(), scale.x_of(step.from_ns));
    const double to = std::min<double>(area.right() + 1.0, scale.x_of(step.to_ns));
    if (to <= from) continue;
    QColor shade = colour;
    shade.setAlphaF(static_cast<float>(0.25 + 0.75 * step.share()));
    painter.fillRect(QRectF(from, area.top() + 2, std::max(1.0, to - from), area.height() - 4), shade);
  }
}

void MasterTimeline::paint_incidents(QPainter& painter, const Lane& lane, const QRect& plot,
                                     const TimeScale& scale) const {
  const QRect area(plot.left(), plot.top() + lane.top, plot.width(), lane.height);
  const Colours& all = colours(palette());
  const double size = area.height() * 0.36;
  painter.setRenderHint(QPainter::Antialiasing);
  double last = -1e9;
  const analyze::Snapshot& snapshot = *model_.snapshot();
  const auto mark = [&](double x, const QColor& colour) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    const double y = area.center().y() + 1;
    painter.drawPolygon(QPolygonF({{x - size, y - size}, {x + size, y - size}, {x, y + size}}));
  };
  for (const std::size_t i : model_.incidents_in(scale.view())) {
    const analyze::Incident& incident = snapshot.incidents[i];
    const double x = scale.x_of(incident.start_ns);
    const double end = std::min(area.right() + 1.0, scale.x_of(std::max(incident.start_ns, incident.end_ns)));
    painter.fillRect(QRectF(x, area.bottom() - 1, std::max(1.0, end - x), 2), all.retransmitted);
    // No more marks than can be told apart.
    if (x - last < 2) continue;
    last = x;
    const bool ends = incident.what == analyze::IncidentKind::refused_request ||
                      incident.what == analyze::IncidentKind::rnr_exhausted ||
                      incident.what == analyze::IncidentKind::path_silent;
    mark(x, ends ? all.error : all.retransmitted);
  }
  if (incident_) {
    const auto chosen =
        std::find_if(snapshot.incidents.begin(), snapshot.incidents.end(),
                     [this](const analyze::Incident& each) { return each.first_frame == *incident_; });
    if (chosen != snapshot.incidents.end() && chosen->start_ns != capture::no_time &&
        chosen->start_ns >= scale.view().from && chosen->start_ns <= scale.view().to)
      mark(scale.x_of(chosen->start_ns), palette().color(QPalette::Highlight));
  }
  painter.setBrush(Qt::NoBrush);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void MasterTimeline::paint_axis(QPainter& painter, const QRect& plot, const TimeScale& scale) const {
  const QFontMetrics metrics(painter.font());
  const analyze::Snapshot& snapshot = *model_.snapshot();
  const std::int64_t origin = snapshot.first_read_ns.value_or(snapshot.totals.first_time_ns);
  const int each = metrics.horizontalAdvance(QStringLiteral("+000.000 ms")) + 20;
  const TimeTicks ticks = time_ticks(scale.view(), origin, std::max(1, plot.width() / each));
  const int base = plot.bottom() + 1;
  painter.setPen(palette().color(QPalette::Mid));
  painter.drawLine(plot.left(), base, plot.right(), base);
  for (const TimeTick& tick : ticks.ticks) {
    const double x = scale.x_of(tick.time_ns);
    QColor grid = palette().color(QPalette::Mid);
    grid.setAlpha(90);
    painter.setPen(grid);
    painter.drawLine(QLineF(x, plot.top(), x, base));
    painter.setPen(palette().color(QPalette::PlaceholderText));
    const double wide = metrics.horizontalAdvance(tick.text);
    const double left =
        std::clamp(x - wide / 2, plot.left() + 0.0, std::max<double>(plot.left(), plot.right() - wide));
    painter.drawText(QRectF(left, base + 1, wide + 2, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     tick.text);
  }
  if (ticks.base_ns == origin) return;
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(
      QRect(pad, base + 1, plot.left() - 2 * pad, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
      metrics.elidedText(shown_time(origin, ticks.base_ns), Qt::ElideLeft, plot.left() - 2 * pad));
}

void MasterTimeline::paint_label(QPainter& painter, const Lane& lane, const QRect& plot) const {
  const QRect area(pad, plot.top() + lane.top, plot.left() - 2 * pad, lane.height);
  const QFontMetrics metrics(painter.font());
  if (lane.kind != Lane::Kind::series) {
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(area, Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(name_of(lane), Qt::ElideMiddle, area.width()));
    return;
  }
  int x = area.left();
  const int swatch = metrics.height() / 2;
  for (const LaneCurve& curve : lane.of->curves) {
    const QString name = translated(curve.name);
    const QColor colour = colours(palette()).*curve.colour;
    // A line below the name in the colour of the curve: the name itself must be readable.
    const int wide = metrics.horizontalAdvance(name);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(QRect(x, area.top(), wide + 2, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     name);
    painter.fillRect(QRect(x, area.top() + metrics.height(), wide, curve.filled ? 3 : 2), colour);
    x += wide + swatch;
  }
}

void MasterTimeline::paint_all(QPainter& painter, const QRect& plot, const TimeScale& scale) const {
  painter.setFont(font());
  painter.fillRect(plot, palette().brush(QPalette::Base));
  if (!model_.snapshot() || !model_.whole()) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(plot, static_cast<int>(Qt::AlignCenter) | Qt::TextWordWrap,
                     model_.snapshot() ? tr("no packets with timestamps") : QString());
    return;
  }
  paint_axis(painter, plot, scale);
  for (const Lane& lane : lanes_) {
    paint_label(painter, lane, plot);
    painter.setClipRect(plot.adjusted(0, 0, 0, 2));
    switch (lane.kind) {
      case Lane::Kind::series:
        paint_series(painter, lane, plot, scale);
        break;
      case Lane::Kind::pause:
        paint_pause(painter, lane, plot, scale);
        break;
      case Lane::Kind::incidents:
        paint_incidents(painter, lane, plot, scale);
        break;
    }
    painter.setClipping(false);
    painter.setPen(palette().color(QPalette::AlternateBase));
    painter.drawLine(plot.left(), plot.top() + lane.top + lane.height, plot.right(),
                     plot.top() + lane.top + lane.height);
  }
}

void MasterTimeline::draw_chart(QPainter& painter, const QSize& size) {
  const int left = label_width();
  const QRect plot(left, 2, std::max(1, size.width() - left - 8), lanes_height());
  painter.save();
  paint_all(painter, plot, TimeScale(view_, plot.left(), plot.width()));
  painter.restore();
}

void MasterTimeline::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const QRect plot = plot_rect();
  paint_all(painter, plot, scale_);
  const Colours& all = colours(palette());
  const auto shade = [&](double from, double to) {
    from = std::max<double>(plot.left(), from);
    to = std::min<double>(plot.right() + 1.0, to);
    if (to < from) return;
    painter.fillRect(QRectF(from, plot.top(), std::max(1.0, to - from), plot.height()), all.selection);
    painter.setPen(QPen(all.throughput, 1));
    for (const double x : {from, to}) painter.drawLine(QLineF(x, plot.top(), x, plot.bottom()));
  };
  if (pressed_ && dragged_to_) {
    shade(std::min(pressed_->x(), *dragged_to_), std::max(pressed_->x(), *dragged_to_));
  } else if (span_ && model_.snapshot()) {
    shade(scale_.x_of(span_->from), scale_.x_of(span_->to));
  }
  if (pointer_ && plot.contains(*pointer_) && model_.snapshot()) {
    painter.setPen(QPen(palette().color(QPalette::PlaceholderText), 1));
    painter.drawLine(pointer_->x(), plot.top(), pointer_->x(), plot.bottom());
  }
  if (hasFocus()) {
    painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
    painter.drawRect(plot.adjusted(-1, -1, 0, 1));
  }
}

bool MasterTimeline::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = values_at(help->pos());
    text.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), text, this);
    return true;
  }
  if (event->type() == QEvent::Leave) {
    pointer_.reset();
    update();
  }
  return QWidget::event(event);
}

void MasterTimeline::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) {
    make_lanes();
    set_view(view_);
  }
  update();
}

void MasterTimeline::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  set_view(view_);
}

void MasterTimeline::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !plot_rect().contains(event->pos()))
    return QWidget::mousePressEvent(event);
  pressed_ = event->pos();
  dragged_to_.reset();
}

void MasterTimeline::mouseMoveEvent(QMouseEvent* event) {
  pointer_ = event->pos();
  const QRect plot = plot_rect();
  constexpr int least_drag = 3;
  if (pressed_ && (dragged_to_ || std::abs(event->pos().x() - pressed_->x()) >= least_drag))
    dragged_to_ = std::clamp(event->pos().x(), plot.left(), plot.right() + 1);
  update();
  const QString text = values_at(event->pos());
  text.isEmpty() ? QToolTip::hideText() : QToolTip::showText(event->globalPosition().toPoint(), text, this);
}

void MasterTimeline::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !pressed_) return QWidget::mouseReleaseEvent(event);
  const QPoint pressed = *std::exchange(pressed_, std::nullopt);
  const std::optional<int> to = std::exchange(dragged_to_, std::nullopt);
  update();
  if (!model_.whole()) return;
  if (to) {
    const std::int64_t one = scale_.time_at(pressed.x());
    const std::int64_t other = scale_.time_at(*to);
    Q_EMIT span_chosen(TimeSpan{std::min(one, other), std::max(one, other)});
    return;
  }
  const Lane* lane = lane_at(pressed.y());
  if (lane != nullptr && lane->kind == Lane::Kind::incidents) {
    const auto found =
        model_.incident_at(scale_.time_at(pressed.x()), static_cast<std::int64_t>(6 * scale_.ns_per_pixel()));
    if (found) {
      Q_EMIT incident_chosen(model_.snapshot()->incidents[*found].first_frame);
      return;
    }
  }
  if (span_) Q_EMIT span_chosen(std::nullopt);
}

void MasterTimeline::mouseDoubleClickEvent(QMouseEvent*) {
  pressed_.reset();
  show_all();
}

void MasterTimeline::wheelEvent(QWheelEvent* event) {
  const auto whole = model_.whole();
  if (!whole) return QWidget::wheelEvent(event);
  const QPoint turned = event->angleDelta();
  constexpr double notch = 120;
  if (turned.x() != 0 || event->modifiers().testFlag(Qt::ShiftModifier)) {
    const int by = turned.x() != 0 ? turned.x() : turned.y();
    set_view(moved(view_, -by / notch * 0.15, *whole));
  } else if (turned.y() != 0) {
    zoom(std::pow(0.8, turned.y() / notch), scale_.time_at(event->position().x()));
  }
  event->accept();
}

void MasterTimeline::keyPressEvent(QKeyEvent* event) {
  const auto whole = model_.whole();
  const std::int64_t middle = view_.from + (view_.to - view_.from) / 2;
  constexpr double step = 0.2;
  if (!whole) return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left:
      return set_view(moved(view_, -step, *whole));
    case Qt::Key_Right:
      return set_view(moved(view_, step, *whole));
    case Qt::Key_Plus:
      return zoom(0.5, middle);
    case Qt::Key_Minus:
      return zoom(2, middle);
    case Qt::Key_Home:
      return show_all();
    case Qt::Key_Return:
    case Qt::Key_Enter:
      Q_EMIT span_chosen(view_);
      return;
    case Qt::Key_Escape:
      if (span_) {
        Q_EMIT span_chosen(std::nullopt);
        return;
      }
      break;
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace roce::gui

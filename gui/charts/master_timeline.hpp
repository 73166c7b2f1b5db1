// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAction>
#include <QString>
#include <QWidget>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gui/charts/chart.hpp"
#include "gui/charts/lanes_geometry.hpp"
#include "gui/charts/pause_geometry.hpp"
#include "gui/models/timeline_model.hpp"

namespace roce::gui {

/// The time of the whole capture in lanes: rates, repeats and losses, marks, NAKs, pauses by port and
/// priority, incidents. Dragging selects a time range, a click takes it back or chooses an incident; the
/// wheel zooms, with Shift it moves, a double click shows everything.
class MasterTimeline : public QWidget, public Chart {
  Q_OBJECT

 public:
  /// Priorities that have a lane at most, those that pause most.
  static constexpr std::size_t most_pauses = 4;

  explicit MasterTimeline(QWidget* parent = nullptr);

  [[nodiscard]] TimelineModel& model() noexcept { return model_; }
  void show_snapshot(const std::shared_ptr<const analyze::Snapshot>& snapshot,
                     const std::shared_ptr<const PacketStore>& packets, bool check_icrc);
  /// Shades the selected range.
  void show_span(const std::optional<TimeSpan>& span);
  /// Marks an incident, by its first packet.
  void show_incident(const std::optional<std::uint64_t>& first_packet);
  /// Speed of the link in bit/s, drawn as a line among the rates; 0: not known.
  void set_link_speed(std::uint64_t bps);

  void zoom(double factor, std::int64_t around_ns);
  void show_all();
  void show_view(const TimeSpan& view);
  [[nodiscard]] const TimeSpan& view() const noexcept { return view_; }
  /// Where times are drawn, in this widget.
  [[nodiscard]] QRect plot_rect() const;
  [[nodiscard]] const TimeScale& scale() const noexcept { return scale_; }

  /// What is to be seen at a place, a line each; empty: nothing.
  [[nodiscard]] QString values_at(const QPoint& place) const;
  /// Names of the lanes, from above.
  [[nodiscard]] QStringList lane_names() const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;
  void draw_chart(QPainter& painter, const QSize& size) override;

 Q_SIGNALS:
  void span_chosen(const std::optional<roce::gui::TimeSpan>& span);
  void incident_chosen(quint64 first_packet);
  void view_changed();

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Lane {
    enum class Kind : std::uint8_t { series, pause, incidents };
    Kind kind = Kind::series;
    const LaneOfSeries* of = nullptr;  ///< of Kind::series
    std::size_t strip = 0;             ///< of Kind::pause: index in strips_
    int top = 0;
    int height = 0;
  };

  void take_model();
  void make_lanes();
  void set_view(const TimeSpan& view);
  [[nodiscard]] int line_height() const;
  [[nodiscard]] int label_width() const;
  [[nodiscard]] int lanes_height() const;
  [[nodiscard]] const Lane* lane_at(int y) const;
  [[nodiscard]] QString name_of(const Lane& lane) const;
  [[nodiscard]] QStringList series_values(std::int64_t time_ns) const;
  void paint_all(QPainter& painter, const QRect& plot, const TimeScale& scale) const;
  void paint_series(QPainter& painter, const Lane& lane, const QRect& plot, const TimeScale& scale) const;
  void paint_pause(QPainter& painter, const Lane& lane, const QRect& plot, const TimeScale& scale) const;
  void paint_incidents(QPainter& painter, const Lane& lane, const QRect& plot, const TimeScale& scale) const;
  void paint_axis(QPainter& painter, const QRect& plot, const TimeScale& scale) const;
  void paint_label(QPainter& painter, const Lane& lane, const QRect& plot) const;

  TimelineModel model_;
  std::vector<Lane> lanes_;
  PauseStrips strips_;
  TimeSpan view_{0, 1};
  TimeScale scale_;
  std::optional<TimeSpan> span_;
  std::optional<std::uint64_t> incident_;
  std::uint64_t link_speed_bps_ = 0;
  std::optional<QPoint> pressed_;
  std::optional<int> dragged_to_;  ///< x, while a range is being selected
  std::optional<QPoint> pointer_;
};

}  // namespace roce::gui

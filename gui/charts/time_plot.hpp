// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <qcustomplot.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "analyze/trace/connection_trace.hpp"
#include "gui/charts/theme.hpp"
#include "gui/models/selection.hpp"

namespace roce::gui {

/// Common base of the graphs over time: a time axis, mouse tools and keys, the selected time range, a text
/// where there is nothing to draw. The unit of the axis is a second, or a packet where packets have no times.
class TimePlot : public QCustomPlot {
  Q_OBJECT

 public:
  /// What dragging with the mouse does.
  enum class Tool { move, zoom, measure, choose_time };

  explicit TimePlot(QWidget* parent = nullptr);

  void set_tool(Tool tool);
  [[nodiscard]] Tool tool() const noexcept { return tool_; }
  /// Shows the whole range of times and values.
  void show_all();
  /// Shows that range of the time axis and fits the values to it.
  void show_range(double from, double to);
  /// Shades the selected time range; nullopt: none.
  void show_span(const std::optional<TimeSpan>& span);
  /// Shows a text instead of the plot; empty: the plot.
  void say(const QString& text);
  [[nodiscard]] QString said() const;
  /// A small text at the lower edge: what the plot omits.
  void note(const QString& text);

  [[nodiscard]] QCPAxis* time_axis() const { return axisRect(0)->axis(QCPAxis::atBottom); }
  [[nodiscard]] QCPAxis* value_axis() const { return axisRect(0)->axis(QCPAxis::atLeft); }

 Q_SIGNALS:
  void tool_changed();
  void range_changed(double from, double to);  ///< of the time axis
  void span_chosen(const std::optional<roce::gui::TimeSpan>& span);
  void packet_chosen(quint64 number);     ///< by a click
  void packet_activated(quint64 number);  ///< by a double click or Enter

 protected:
  /// The packet at a place of the widget, and its tool tip.
  struct Hit {
    std::uint64_t packet = 0;
    QString text;
  };
  [[nodiscard]] virtual std::optional<Hit> hit(const QPoint& place) const = 0;
  /// Text of a measured distance; plot coordinates.
  [[nodiscard]] virtual QString distance_text(const QPointF& from, const QPointF& to) const = 0;
  /// Fits the value axis to the visible times.
  virtual void fit_values() {}
  /// Sets colours, after the palette has changed.
  virtual void restyle();

  /// The range of show_all(), and the shortest useful range of the value axis. Without `values` the value
  /// axis is always fitted to the visible times.
  void set_whole(const QCPRange& time, const std::optional<QCPRange>& values, double least_values = 1e-9);
  void set_origin(std::int64_t origin_ns, bool timed);
  [[nodiscard]] std::int64_t origin() const noexcept { return origin_ns_; }

  bool event(QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  [[nodiscard]] QPointF coordinates(const QPoint& place) const;
  void zoom(double factor, const std::optional<QPoint>& place, bool time, bool values);
  void shift(double part_of_time, double part_of_values);
  void choose(const QRect& rect);
  void show_measured(const QPoint& to);
  void shade_span();
  void keep_in_bounds(QCPAxis* axis, const QCPRange& now, const QCPRange& before);

  Tool tool_ = Tool::move;
  std::int64_t origin_ns_ = 0;
  bool timed_ = true;
  QCPRange whole_time_{0, 1};
  std::optional<QCPRange> whole_values_;
  double least_values_ = 1e-9;
  std::optional<TimeSpan> span_;
  QPoint pressed_;
  std::optional<QPointF> measured_from_;
  QCPItemRect* chosen_ = nullptr;
  QCPItemLine* line_ = nullptr;
  QCPItemText* distance_ = nullptr;
  QCPItemText* said_ = nullptr;
  QCPItemText* note_ = nullptr;
};

}  // namespace roce::gui

// SPDX-License-Identifier: Apache-2.0
// Saving graphs as PNG or SVG, copying and printing them. QCustomPlot widgets are supported as they are; a
// widget with its own painting implements Chart. GUI thread only.
#pragma once

#include <QImage>
#include <QList>
#include <QPainter>
#include <QString>
#include <QWidget>

namespace roce::gui {

class Chart {
 public:
  virtual ~Chart() = default;
  /// Draws the whole graph at this size, independent of the widget's own, as vectors.
  virtual void draw_chart(QPainter& painter, const QSize& size) = 0;
  /// Preferred size; invalid: the size on the screen.
  [[nodiscard]] virtual QSize chart_size() const { return {}; }
};

[[nodiscard]] bool is_chart(const QWidget* widget);
/// All graphs below that widget.
[[nodiscard]] QList<QWidget*> charts_in(const QWidget* widget);
/// The graph that has the focus, else the largest visible one; null: none is visible.
[[nodiscard]] QWidget* chart_in_front(const QWidget* window);
/// Its accessible name.
[[nodiscard]] QString chart_title(const QWidget* chart);

/// As on the screen, at `scale` times its resolution.
[[nodiscard]] QImage chart_image(QWidget* chart, double scale = 2);
/// Fitted into a rectangle, keeping its proportions.
void draw_chart(QWidget* chart, QPaintDevice& device, const QRect& rect);
/// As SVG if the path ends with .svg, else as PNG. Replaces the file as a whole or leaves it untouched.
/// Returns an error; empty on success.
[[nodiscard]] QString save_chart(QWidget* chart, const QString& path);

}  // namespace roce::gui

// SPDX-License-Identifier: Apache-2.0
// Every graph can be saved as PNG or SVG, copied and printed. Those made with QCustomPlot can it by
// themselves; a widget that paints its own implements Chart.
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
  /// Draws all of it into this size, whatever the widget's own is, with lines as lines.
  virtual void draw_chart(QPainter& painter, const QSize& size) = 0;
  /// How large it wants to be drawn; by default as it is on the screen.
  [[nodiscard]] virtual QSize chart_size() const { return {}; }
};

[[nodiscard]] bool is_chart(const QWidget* widget);
/// All below that widget.
[[nodiscard]] QList<QWidget*> charts_in(const QWidget* widget);
/// The one that has the focus, else the largest that can be seen; null: none can.
[[nodiscard]] QWidget* chart_in_front(const QWidget* window);
/// Its accessible name.
[[nodiscard]] QString chart_title(const QWidget* chart);

/// As on the screen, with `scale` dots for each of its pixels.
[[nodiscard]] QImage chart_image(QWidget* chart, double scale = 2);
/// Into a rectangle, as large as it fits.
void draw_chart(QWidget* chart, QPaintDevice& device, const QRect& rect);
/// As SVG when the path ends with .svg, else as PNG. The whole file or none; empty when that is done, else
/// why it could not be.
[[nodiscard]] QString save_chart(QWidget* chart, const QString& path);

}  // namespace roce::gui

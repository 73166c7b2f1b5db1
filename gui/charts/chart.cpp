// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/chart.hpp"

#include <qcustomplot.h>

#include <QBuffer>
#include <QSvgGenerator>

#include "gui/models/report_file.hpp"

namespace roce::gui {
namespace {

QSize size_of(const QWidget* chart) {
  QSize size;
  if (const auto* own = dynamic_cast<const Chart*>(chart)) size = own->chart_size();
  return size.isEmpty() ? chart->size().expandedTo(QSize(200, 100)) : size;
}

void draw(QWidget* chart, QCPPainter& painter, const QSize& size) {
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  if (auto* plot = qobject_cast<QCustomPlot*>(chart)) {
    plot->toPainter(&painter, size.width(), size.height());
  } else if (auto* own = dynamic_cast<Chart*>(chart)) {
    own->draw_chart(painter, size);
  }
}

QByteArray svg_of(QWidget* chart) {
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  const QSize size = size_of(chart);
  generator.setSize(size);
  generator.setViewBox(QRect(QPoint(0, 0), size));
  generator.setTitle(chart_title(chart));
  QCPPainter painter;
  painter.begin(&generator);
  draw(chart, painter, size);
  painter.end();
  return buffer.data();
}

}  // namespace

bool is_chart(const QWidget* widget) {
  return qobject_cast<const QCustomPlot*>(widget) != nullptr || dynamic_cast<const Chart*>(widget) != nullptr;
}

QList<QWidget*> charts_in(const QWidget* widget) {
  QList<QWidget*> charts;
  for (QWidget* child : widget->findChildren<QWidget*>()) {
    if (is_chart(child)) charts << child;
  }
  return charts;
}

QWidget* chart_in_front(const QWidget* window) {
  QWidget* front = nullptr;
  const auto area = [](const QWidget* w) { return static_cast<qint64>(w->width()) * w->height(); };
  for (QWidget* chart : charts_in(window)) {
    if (!chart->isVisible() || chart->visibleRegion().isEmpty()) continue;
    if (chart->hasFocus()) return chart;
    if (front == nullptr || area(chart) > area(front)) front = chart;
  }
  return front;
}

QString chart_title(const QWidget* chart) {
  return chart->accessibleName();
}

QImage chart_image(QWidget* chart, double scale) {
  const QSize size = size_of(chart);
  QImage image(QSize(qRound(size.width() * scale), qRound(size.height() * scale)), QImage::Format_ARGB32);
  image.fill(chart->palette().color(QPalette::Base));
  QCPPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.scale(scale, scale);
  draw(chart, painter, size);
  painter.end();
  return image;
}

void draw_chart(QWidget* chart, QPaintDevice& device, const QRect& rect) {
  const QSize size = size_of(chart);
  const double scale = qMin(static_cast<double>(rect.width()) / size.width(),
                            static_cast<double>(rect.height()) / size.height());
  QCPPainter painter(&device);
  painter.translate(rect.topLeft());
  painter.scale(scale, scale);
  draw(chart, painter, size);
}

QString save_chart(QWidget* chart, const QString& path) {
  const bool vectors = path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
  return write_whole(path, [&](QIODevice& device) {
    if (vectors) {
      device.write(svg_of(chart));
    } else {
      chart_image(chart).save(&device, "PNG");
    }
  });
}

}  // namespace roce::gui

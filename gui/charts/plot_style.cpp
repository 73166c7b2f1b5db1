// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/plot_style.hpp"

#include <algorithm>

namespace roce::gui {

double highest(const QVector<double>& values) {
  return values.isEmpty() ? 0 : *std::max_element(values.begin(), values.end());
}

QVector<double> scaled(QVector<double> values, double unit) {
  for (double& value : values) value /= unit;
  return values;
}

QColor see_through(const QPalette& palette) {
  QColor back = palette.color(QPalette::Base);
  back.setAlpha(215);
  return back;
}

void style_axes(QCPAxisRect* rect, const QPalette& palette, const QFont& font) {
  const QColor line = palette.color(QPalette::PlaceholderText), text = palette.color(QPalette::Text);
  QColor grid = line;
  grid.setAlpha(65);
  for (QCPAxis* axis : rect->axes()) {
    axis->setBasePen(line);
    axis->setTickPen(line);
    axis->setSubTickPen(line);
    axis->setTickLabelColor(text);
    axis->setLabelColor(text);
    axis->setTickLabelFont(font);
    axis->setLabelFont(font);
    axis->grid()->setPen(QPen(grid, 0, Qt::DotLine));
    axis->grid()->setZeroLinePen(Qt::NoPen);
  }
}

void style_legend(QCPLegend* legend, const QPalette& palette, const QFont& font) {
  legend->setBrush(see_through(palette));
  legend->setBorderPen(Qt::NoPen);
  legend->setTextColor(palette.color(QPalette::Text));
  legend->setFont(font);
}

void put_legend_above(QCustomPlot& plot) {
  QCPLegend* legend = plot.legend;
  if (QCPLayout* before = legend->layout()) before->take(legend);
  QCPLayoutGrid* rows = plot.plotLayout();
  rows->insertRow(0);
  rows->addElement(0, 0, legend);
  rows->setRowStretchFactor(0, 0.001);  // no higher than it needs to be
  rows->setRowSpacing(0);
  legend->setFillOrder(QCPLegend::foColumnsFirst);
  legend->setRowSpacing(0);
  legend->setIconSize(16, 12);
  legend->setMargins(QMargins(6, 3, 6, 0));
  legend->setVisible(true);
}

void wrap_legend(QCustomPlot& plot) {
  QCPLegend* legend = plot.legend;
  int widest = 1;
  for (int i = 0; i < legend->itemCount(); ++i) {
    QCPAbstractLegendItem* item = legend->item(i);
    if (item == nullptr) continue;           // a cell of the last row
    item->setMargins(QMargins(0, 0, 0, 2));  // room for descenders
    widest = std::max(widest, item->minimumOuterSizeHint().width());
  }
  const QMargins around = legend->margins();
  const int room = plot.width() - around.left() - around.right() + legend->columnSpacing();
  legend->setWrap(std::max(1, room / (widest + legend->columnSpacing())));
  legend->setFillOrder(QCPLegend::foColumnsFirst, true);  // arranges them again
  // Left-aligned: remaining room is right of the last column.
  for (int column = 0; column < legend->columnCount(); ++column)
    legend->setColumnStretchFactor(column, column + 1 < legend->columnCount() ? 0.001 : 1);
}

void style_graph(QCPGraph* graph, const QColor& colour, bool filled, Qt::PenStyle pen) {
  graph->setPen(QPen(colour, 1.6, pen));
  QColor fill = colour;
  fill.setAlpha(45);
  graph->setBrush(filled ? QBrush(fill) : QBrush());
}

void move_together(QCPAxis* one, QCPAxis* other) {
  const auto bind = [](QCPAxis* from, QCPAxis* to) {
    QObject::connect(from, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), to,
                     qOverload<const QCPRange&>(&QCPAxis::setRange));
  };
  bind(one, other);
  bind(other, one);
}

}  // namespace roce::gui

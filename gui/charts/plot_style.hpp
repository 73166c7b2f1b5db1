// SPDX-License-Identifier: Apache-2.0
// The common style of all plots over time.
#pragma once

#include <qcustomplot.h>

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QVector>

namespace roce::gui {

/// The largest value; 0 if there are none.
[[nodiscard]] double highest(const QVector<double>& values);
/// The values divided by `unit`.
[[nodiscard]] QVector<double> scaled(QVector<double> values, double unit);

/// The plot's background colour, translucent.
[[nodiscard]] QColor see_through(const QPalette& palette);
void style_axes(QCPAxisRect* rect, const QPalette& palette, const QFont& font);
void style_legend(QCPLegend* legend, const QPalette& palette, const QFont& font);
/// Puts the legend above all axes, in as many rows as it needs, so that it covers no data.
void put_legend_above(QCustomPlot& plot);
/// Arranges the legend again, after its entries or the width of the plot have changed.
void wrap_legend(QCustomPlot& plot);
/// A line of that colour; if `filled`, with a light fill below it.
void style_graph(QCPGraph* graph, const QColor& colour, bool filled, Qt::PenStyle pen = Qt::SolidLine);

/// Keeps the ranges of two axes equal from now on.
void move_together(QCPAxis* one, QCPAxis* other);

}  // namespace roce::gui

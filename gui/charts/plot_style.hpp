// SPDX-License-Identifier: Apache-2.0
// What all plots over time have alike.
#pragma once

#include <qcustomplot.h>

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QVector>

namespace roce::gui {

/// The largest of the values, 0 of none.
[[nodiscard]] double highest(const QVector<double>& values);
/// All of them in that unit.
[[nodiscard]] QVector<double> scaled(QVector<double> values, double unit);

/// The plot's background, so that what lies below can still be guessed.
[[nodiscard]] QColor see_through(const QPalette& palette);
void style_axes(QCPAxisRect* rect, const QPalette& palette, const QFont& font);
void style_legend(QCPLegend* legend, const QPalette& palette, const QFont& font);
/// Puts the legend above all axes, in as many rows as it needs: inside it would cover what is drawn there.
void put_legend_above(QCustomPlot& plot);
/// Gives its entries their places anew, after they or the width of the plot have changed.
void wrap_legend(QCustomPlot& plot);
/// A line of that colour, and all below it lightly so if `filled`.
void style_graph(QCPGraph* graph, const QColor& colour, bool filled, Qt::PenStyle pen = Qt::SolidLine);

/// Each shows the range of the other from now on.
void move_together(QCPAxis* one, QCPAxis* other);

}  // namespace roce::gui

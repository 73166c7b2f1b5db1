// SPDX-License-Identifier: Apache-2.0
// What a small line in a cell draws, as plain numbers.
#pragma once

#include <QLineF>
#include <QPolygonF>
#include <QRectF>
#include <QVector>

#include "gui/models/connection_sparks.hpp"

namespace roce::gui {

struct SparkLines {
  QPolygonF line;         ///< steps from left to right, the highest as high as there is room
  QVector<QLineF> ticks;  ///< above the line: where something was sent again
};
/// Nothing for a connection without packets, and where there is too little room to see anything.
[[nodiscard]] SparkLines spark_lines(const ConnectionSpark& spark, const QRectF& room);

}  // namespace roce::gui

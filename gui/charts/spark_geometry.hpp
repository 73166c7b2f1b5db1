// SPDX-License-Identifier: Apache-2.0
// Geometry of the sparklines in table cells, as plain functions.
#pragma once

#include <QLineF>
#include <QPolygonF>
#include <QRectF>
#include <QVector>

#include "gui/models/connection_sparks.hpp"

namespace roce::gui {

struct SparkLines {
  QPolygonF line;         ///< packets over time, as steps scaled to the room
  QVector<QLineF> ticks;  ///< above the line: intervals with retransmissions
};
/// Empty for a connection without packets, and where there is too little room.
[[nodiscard]] SparkLines spark_lines(const ConnectionSpark& spark, const QRectF& room);

}  // namespace roce::gui

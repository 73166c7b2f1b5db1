// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/spark_geometry.hpp"

#include <algorithm>

namespace roce::gui {

SparkLines spark_lines(const ConnectionSpark& spark, const QRectF& room) {
  constexpr double least_width = 24, least_height = 8;
  constexpr double tick_part = 0.3;  // of the height, reserved above the line
  SparkLines lines;
  const std::uint32_t most = *std::max_element(spark.packets.begin(), spark.packets.end());
  if (most == 0 || room.width() < least_width || room.height() < least_height) return lines;
  const double tick = room.height() * tick_part;
  const double step = room.width() / ConnectionSpark::parts;
  const double height = room.height() - tick - 1;
  for (std::size_t i = 0; i < ConnectionSpark::parts; ++i) {
    const double left = room.left() + static_cast<double>(i) * step;
    const std::uint32_t packets = spark.packets[i];
    // A single packet stays visible beside millions.
    const double up = packets == 0 ? 0 : std::max(1.0, height * packets / most);
    lines.line << QPointF(left, room.bottom() - up) << QPointF(left + step, room.bottom() - up);
    if ((spark.resent >> i & 1U) != 0) {
      const double x = left + step / 2;
      lines.ticks << QLineF(x, room.top(), x, room.top() + tick - 1);
    }
  }
  return lines;
}

}  // namespace roce::gui

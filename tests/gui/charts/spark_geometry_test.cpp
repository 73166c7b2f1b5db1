// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/spark_geometry.hpp"

#include <gtest/gtest.h>

namespace roce::gui {
namespace {

const QRectF room(10, 20, 96, 20);

TEST(SparkLines, FillTheirRoomAndNoMore) {
  ConnectionSpark spark;
  spark.packets[0] = 1'000'000;
  spark.packets[1] = 500'000;
  spark.packets[31] = 1;
  spark.resent = 1U << 1U | 1U << 31U;
  const SparkLines lines = spark_lines(spark, room);
  ASSERT_EQ(lines.line.size(), 64);
  EXPECT_TRUE(room.adjusted(-0.01, -0.01, 0.01, 0.01).contains(lines.line.boundingRect()));
  EXPECT_DOUBLE_EQ(lines.line.front().x(), 10);
  EXPECT_DOUBLE_EQ(lines.line.back().x(), 106);
  const double top = 40 - lines.line[0].y();
  EXPECT_NEAR(40 - lines.line[2].y(), top / 2, 1e-9);
  EXPECT_DOUBLE_EQ(lines.line[4].y(), 40) << "nothing";
  EXPECT_DOUBLE_EQ(lines.line.back().y(), 39) << "one packet is more than none";
  ASSERT_EQ(lines.ticks.size(), 2);
  EXPECT_DOUBLE_EQ(lines.ticks[0].x1(), 10 + 1.5 * 3);
  for (const QLineF& tick : lines.ticks) {
    EXPECT_GE(tick.y1(), room.top());
    EXPECT_LT(tick.y2(), 40 - top) << "above the line";
  }
}

TEST(SparkLines, NothingWhereNothingCanBeSeen) {
  ConnectionSpark spark;
  EXPECT_TRUE(spark_lines(spark, room).line.isEmpty());
  spark.packets[3] = 5;
  EXPECT_FALSE(spark_lines(spark, room).line.isEmpty());
  EXPECT_TRUE(spark_lines(spark, QRectF(0, 0, 10, 20)).line.isEmpty());
  EXPECT_TRUE(spark_lines(spark, QRectF(0, 0, 96, -4)).line.isEmpty());
}

}  // namespace
}  // namespace roce::gui

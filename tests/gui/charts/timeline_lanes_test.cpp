// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/lanes_geometry.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/gui/support.hpp"

namespace roce::gui {
namespace {

constexpr std::int64_t start = 1'795'171'301'000'000'000;
constexpr std::int64_t second = 1'000'000'000;

TEST(LanesGeometry, EveryPacketOfALaneIsSeen) {
  const auto snapshot = analyzed("04_write_loss1.cb.pcap.zst");
  const analyze::Series& series = snapshot->series;
  const TimeSpan whole{snapshot->totals.first_time_ns, snapshot->totals.last_time_ns};
  const TimeScale scale(whole, 100, 400);
  for (const LaneOfSeries& lane : series_lanes()) {
    for (const LaneCurve& curve : lane.curves) {
      double most = 0;
      for (const auto& bucket : series.buckets())
        most = std::max(most, curve.value(bucket, static_cast<double>(series.width_ns()) / 1e9));
      const std::vector<double> columns = column_values(series, curve, scale, 100, 400);
      ASSERT_EQ(columns.size(), 400U);
      EXPECT_EQ(*std::max_element(columns.begin(), columns.end()), most) << lane.name << ' ' << curve.name;
    }
    EXPECT_TRUE(is_needed(lane, series) || std::string(lane.name) == "Marks") << lane.name;
    EXPECT_EQ(is_needed(lane, analyze::Series()), lane.rates);
  }
}

TEST(LanesGeometry, TimesAndPlacesFitEachOther) {
  const TimeScale scale({start, start + 1000 * second}, 50, 500);
  EXPECT_DOUBLE_EQ(scale.x_of(start), 50);
  EXPECT_DOUBLE_EQ(scale.x_of(start + 500 * second), 300);
  EXPECT_EQ(scale.time_at(300), start + 500 * second);
  EXPECT_EQ(scale.time_at(-10), start);
  EXPECT_EQ(scale.time_at(10'000), start + 1000 * second);
  const TimeScale closest({start, start + 10'000}, 0, 1000);
  EXPECT_EQ(closest.time_at(7), start + 70);
}

TEST(LanesGeometry, ZoomKeepsThePlaceOfThePointerAndTheEnds) {
  const TimeSpan whole{start, start + 100 * second};
  const TimeSpan in = zoomed(whole, 0.5, start + 80 * second, whole, 1000);
  EXPECT_EQ(in.to - in.from, 50 * second);
  EXPECT_EQ(in.from, start + 40 * second);
  EXPECT_EQ(zoomed(in, 4, start + 80 * second, whole, 1000), whole);
  const TimeSpan least = zoomed(in, 1e-12, start + 80 * second, whole, 1000);
  EXPECT_EQ(least.to - least.from, 1000);
  EXPECT_EQ(moved(in, 1, whole), (TimeSpan{start + 50 * second, start + 100 * second}));
  EXPECT_EQ(moved(in, -9, whole), (TimeSpan{start, start + 50 * second}));
}

TEST(LanesGeometry, TicksHaveTheUnitThatTheyNeed) {
  const auto texts = [](const TimeSpan& view) {
    QStringList all;
    for (const TimeTick& tick : time_ticks(view, start, 5).ticks) all << tick.text;
    return all;
  };
  EXPECT_EQ(texts({start, start + 10 * second}), (QStringList{"0 s", "2 s", "4 s", "6 s", "8 s", "10 s"}));
  EXPECT_EQ(texts({start + 5'000'000, start + 9'000'000}),
            (QStringList{"5 ms", "6 ms", "7 ms", "8 ms", "9 ms"}));
  // Far from the beginning they count from a round time, which is given beside the axis.
  const TimeTicks far = time_ticks({start + 100 * second + 3'000, start + 100 * second + 13'000}, start, 5);
  EXPECT_EQ(far.base_ns, start + 100 * second);
  ASSERT_FALSE(far.ticks.empty());
  EXPECT_EQ(far.ticks[0].text, QStringLiteral("+4 µs"));
  for (std::size_t i = 1; i < far.ticks.size(); ++i) EXPECT_NE(far.ticks[i].text, far.ticks[i - 1].text);
}

}  // namespace
}  // namespace roce::gui

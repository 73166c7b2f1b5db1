// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/timeline_geometry.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "tests/gui/support.hpp"

namespace roce::gui {
namespace timeline_geometry_test {
namespace {

constexpr std::int64_t start = 1'000'000'000'000;

analyze::Series two_buckets() {
  analyze::Series series;
  series.at(start).bytes = 125;
  auto& second = series.at(start + 1'500);
  second.bytes = 250;
  second.lost = 3;
  return series;
}

TEST(TimelineGeometry, HoldsEachValueToTheNext) {
  const TimelineLines lines = timeline_lines(two_buckets(), start);
  EXPECT_EQ(lines.times, (QVector<double>{0, 1e-6, 2e-6}));
  EXPECT_EQ(lines.throughput, (QVector<double>{1e9, 2e9, 2e9}));
  EXPECT_EQ(lines.lost, (QVector<double>{0, 3, 3}));
  // RDMA began half a second after the first packet.
  EXPECT_EQ(timeline_lines(two_buckets(), start - 500'000'000).times.front(), 0.5);
}

TEST(TimelineGeometry, FindsTheStepAtThePointer) {
  const TimelineLines lines = timeline_lines(two_buckets(), start);
  EXPECT_EQ(step_at(lines, -1e-9), -1);
  EXPECT_EQ(step_at(lines, 0), 0);
  EXPECT_EQ(step_at(lines, 9e-7), 0);
  EXPECT_EQ(step_at(lines, 1e-6), 1);
  EXPECT_EQ(step_at(lines, 2e-6), -1);
  EXPECT_EQ(step_at(lines, std::numeric_limits<double>::quiet_NaN()), -1);
  EXPECT_EQ(step_at({}, 0), -1);
}

TEST(TimelineGeometry, OfNothingIsNothing) {
  EXPECT_TRUE(timeline_lines({}, 0).times.isEmpty());
  EXPECT_FALSE(span_between({}, 0, 0, 1));
}

TEST(TimelineGeometry, MovesAllBytesOfACapture) {
  const auto snapshot = analyzed("04_write_loss1.cb.pcap.zst");
  const TimelineLines lines = timeline_lines(snapshot->series, 0);
  const double bits = std::accumulate(lines.throughput.begin(), lines.throughput.end() - 1, 0.0);
  EXPECT_NEAR(bits * lines.bucket_seconds / 8, static_cast<double>(snapshot->totals.roce_bytes), 1);
}

TEST(TimelineGeometry, TakesASpanFromEitherSide) {
  const analyze::Series series = two_buckets();
  const TimeSpan expected{start + 500, start + 1'000};
  EXPECT_EQ(span_between(series, start, 5e-7, 1e-6), expected);
  EXPECT_EQ(span_between(series, start, 1e-6, 5e-7), expected);
  EXPECT_EQ(span_between(series, start, -7, 9), (TimeSpan{start, start + 2'000}));
  EXPECT_FALSE(span_between(series, start, 1e-6, 1e-6));
  EXPECT_FALSE(span_between(series, start, 5, 6));
  EXPECT_FALSE(span_between(series, start, std::numeric_limits<double>::quiet_NaN(), 1));
  EXPECT_DOUBLE_EQ(seconds_of(start, expected.from), 5e-7);
}

TEST(TimelineGeometry, NamesRates) {
  EXPECT_STREQ(rate_unit(93e9).name, "Gb/s");
  EXPECT_STREQ(rate_unit(26e6).name, "Mb/s");
  EXPECT_STREQ(rate_unit(1).name, "b/s");
  EXPECT_STREQ(rate_unit(0).name, "b/s");
}

}  // namespace
}  // namespace timeline_geometry_test
}  // namespace roce::gui

// SPDX-License-Identifier: Apache-2.0
#include "analyze/link/pause_series.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "analyze/record/packet_record.hpp"

namespace roce::analyze {
namespace {

constexpr std::int64_t width = PauseSeries::first_width_ns;

TEST(PauseSeries, APauseIsWhereItWas) {
  PauseSeries s;
  EXPECT_TRUE(s.buckets().empty());
  s.add(1'000'000, 1'000'000 + 100);
  s.add(1'000'000 + width - 10, 1'000'000 + 2 * width + 5);  // over three
  s.add(1'000'000 + 5 * width, 1'000'000 + 6 * width);       // all of one
  EXPECT_EQ(s.start_ns(), 1'000'000);
  EXPECT_EQ(s.width_ns(), width);
  EXPECT_EQ(s.buckets(), (std::vector<std::int64_t>{110, width, 5, 0, 0, width}));
}

TEST(PauseSeries, NothingAndWhatLiesBefore) {
  PauseSeries s;
  s.add(500, 500);
  EXPECT_EQ(s.start_ns(), 500);
  s.add(100, 300);
  s.add(400, 700);
  EXPECT_EQ(s.buckets(), std::vector<std::int64_t>{200 + 300});
}

TEST(PauseSeries, WidensAsFarAsTimesGo) {
  PauseSeries s;
  s.add(0, 1);
  s.add(PacketRecord::latest_ns - 1, PacketRecord::latest_ns);
  EXPECT_LE(s.buckets().size(), PauseSeries::limit);
  EXPECT_EQ(s.buckets().front(), 1);
  EXPECT_EQ(s.buckets().back(), 1);
  PauseSeries long_one;
  long_one.add(0, PacketRecord::latest_ns);
  EXPECT_LE(long_one.buckets().size(), PauseSeries::limit);
  EXPECT_EQ(std::accumulate(long_one.buckets().begin(), long_one.buckets().end(), std::int64_t{0}),
            PacketRecord::latest_ns);
}

// Against single nanoseconds, counted one by one.
TEST(PauseSeries, IsWhatANanosecondAtATimeSays) {
  std::minstd_rand random(5);
  for (int run = 0; run < 20; ++run) {
    PauseSeries s;
    std::map<std::int64_t, int> paused;
    std::int64_t now = 1000;
    for (int i = 0; i < 60; ++i) {
      const std::int64_t to = now + static_cast<std::int64_t>(random() % 3000);
      s.add(now, to);
      for (std::int64_t ns = now; ns < to; ++ns) ++paused[ns];
      now = to + static_cast<std::int64_t>(random() % 40'000);
    }
    ASSERT_LE(s.buckets().size(), PauseSeries::limit);
    for (std::size_t i = 0; i < s.buckets().size(); ++i) {
      const std::int64_t from = s.start_ns() + static_cast<std::int64_t>(i) * s.width_ns();
      const auto first = paused.lower_bound(from), last = paused.lower_bound(from + s.width_ns());
      ASSERT_EQ(s.buckets()[i], std::distance(first, last)) << i;
    }
  }
}

}  // namespace
}  // namespace roce::analyze

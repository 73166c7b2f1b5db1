// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/series.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "capture/core/frame.hpp"

namespace roce::analyze {
namespace {

constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t us = 1'000;
constexpr std::int64_t ms = 1'000'000;

std::uint64_t packets_of(const Series& series) {
  std::uint64_t sum = 0;
  for (const auto& bucket : series.buckets()) sum += bucket.packets;
  return sum;
}

TEST(Series, BucketsFollowFromTheFirstTime) {
  Series s;
  EXPECT_EQ(s.start_ns(), 0);
  EXPECT_TRUE(s.buckets().empty());
  ++s.at(5 * us + 3).packets;
  ++s.at(6 * us + 2).packets;  // the last of the first bucket
  ++s.at(6 * us + 3).packets;
  ++s.at(9 * us + 3).packets;
  EXPECT_EQ(s.start_ns(), 5 * us + 3);
  EXPECT_EQ(s.width_ns(), us);
  ASSERT_EQ(s.buckets().size(), 5U);
  EXPECT_EQ(s.buckets()[0].packets, 2U);
  EXPECT_EQ(s.buckets()[1].packets, 1U);
  EXPECT_EQ(s.buckets()[2].packets, 0U);
  EXPECT_EQ(s.buckets()[4].packets, 1U);
}

TEST(Series, EarlierTimesFallIntoTheFirstBucket) {
  Series s;
  s.at(1000 * ms);
  s.at(1700 * ms);
  ++s.at(3 * ms).packets;
  ++s.at(-latest).packets;
  EXPECT_EQ(s.buckets()[0].packets, 2U);
  EXPECT_EQ(s.start_ns(), 1000 * ms);
}

TEST(Series, FramesWithoutATimeDoNotSetTheStart) {
  Series s;
  ++s.at(capture::no_time).packets;
  ++s.at(capture::no_time).packets;
  EXPECT_EQ(s.start_ns(), 0);
  ++s.at(77 * ms).packets;
  ++s.at(capture::no_time).packets;
  EXPECT_EQ(s.start_ns(), 77 * ms);
  ASSERT_EQ(s.buckets().size(), 1U);
  EXPECT_EQ(s.buckets()[0].packets, 4U);
}

TEST(Series, WideningKeepsSumsAndMaxima) {
  Series s;
  for (int i = 0; i < 2048; ++i) {
    auto& bucket = s.at(i * us);
    bucket = {1, 100, 50, 2, static_cast<std::uint32_t>(i), 1, 3};
  }
  EXPECT_EQ(s.width_ns(), us);
  EXPECT_EQ(s.buckets().size(), Series::limit);
  s.at(2048 * us);
  EXPECT_EQ(s.width_ns(), 2 * us);
  ASSERT_EQ(s.buckets().size(), 1025U);
  for (std::size_t i = 0; i < 1024; ++i) {
    const auto& bucket = s.buckets()[i];
    EXPECT_EQ(bucket.packets, 2U);
    EXPECT_EQ(bucket.bytes, 200U);
    EXPECT_EQ(bucket.goodput_bytes, 100U);
    EXPECT_EQ(bucket.retransmitted, 4U);
    EXPECT_EQ(bucket.in_flight_max, 2 * i + 1);
    EXPECT_EQ(bucket.undecided, 2U);
    EXPECT_EQ(bucket.lost, 6U);
  }
  EXPECT_EQ(s.buckets()[1024].packets, 0U);
}

TEST(Series, OthersMayAskForWiderBuckets) {
  Series s;
  for (int i = 0; i < 2000; ++i) s.at(i * us).packets += 1;
  Series wide = s.of_width(ms);
  EXPECT_EQ(wide.width_ns(), 1024 * us);
  ASSERT_EQ(wide.buckets().size(), 2U);
  EXPECT_EQ(wide.buckets()[0].packets, 1024U);
  EXPECT_EQ(packets_of(wide), 2000U);
  ++wide.at(1999 * us).packets;
  EXPECT_EQ(wide.buckets()[1].packets, 977U);
  EXPECT_EQ(s.of_width(1).width_ns(), us);
}

TEST(Series, AFewPacketsHaveFewBuckets) {
  Series s;
  ++s.at(0).packets;
  ++s.at(200 * us).packets;
  s.fit_packets();
  EXPECT_LE(s.buckets().size(), 8U);
  EXPECT_GE(s.buckets().size(), 4U);
  EXPECT_EQ(s.buckets().front().packets, 1U);
  EXPECT_EQ(s.buckets().back().packets, 1U);
  ++s.at(200 * us).packets;
  EXPECT_EQ(s.buckets().back().packets, 2U);
}

TEST(Series, CountsDoNotWrap) {
  Series s;
  s.at(0).lost = 0xfffffff0U;
  s.at(ms).lost = 0x20;
  s.at(5000 * ms);
  EXPECT_EQ(s.buckets()[0].lost, 0x100000010U);
}

TEST(Series, JumpsOfCenturiesCostOnePass) {
  Series s;
  for (int i = 0; i < 2048; ++i) ++s.at(-latest + i * ms).packets;
  ++s.at(latest).packets;
  EXPECT_LE(s.buckets().size(), Series::limit);
  EXPECT_GT(s.width_ns(), 0);
  EXPECT_EQ(packets_of(s), 2049U);
  EXPECT_EQ(s.buckets().front().packets, 2048U);
  EXPECT_EQ(s.buckets().back().packets, 1U);
}

// The end of the bucket of the latest time must not wrap around to the earliest ones.
TEST(Series, TheLatestTimeDoesNotWrap) {
  Series s;
  ++s.at(latest - 5 * us).packets;
  ++s.at(latest).packets;
  ASSERT_EQ(s.buckets().size(), 6U);
  ++s.at(-latest).packets;
  ++s.at(capture::no_time).packets;
  EXPECT_EQ(s.buckets()[5].packets, 1U);
  EXPECT_EQ(s.buckets()[0].packets, 3U);
}

TEST(Series, AnyTimesStayBounded) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    Series s;
    std::uint64_t added = 0;
    const unsigned shift = static_cast<unsigned>(random() % 64);
    for (int i = 0; i < 500; ++i) {
      auto time = static_cast<std::int64_t>(random() >> shift);
      if (random() % 20 == 0) time = std::int64_t{-1} - time;
      if (random() % 50 == 0) time = capture::no_time;
      ++s.at(time).packets;
      ASSERT_EQ(packets_of(s), ++added);
      ASSERT_LE(s.buckets().size(), Series::limit);
    }
  }
}

}  // namespace
}  // namespace roce::analyze

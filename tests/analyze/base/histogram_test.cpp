// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace roce::analyze {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram h;
  EXPECT_EQ(h.count(), 0U);
  EXPECT_EQ(h.percentile(0.5), 0U);
  EXPECT_TRUE(h.buckets().empty());
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram h;
  for (std::uint64_t v = 0; v < 64; ++v) h.add(v);
  for (const auto& bucket : h.buckets()) {
    EXPECT_EQ(bucket.from, bucket.to);
    EXPECT_EQ(bucket.count, 1U);
  }
  EXPECT_EQ(h.percentile(0.5), 31U);  // 32 of 64 are at most 31
  EXPECT_EQ(h.percentile(0), 0U);
  EXPECT_EQ(h.percentile(1), 63U);
}

TEST(Histogram, BucketsMeetAndHoldTheirValues) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t value = random() >> (random() % 64);
    Histogram h;
    h.add(value);
    const auto buckets = h.buckets();
    ASSERT_EQ(buckets.size(), 1U);
    EXPECT_LE(buckets[0].from, value);
    EXPECT_GE(buckets[0].to, value);
    EXPECT_LE(static_cast<double>(buckets[0].to - buckets[0].from), static_cast<double>(value) / 32);
    if (buckets[0].to != largest) {
      h.add(buckets[0].to + 1);  // is in the next one, which begins there
      ASSERT_EQ(h.buckets().size(), 2U);
      EXPECT_EQ(h.buckets()[1].from, buckets[0].to + 1);
    }
    EXPECT_EQ(h.min(), value);
  }
}

TEST(Histogram, PercentilesAreRightWithinTheirWidth) {
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> latency(9, 2);
  std::vector<std::uint64_t> values;
  Histogram h;
  for (int i = 0; i < 50'000; ++i) {
    values.push_back(static_cast<std::uint64_t>(latency(random)));
    h.add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double fraction : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999}) {
    const auto rank = static_cast<std::size_t>(std::ceil(fraction * 50'000 - 1e-6));
    const auto exact = static_cast<double>(values[rank - 1]);
    EXPECT_NEAR(static_cast<double>(h.percentile(fraction)), exact, exact * 0.032 + 1) << fraction;
  }
  EXPECT_EQ(h.min(), values.front());
  EXPECT_EQ(h.max(), values.back());
  EXPECT_EQ(h.percentile(1), values.back());
}

TEST(Histogram, PercentileStaysBetweenTheExtremes) {
  Histogram h;
  for (int i = 0; i < 100; ++i) h.add(1'000'003);
  EXPECT_EQ(h.percentile(0.5), 1'000'003U);
  EXPECT_EQ(h.percentile(std::nan("")), 1'000'003U);
  EXPECT_EQ(h.percentile(-1), 1'000'003U);
  EXPECT_EQ(h.percentile(7), 1'000'003U);
}

TEST(Histogram, FractionsAreNotRoundedUp) {
  Histogram h;
  for (std::uint64_t v = 1; v <= 50; ++v) h.add(v);
  EXPECT_EQ(h.percentile(0.98), 49U);
  EXPECT_EQ(h.percentile(0.9), 45U);
  EXPECT_EQ(h.percentile(0.3), 15U);
}

TEST(Histogram, HoldsTheWholeRangeInEightKibibytes) {
  Histogram h;
  h.add(largest);
  h.add(0);
  h.add(1U << 20U);
  EXPECT_EQ(h.min(), 0U);
  EXPECT_EQ(h.max(), largest);
  EXPECT_EQ(h.percentile(0.1), 0U);
  EXPECT_EQ(h.percentile(0.9), largest - (largest / 128 + 1));  // the middle of the last bucket
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (std::uint64_t sub = 0; sub < 32; ++sub) h.add((std::uint64_t{32 + sub} << bit) >> 5U);
  }
  EXPECT_LE(h.buckets().size() * sizeof(std::uint32_t), 8192U);
}

TEST(Histogram, MergesLikeOneThatSawAll) {
  std::mt19937_64 random(3);
  Histogram a, b, all;
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t value = random() >> (random() % 60);
    (i % 3 == 0 ? a : b).add(value);
    all.add(value);
  }
  a.merge(Histogram{});
  a.merge(b);
  EXPECT_EQ(a.count(), all.count());
  EXPECT_EQ(a.min(), all.min());
  EXPECT_EQ(a.max(), all.max());
  const auto got = a.buckets(), wanted = all.buckets();
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].from, wanted[i].from);
    EXPECT_EQ(got[i].count, wanted[i].count);
  }
  Histogram none;
  none.merge(a);
  EXPECT_EQ(none.percentile(0.7), a.percentile(0.7));
  none.merge(none);
  EXPECT_EQ(none.count(), 2 * a.count());
  EXPECT_EQ(none.percentile(0.7), a.percentile(0.7));
}

TEST(Histogram, CountsGrowBeyondThirtyTwoBits) {
  Histogram h;
  h.add(5);
  for (int i = 0; i < 40; ++i) h.merge(h);  // 2^40 values
  h.add(7);
  EXPECT_EQ(h.count(), (std::uint64_t{1} << 40U) + 1);
  EXPECT_EQ(h.buckets().front().count, std::uint64_t{1} << 40U);
  EXPECT_EQ(h.buckets().back().count, 1U);
  EXPECT_EQ(h.percentile(0.5), 5U);
  EXPECT_EQ(h.percentile(1), 7U);
}

TEST(Histogram, CountsGrowBeyondSixteenBits) {
  Histogram h;
  for (int i = 0; i < 70'000; ++i) h.add(1000);
  h.add(2000);
  for (int i = 0; i < 70'000; ++i) h.add(3000);
  const Histogram copy = h;
  h = Histogram{};
  EXPECT_EQ(h.count(), 0U);
  ASSERT_EQ(copy.buckets().size(), 3U);
  EXPECT_EQ(copy.buckets()[0].count, 70'000U);
  EXPECT_EQ(copy.buckets()[1].count, 1U);
  EXPECT_EQ(copy.buckets()[2].count, 70'000U);
  EXPECT_EQ(copy.count(), 140'001U);
  EXPECT_EQ(copy.min(), 1000U);
  EXPECT_EQ(copy.max(), 3000U);
}

}  // namespace
}  // namespace roce::analyze

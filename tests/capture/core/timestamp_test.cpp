// SPDX-License-Identifier: Apache-2.0
#include "capture/core/timestamp.hpp"

#include <gtest/gtest.h>

namespace roce::capture {
namespace {

constexpr std::uint8_t binary = 0x80;

TEST(TickClock, PowersOfTen) {
  EXPECT_EQ(TickClock(0, 0).to_ns(1'700'000'000), 1'700'000'000'000'000'000);
  EXPECT_EQ(TickClock(3, 0).to_ns(1'700'000'000'123), 1'700'000'000'123'000'000);
  EXPECT_EQ(TickClock(6, 0).to_ns(1'700'000'000'123'456), 1'700'000'000'123'456'000);
  EXPECT_EQ(TickClock(9, 0).to_ns(1'700'000'000'123'456'789), 1'700'000'000'123'456'789);
  EXPECT_EQ(TickClock(12, 0).to_ns(1'234'567'890'123'999), 1'234'567'890'123) << "fractions are cut off";
  EXPECT_EQ(TickClock(18, 0).to_ns(18'000'000'000'000'000'000U), 18'000'000'000);
  EXPECT_EQ(TickClock(28, 0).to_ns(10'000'000'000'000'000'000U), 1);
  EXPECT_EQ(TickClock(29, 0).to_ns(UINT64_MAX), 0);
  EXPECT_EQ(TickClock(127, 0).to_ns(UINT64_MAX), 0);
}

TEST(TickClock, PowersOfTwo) {
  EXPECT_EQ(TickClock(binary | 0, 0).to_ns(5), 5'000'000'000);
  EXPECT_EQ(TickClock(binary | 10, 0).to_ns(1024 + 512), 1'500'000'000);
  EXPECT_EQ(TickClock(binary | 32, 0).to_ns((std::uint64_t{1'700'000'000} << 32U) + (1U << 31U)),
            1'700'000'000'500'000'000);
  EXPECT_EQ(TickClock(binary | 63, 0).to_ns(std::uint64_t{1} << 63U), 1'000'000'000);
  EXPECT_EQ(TickClock(binary | 64, 0).to_ns(std::uint64_t{1} << 63U), 500'000'000);
  EXPECT_EQ(TickClock(binary | 127, 0).to_ns(UINT64_MAX), 0);
}

TEST(TickClock, OffsetsMoveWholeSeconds) {
  EXPECT_EQ(TickClock(6, 1'000'000'000).to_ns(1), 1'000'000'000'000'001'000);
  EXPECT_EQ(TickClock(9, -1).to_ns(1), -999'999'999);
  EXPECT_EQ(TickClock(9, -9'223'372'037).to_ns(9'223'372'037'000'000'000U - 5), -5);
}

TEST(TickClock, ClampsWhatDoesNotFit) {
  EXPECT_EQ(TickClock(0, 0).to_ns(10'000'000'000), INT64_MAX);
  EXPECT_EQ(TickClock(binary | 0, 0).to_ns(UINT64_MAX), INT64_MAX);
  EXPECT_EQ(TickClock(6, INT64_MAX).to_ns(0), INT64_MAX);
  EXPECT_EQ(TickClock(6, INT64_MIN).to_ns(0), INT64_MIN);
  EXPECT_EQ(TickClock(6, INT64_MIN).to_ns(UINT64_MAX), INT64_MIN);
}

TEST(TickClock, TopBitBeyondTheRangeIsASign) {
  EXPECT_EQ(TickClock(6, 0).to_ns(UINT64_MAX), -1000);
  EXPECT_EQ(TickClock(9, 0).to_ns(UINT64_MAX - 4), -5);
  EXPECT_EQ(TickClock(0, 0).to_ns(std::uint64_t{1} << 63U), INT64_MIN);
}

TEST(TickClock, TellsTicksPerSecond) {
  EXPECT_EQ(TickClock().ticks_per_second(), 1'000'000U);
  EXPECT_EQ(TickClock(9, 0).ticks_per_second(), 1'000'000'000U);
  EXPECT_EQ(TickClock(19, 0).ticks_per_second(), 10'000'000'000'000'000'000U);
  EXPECT_EQ(TickClock(20, 0).ticks_per_second(), UINT64_MAX);
  EXPECT_EQ(TickClock(binary | 10, 0).ticks_per_second(), 1024U);
  EXPECT_EQ(TickClock(binary | 64, 0).ticks_per_second(), UINT64_MAX);
}

}  // namespace
}  // namespace roce::capture

// SPDX-License-Identifier: Apache-2.0
#include "analyze/link/pfc_watchdog.hpp"

#include <gtest/gtest.h>

#include "tests/analyze/link/link_capture.hpp"

namespace roce::analyze {
namespace {

constexpr WatchdogTimes times{200 * ms, 400 * ms};

TEST(PfcWatchdog, FiresWhenAPauseLastsTooLong) {
  WatchdogFacts facts;
  facts.pause_ended({1, 0, 199 * ms}, times);  // a near miss
  EXPECT_EQ(facts.fires.count, 0U);
  facts.pause_ended({2, 300 * ms, 500 * ms}, times);
  EXPECT_EQ(facts.fires.count, 1U);
  EXPECT_EQ(facts.fires.first_time_ns, 500 * ms);
  EXPECT_EQ(facts.fires.frames[0], 2U);
  facts.finish(2000 * ms);
  EXPECT_EQ(facts.restored.count, 1U);
  EXPECT_EQ(facts.restored.first_time_ns, 900 * ms);
  EXPECT_EQ(facts.held_ns, 400 * ms);
  EXPECT_FALSE(facts.held_at_end);
}

TEST(PfcWatchdog, AShortPauseBeforeRestorationProlongsIt) {
  WatchdogFacts facts;
  facts.pause_ended({1, 0, 300 * ms}, times);           // until 700
  facts.pause_ended({2, 650 * ms, 660 * ms}, times);    // until 1060
  facts.pause_ended({3, 1060 * ms, 1070 * ms}, times);  // restored just before
  facts.pause_ended({4, 2000 * ms, 2300 * ms}, times);  // another storm
  EXPECT_EQ(facts.fires.count, 2U);
  EXPECT_EQ(facts.restored.count, 1U);
  EXPECT_EQ(facts.held_ns, 860 * ms);
  facts.finish(2400 * ms);
  EXPECT_TRUE(facts.held_at_end);
  EXPECT_EQ(facts.held_ns, 860 * ms + 200 * ms);
  EXPECT_EQ(facts.restored.count, 1U);
}

TEST(PfcWatchdog, PacketsInAStorm) {
  WatchdogFacts facts;
  PauseSpan pause{1, 0, 150 * ms};
  facts.packet(10, 100 * ms, &pause, times);  // paused, but not for long enough
  facts.packet(11, 160 * ms, &pause, times);  // it ran out in time
  EXPECT_EQ(facts.flowed.count + facts.resumed.count, 0U);
  pause.until_ns = 300 * ms;
  facts.packet(12, 200 * ms, &pause, times);
  facts.packet(13, 299 * ms, &pause, times);
  EXPECT_EQ(facts.flowed.count, 2U);
  facts.packet(14, 300 * ms, &pause, times);  // run out: the storm goes on until 700
  EXPECT_EQ(facts.resumed.count, 1U);
  facts.packet(15, 700 * ms, &pause, times);
  EXPECT_EQ(facts.resumed.count, 1U);
  facts.pause_ended(pause, times);
  facts.packet(16, 699 * ms, nullptr, times);
  facts.packet(17, 700 * ms, nullptr, times);
  EXPECT_EQ(facts.resumed.count, 2U);
  const PauseSpan next{2, 690 * ms, 710 * ms};  // short, but in the storm
  facts.packet(18, 700 * ms, &next, times);
  EXPECT_EQ(facts.flowed.count, 3U);
}

}  // namespace
}  // namespace roce::analyze

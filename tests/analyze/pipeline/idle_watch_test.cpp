// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/idle_watch.hpp"

#include <gtest/gtest.h>

#include "capture/core/frame.hpp"

namespace roce::analyze {
namespace idle_watch_test {
namespace {

constexpr std::int64_t second = 1'000'000'000;

/// Frames a second apart, from `from` on; the last answer of all.
std::optional<std::uint64_t> last_answer(IdleWatch& watch, std::uint64_t& number, std::int64_t& time_ns,
                                         int seconds) {
  std::optional<std::uint64_t> last;
  for (int i = 0; i < seconds; ++i) {
    const auto answer = watch.pass(++number, time_ns += second);
    if (answer) last = answer;
  }
  return last;
}

TEST(IdleWatch, TellsWhatIsOlderThanTheLimit) {
  IdleWatch watch(std::chrono::seconds(80));
  std::uint64_t number = 0;
  std::int64_t time_ns = 1'700'000'000 * second;
  EXPECT_EQ(last_answer(watch, number, time_ns, 80), std::nullopt);
  const auto idle = last_answer(watch, number, time_ns, 20);  // now at number 100
  ASSERT_TRUE(idle);
  EXPECT_LE(*idle, 20U);
  EXPECT_GE(*idle, 1U);
  const auto later = last_answer(watch, number, time_ns, 1000);  // 1100
  ASSERT_TRUE(later);
  EXPECT_LE(*later, 1020U);
  EXPECT_GE(*later, 1000U);  // an eighth of the limit late
}

TEST(IdleWatch, ClocksThatAreSetMakeNothingIdle) {
  IdleWatch watch(std::chrono::seconds(80));
  std::uint64_t number = 0;
  std::int64_t time_ns = 1'700'000'000 * second;
  EXPECT_EQ(last_answer(watch, number, time_ns, 30), std::nullopt);
  time_ns += 86'400 * second;  // counts for 40 s
  EXPECT_EQ(watch.pass(++number, time_ns), std::nullopt);
  time_ns -= 3600 * second;  // for nothing
  EXPECT_EQ(watch.pass(++number, time_ns), std::nullopt);
  EXPECT_EQ(watch.pass(++number, capture::no_time), std::nullopt);
  EXPECT_EQ(last_answer(watch, number, time_ns, 8), std::nullopt);
  EXPECT_TRUE(last_answer(watch, number, time_ns, 20));
  // The largest jump that there is.
  IdleWatch other(std::chrono::seconds(80));
  EXPECT_EQ(other.pass(1, INT64_MIN + 1), std::nullopt);
  EXPECT_EQ(other.pass(2, INT64_MAX), std::nullopt);
}

TEST(IdleWatch, NothingIsIdleWithoutALimit) {
  IdleWatch watch(std::chrono::nanoseconds(0));
  std::uint64_t number = 0;
  std::int64_t time_ns = 0;
  EXPECT_EQ(last_answer(watch, number, time_ns, 10'000), std::nullopt);
}

}  // namespace
}  // namespace idle_watch_test
}  // namespace roce::analyze

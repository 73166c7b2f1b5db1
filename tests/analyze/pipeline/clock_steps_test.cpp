// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/clock_steps.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace roce::analyze {
namespace clock_steps_test {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t begin = 1'700'000'000 * second;

/// Frames come as they are captured, stamped by a clock that may be set.
class Live {
 public:
  Live() { steps.begin({}); }
  /// So long after what came before, frames with so many ns from each to the next.
  std::vector<std::int64_t> come(std::int64_t after_ns, std::size_t count = 1, std::int64_t apart_ns = 1000,
                                 std::uint16_t point = 0) {
    true_ns_ += after_ns;
    std::vector<capture::Frame> frames(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 0) true_ns_ += apart_ns;
      frames[i].time_ns = begin + true_ns_ + set_ns_;
      frames[i].point = point;
    }
    return mend(std::move(frames));
  }
  std::vector<std::int64_t> mend(std::vector<capture::Frame> frames) {
    const auto now = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(true_ns_ + 1'000'000));
    steps.mend(frames, number_ + 1, now);
    number_ += frames.size();
    std::vector<std::int64_t> times;
    for (const capture::Frame& frame : frames) {
      const bool any = frame.time_ns != capture::no_time;
      times.push_back(any ? static_cast<std::int64_t>(static_cast<std::uint64_t>(frame.time_ns) - begin)
                          : capture::no_time);
    }
    return times;
  }
  void set(std::int64_t by_ns) { set_ns_ += by_ns; }
  [[nodiscard]] std::int64_t now() const { return true_ns_; }

  ClockSteps steps;

 private:
  std::int64_t true_ns_ = 0;
  std::int64_t set_ns_ = 0;
  std::uint64_t number_ = 0;
};

TEST(ClockSteps, LeavesTimesAloneThatMayBe) {
  Live live;
  EXPECT_EQ(live.come(0, 3, 10), (std::vector<std::int64_t>{0, 10, 20}));
  for (const std::int64_t silence : {1000L, 5 * second, 3600 * second, 86'400 * second}) {
    const std::vector<std::int64_t> times = live.come(silence);
    EXPECT_EQ(times.at(0), live.now());
  }
  // One batch that was filled for a minute.
  const std::int64_t filled = live.come(30 * second, 3, 30 * second).at(2);
  EXPECT_EQ(filled, live.now());
  // Interfaces a little out of step.
  const std::int64_t behind = live.come(0, 3, -500'000'000).at(2);
  EXPECT_EQ(behind, live.now());
  EXPECT_EQ(live.steps.count(), 0U);
}

TEST(ClockSteps, SetForwardByADayAndBackByAnHour) {
  Live live;
  live.come(0, 100);
  live.set(86'400 * second);
  std::vector<std::int64_t> times = live.come(2 * second, 3, 10);
  EXPECT_NEAR(static_cast<double>(times[0]), static_cast<double>(live.now()), 1e7);
  EXPECT_EQ(times[2] - times[0], 20);
  live.set(-90'000 * second);
  times = live.come(1000, 3, 10);
  EXPECT_NEAR(static_cast<double>(times[0]), static_cast<double>(live.now()), 1e7);
  EXPECT_EQ(times[2] - times[0], 20);
  EXPECT_EQ(live.steps.count(), 2U);
  ASSERT_EQ(live.steps.texts().size(), 2U);
  EXPECT_EQ(live.steps.texts()[0], "packet 101: set forward by 86400.0 s");
  EXPECT_EQ(live.steps.texts()[1], "packet 104: set back by 90000.0 s");
  // And from there on as before.
  const std::int64_t behind = times[2];
  EXPECT_EQ(live.come(5 * second)[0] - behind, 5 * second);
}

TEST(ClockSteps, WithinABatch) {
  Live live;
  live.come(0, 10);
  std::vector<capture::Frame> frames(4);
  const std::int64_t at = begin + live.now();
  frames[0].time_ns = at + 10;
  frames[1].time_ns = at + 20 - 3600 * second;
  frames[2].time_ns = capture::no_time;
  frames[3].time_ns = at + 40 - 3600 * second;
  const std::vector<std::int64_t> times = live.mend(frames);
  EXPECT_EQ(times[1], times[0]);
  EXPECT_EQ(times[2], capture::no_time);
  EXPECT_EQ(times[3] - times[1], 20);
  EXPECT_EQ(live.steps.count(), 1U);
}

TEST(ClockSteps, PointsHaveClocksOfTheirOwn) {
  Live live;
  live.come(0, 10, 1000, 0);
  live.set(-7 * second);
  live.come(0, 10, 1000, 1);  // seven seconds behind the other, from the beginning
  EXPECT_EQ(live.steps.count(), 0U);
}

TEST(ClockSteps, AnyStampsDoNoHarm) {
  Live live;
  for (const std::int64_t stamp : {INT64_MAX, INT64_MIN + 1, std::int64_t{0}, INT64_MAX, std::int64_t{-1}}) {
    for (int i = 0; i < 10; ++i) {
      std::vector<capture::Frame> frames(1);
      frames[0].time_ns = stamp;
      live.mend(frames);
    }
  }
  EXPECT_EQ(live.steps.count(), 4U);
  for (int i = 0; i < 100; ++i) {
    std::vector<capture::Frame> frames(1);
    frames[0].time_ns = i % 2 == 0 ? 0 : 1000 * second;
    live.mend(frames);
  }
  EXPECT_EQ(live.steps.texts().size(), ClockSteps::texts_kept);
}

}  // namespace
}  // namespace clock_steps_test
}  // namespace roce::analyze

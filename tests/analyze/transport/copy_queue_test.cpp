// SPDX-License-Identifier: Apache-2.0
#include "analyze/transport/copy_queue.hpp"

#include <gtest/gtest.h>

namespace roce::analyze {
namespace {

class CopyQueueTest : public ::testing::Test {
 protected:
  CopyQueueTest() { queue.begin(100); }
  void take(std::int64_t psn, std::int64_t lag_ns = CopyQueue::unknown_ns) {
    ASSERT_TRUE(queue.fits(psn, lag_ns)) << psn;
    queue.take(psn, 1, lag_ns);
  }

  CopyQueue queue;
};

TEST_F(CopyQueueTest, CopiesComeInTheOrderOfSending) {
  EXPECT_FALSE(queue.fits(101, CopyQueue::unknown_ns));
  for (std::int64_t psn = 100; psn < 104; ++psn) {
    EXPECT_FALSE(queue.sure());
    take(psn);
  }
  EXPECT_TRUE(queue.sure());
  EXPECT_FALSE(queue.fits(103, CopyQueue::unknown_ns));
}

TEST_F(CopyQueueTest, OfAReadOfSeveralPsnsThereIsOneCopy) {
  queue.take(100, 8, CopyQueue::unknown_ns);
  EXPECT_TRUE(queue.fits(108, CopyQueue::unknown_ns));
  EXPECT_FALSE(queue.fits(101, CopyQueue::unknown_ns));
}

TEST_F(CopyQueueTest, WhatIsSentAgainBeforeAnyCopyIsNoMirror) {
  queue.out_of_turn(105, 1, 110, true);
  EXPECT_FALSE(queue.fits(100, CopyQueue::unknown_ns));
}

TEST_F(CopyQueueTest, RepeatsAreCopiedWhereTheyWereSent) {
  for (std::int64_t psn = 100; psn < 105; ++psn) take(psn);
  for (std::int64_t psn = 102; psn < 108; ++psn) queue.out_of_turn(psn, 1, 108, true);
  for (std::int64_t psn = 105; psn < 108; ++psn) take(psn);
  for (std::int64_t psn = 102; psn < 108; ++psn) take(psn);
  take(108);
}

TEST_F(CopyQueueTest, WhatCameLateIsCopiedLate) {
  queue.out_of_turn(101, 1, 104, false);  // 100, 102, 103, 101, 104
  for (const std::int64_t psn : {100, 102, 103, 101, 104}) take(psn);
}

TEST_F(CopyQueueTest, ACopyThatIsMissingIsSkippedWhereTheLagFits) {
  take(100, 5'000);
  EXPECT_FALSE(queue.fits(103, 50'000));
  take(103, 6'000);
  EXPECT_FALSE(queue.fits(102, 6'000));
  EXPECT_FALSE(queue.fits(104, 100'000)) << "a repeat by a timer";
  take(104, 5'500);
}

TEST_F(CopyQueueTest, NothingBeforeTheFirst) {
  CopyQueue fresh;
  EXPECT_FALSE(fresh.fits(0, CopyQueue::unknown_ns));
  fresh.out_of_turn(5, 1, 8, true);
  EXPECT_FALSE(fresh.sure());
}

TEST_F(CopyQueueTest, ManyOutOfTurnAreBounded) {
  for (std::int64_t psn = 100; psn < 104; ++psn) take(psn);
  for (std::int64_t psn = 0; psn < 100'000; psn += 2) queue.out_of_turn(psn, 1, 1'000'000, true);
  EXPECT_TRUE(queue.fits(104, CopyQueue::unknown_ns));
}

}  // namespace
}  // namespace roce::analyze

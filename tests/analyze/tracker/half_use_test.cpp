// SPDX-License-Identifier: Apache-2.0
// What a flow by itself shows of another use of its queue pair number.
#include "analyze/tracker/half_use.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace half_use_test {
namespace {

constexpr std::int64_t us = 1000, ms = 1'000'000;

class Half {
 public:
  std::optional<UseTurn> request(std::int64_t after_ns, std::uint32_t psn, std::uint8_t opcode = write_only) {
    return take(after_ns, psn, opcode, 0);
  }
  std::optional<UseTurn> answer(std::int64_t after_ns, std::uint32_t psn, std::uint32_t msn,
                                std::uint8_t opcode = acknowledge, std::uint8_t syndrome = 0x1f) {
    return take(after_ns, psn, opcode, std::uint32_t{syndrome} << 24U | msn);
  }
  std::uint16_t port = 50'000;
  HalfUse use;

 private:
  std::optional<UseTurn> take(std::int64_t after_ns, std::uint32_t psn, std::uint8_t opcode,
                              std::uint32_t aeth) {
    PacketRecord r;
    r.time_ns = now_ns_ += after_ns;
    r.psn = psn;
    r.opcode = opcode;
    r.aeth = aeth;
    r.dma_length = 64;
    r.udp_source = port;
    r.flags = PacketRecord::has_ports | (aeth != 0 ? PacketRecord::has_aeth : 0);
    return use.take(r, dissect::opcode_info(opcode), ++frames_);
  }
  std::int64_t now_ns_ = 1;
  std::uint64_t frames_ = 0;
};

TEST(HalfUse, GoesOn) {
  Half half;
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_FALSE(half.request(10 * ms, 100 + i));
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_FALSE(half.answer(10 * ms, 300 + i, 7 + i));
  EXPECT_FALSE(half.answer(10 * ms, 304, 11));  // once more
}

/// The requester may have gone back to what it sent before the capture began.
TEST(HalfUse, StepsBackAreInDoubt) {
  Half half;
  half.request(0, 100);
  half.request(us, 101);
  const auto turn = half.request(ms, 90);
  ASSERT_TRUE(turn);
  EXPECT_FALSE(turn->sure);
  EXPECT_EQ(turn->number, 3U);
  EXPECT_EQ(turn->psn, 90U);
}

/// What was sent before cannot lie before the first request of all.
TEST(HalfUse, NothingIsSentAgainThatWasNeverSent) {
  Half half;
  half.use.begin_here();
  half.request(0, 100);
  half.request(us, 101);
  const auto again = half.request(ms, 100);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->sure);
  const auto before = half.request(ms, 90);
  ASSERT_TRUE(before);
  EXPECT_TRUE(before->sure);
}

TEST(HalfUse, AnotherPortIsAnotherUseWhereNothingIsSentAgain) {
  Half half;
  half.request(0, 100);
  half.request(us, 101);
  half.port = 50'001;
  EXPECT_FALSE(half.request(ms, 102));  // the next one, on another path
  Half other;
  other.request(0, 100);
  other.request(us, 101);
  other.port = 50'001;
  const auto again = other.request(ms, 100);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->sure);
  other.port = 50'002;
}

/// Hosts take another port after a timeout, to find another path.
TEST(HalfUse, AnotherPortProvesNothing) {
  for (const std::uint32_t psn : {90U, 400U}) {
    Half half;
    half.request(0, 100);
    half.request(us, 101);
    half.port = 50'001;
    const auto turn = half.request(ms, psn);
    ASSERT_TRUE(turn);
    EXPECT_FALSE(turn->sure);
  }
}

/// One far off may be damaged, or have strayed here.
TEST(HalfUse, TwoFarOffAreAnotherSequence) {
  Half half;
  half.request(0, 100);
  EXPECT_FALSE(half.request(ms, 5'000'000));
  EXPECT_FALSE(half.request(us, 101));
  EXPECT_FALSE(half.request(ms, 5'000'000));
  const auto turn = half.request(us, 5'000'001);
  ASSERT_TRUE(turn);
  EXPECT_TRUE(turn->sure);
  EXPECT_EQ(turn->psn, 5'000'000U);
  EXPECT_EQ(turn->number, 4U);
}

/// How many PSNs a READ takes hangs on the path MTU.
TEST(HalfUse, WhatFollowsAReadIsNext) {
  Half half;
  PacketRecord read;
  half.request(0, 100);
  read.time_ns = 2;
  read.psn = 101;
  read.opcode = read_request;
  read.dma_length = 16384;
  EXPECT_FALSE(half.use.take(read, dissect::opcode_info(read_request), 2));
  EXPECT_FALSE(half.request(ms, 105));
  EXPECT_FALSE(half.request(ms, 106));
}

/// Unless few answers are known, or it goes on near where it was.
TEST(HalfUse, CountsMessagesAnew) {
  for (const std::uint32_t known : {2U, 20U}) {
    for (const std::uint32_t psn : {400U, 50'000U}) {
      Half half;
      for (std::uint32_t i = 0; i < known; ++i) half.answer(us, 100 + i, 40 + i);
      const auto turn = half.answer(ms, psn, 1);
      ASSERT_TRUE(turn);
      EXPECT_EQ(turn->sure, known == 20 && psn == 50'000);
      EXPECT_EQ(turn->msn, 1U);
    }
  }
}

/// An ACK that was overtaken counts as many messages fewer as its PSN lies lower, or fewer.
TEST(HalfUse, AnAnswerThatWasOvertaken) {
  Half half;
  half.answer(0, 100, 40);
  half.answer(ms, 103, 43);
  EXPECT_FALSE(half.answer(us, 101, 41));
  const auto turn = half.answer(ms, 102, 42);
  EXPECT_FALSE(turn && turn->sure);
  EXPECT_FALSE(half.answer(us, 104, 44));
}

TEST(HalfUse, ThreeInARowAreNotOvertakenByOne) {
  Half half;
  half.answer(0, 100, 40);
  half.answer(us, 103, 43);
  const auto first = half.answer(2 * ms, 100, 40);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->sure);
  EXPECT_FALSE(half.answer(us, 101, 41));
  const auto turn = half.answer(us, 102, 42);
  ASSERT_TRUE(turn);
  EXPECT_TRUE(turn->sure);
  EXPECT_EQ(turn->number, 3U);
}

/// What is asked for again is acknowledged with the last PSN; a response to a READ has its own.
TEST(HalfUse, AnAckThatGoesBack) {
  Half half;
  half.answer(0, 102, 3);
  const auto turn = half.answer(ms, 52, 3);
  ASSERT_TRUE(turn);
  EXPECT_FALSE(turn->sure);
  Half reads;
  reads.answer(0, 102, 3, read_response_only);
  EXPECT_FALSE(reads.answer(ms, 101, 3, read_response_only));
}

TEST(HalfUse, TheTwoHalvesTurnTogether) {
  UseTurn request;
  request.silent_from_ns = 0;
  request.time_ns = 10 * ms;
  request.psn = 500;
  request.request = true;
  UseTurn answer;
  answer.silent_from_ns = 5 * us;
  answer.time_ns = 10 * ms + 6 * us;
  answer.psn = 502;
  answer.msn = 3;
  EXPECT_TRUE(request.answered_by(answer));
  UseTurn other = answer;
  other.msn = 4;  // counts a message that was not sent
  EXPECT_FALSE(request.answered_by(other));
  other = answer;
  other.psn = 499;
  EXPECT_FALSE(request.answered_by(other));
  other = answer;
  other.silent_from_ns = 11 * ms;  // went on meanwhile
  EXPECT_FALSE(request.answered_by(other));
  other = answer;
  other.time_ns = 9 * ms;
  EXPECT_FALSE(request.answered_by(other));
}

}  // namespace
}  // namespace half_use_test
}  // namespace roce::analyze

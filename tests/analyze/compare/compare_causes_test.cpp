// SPDX-License-Identifier: Apache-2.0
// Why packets were sent again, by what two captures made by hand show.
#include <gtest/gtest.h>

#include "tests/analyze/compare/compare_support.hpp"

namespace roce::analyze {
namespace compare_causes_test {
namespace {

constexpr std::uint8_t sequence_error = 0x60, not_ready = 0x2e;
constexpr std::int64_t us = 1000, ms = 1'000'000;

/// Both captures show 20 requests and ACKs, then what a test adds from 2 ms on, and others from 40 ms on.
class CompareCauses : public testing::Test {
 protected:
  CompareCauses() {
    points.talk(20);
    lost.in_second = false;
    damaged.flip = true;
    slow.delay_ns = 3 * ms;
  }
  void nak(std::uint32_t psn, std::int64_t at_ns, const TwoPoints::Way& way,
           std::uint8_t syndrome = sequence_error) {
    support::RoceFrame frame = points.frame(1, psn);
    frame.extended = {};
    frame.extended.aeth(syndrome, 20);
    points.send(1, frame, at_ns, way);
  }
  void read(std::uint32_t psn, std::uint32_t responses, std::int64_t at_ns) {
    support::RoceFrame frame = points.frame(0, psn);
    frame.bth.opcode = 0x0c;
    frame.extended = {};
    frame.extended.reth(0x1000, 7, responses * 256);
    frame.payload = {};
    points.send(0, frame, at_ns, {});
  }
  void response(std::uint32_t psn, std::uint8_t opcode, std::int64_t at_ns, const TwoPoints::Way& way) {
    support::RoceFrame frame = points.frame(1, psn);
    frame.bth.opcode = opcode;
    frame.extended = {};
    if (opcode != 0x0e) frame.extended.aeth(0x1f, 21);
    frame.payload = data;
    points.send(1, frame, at_ns, way);
  }
  /// The only row of repeats.
  RepeatRun row(std::uint32_t goes_on_at = 22) {
    points.talk(20, 40 * ms, goes_on_at);
    result = points.result();
    EXPECT_EQ(result.repeats.size(), 1U);
    if (result.repeats.empty()) return {};
    const RepeatRun& run = result.repeats[0];
    EXPECT_EQ(result.directions[run.direction].repeats[run.cause], run.packets);
    EXPECT_EQ(result.directions[0].repeats.packets() + result.directions[1].repeats.packets(), run.packets);
    return run;
  }

  TwoPoints points;
  std::vector<std::uint8_t> data = std::vector<std::uint8_t>(256, 0x33);
  TwoPoints::Way lost, damaged, slow, whole;
  CompareResult result;
};

TEST_F(CompareCauses, LostBetween) {
  points.send(0, 20, 2 * ms, lost);
  points.send(0, 21, 2 * ms + 10 * us);
  nak(20, 2 * ms + 50 * us, whole);
  points.send(0, 20, 2 * ms + 100 * us);
  points.send(0, 21, 2 * ms + 110 * us);
  const RepeatRun run = row();
  EXPECT_EQ(run.cause, RepeatCause::lost_between);
  EXPECT_EQ(run.packets, 2U);
  EXPECT_EQ(run.packet, 44U);
  EXPECT_EQ(run.last_packet, 45U);
  EXPECT_EQ(run.original, 41U);
  ASSERT_TRUE(run.evidence.has_value());
  EXPECT_EQ(run.evidence->point, 0U);
  EXPECT_EQ(run.evidence->packet, 41U);
  EXPECT_FALSE(run.waited_ns.has_value());
  EXPECT_FALSE(run.nak_lost);
}

TEST_F(CompareCauses, LostBetweenAndTheNakAsWell) {
  points.send(0, 20, 2 * ms, lost);
  points.send(0, 21, 2 * ms + 10 * us);
  nak(20, 2 * ms + 50 * us, lost);
  points.send(0, 20, 6 * ms);
  points.send(0, 21, 6 * ms + 10 * us);
  const RepeatRun run = row();
  EXPECT_EQ(run.cause, RepeatCause::lost_between);
  EXPECT_TRUE(run.nak_lost);
  EXPECT_EQ(run.waited_ns, 4 * ms);
}

TEST_F(CompareCauses, TheLastOfAWindowLostBetween) {
  points.send(0, 20, 2 * ms);
  points.send(0, 21, 2 * ms + 10 * us, lost);  // nothing behind it that makes the responder send a NAK
  points.send(0, 20, 6 * ms);
  points.send(0, 21, 6 * ms + 10 * us);
  const RepeatRun run = row();
  EXPECT_EQ(run.cause, RepeatCause::lost_between);
  ASSERT_TRUE(run.evidence.has_value());
  EXPECT_EQ(run.evidence->packet, 42U);
}

TEST_F(CompareCauses, DamagedBetween) {
  points.send(0, 20, 2 * ms, damaged);
  points.send(0, 21, 2 * ms + 10 * us);
  nak(20, 2 * ms + 50 * us, whole);
  points.send(0, 20, 2 * ms + 100 * us);
  points.send(0, 21, 2 * ms + 110 * us);
  EXPECT_EQ(row().cause, RepeatCause::damaged_between);
}

TEST_F(CompareCauses, OvertakenBetween) {
  points.send(0, 20, 2 * ms, slow);
  points.send(0, 21, 2 * ms + 10 * us);
  nak(20, 2 * ms + 50 * us, whole);
  points.send(0, 20, 6 * ms);
  points.send(0, 21, 6 * ms + 10 * us);
  const RepeatRun run = row();
  EXPECT_EQ(run.cause, RepeatCause::overtaken_between);
  EXPECT_EQ(run.evidence->packet, 41U);
}

// The NAK names the first of two that came late; the second one was thrown away because of the first.
TEST_F(CompareCauses, ThrownAwayBecauseOfAnOvertakenOne) {
  points.send(0, 20, 2 * ms, slow);
  points.send(0, 21, 2 * ms + 10 * us);
  points.send(0, 22, 2 * ms + 20 * us);
  points.send(0, 23, 2 * ms + 4 * ms);
  nak(21, 2 * ms + 4 * ms + 50 * us, whole);
  points.send(0, 21, 7 * ms);
  points.send(0, 22, 7 * ms + 10 * us);
  points.send(0, 23, 7 * ms + 20 * us);
  const RepeatRun run = row(24);
  EXPECT_EQ(run.cause, RepeatCause::overtaken_between);
  EXPECT_EQ(run.evidence->psn, 20U);
}

TEST_F(CompareCauses, AckLostBetween) {
  points.send(0, 20, 2 * ms);
  points.send(1, 20, 2 * ms + 50 * us, lost);
  points.send(0, 20, 6 * ms);
  const RepeatRun run = row(21);
  EXPECT_EQ(run.cause, RepeatCause::ack_lost_between);
  ASSERT_TRUE(run.evidence.has_value());
  EXPECT_EQ(run.evidence->point, 1U);
  EXPECT_EQ(run.evidence->packet, 42U);
  EXPECT_EQ(run.waited_ns, 4 * ms);
}

TEST_F(CompareCauses, AckDamagedBetween) {
  points.send(0, 20, 2 * ms);
  support::RoceFrame ack = points.frame(1, 20);
  ack.payload = {};
  points.send(1, ack, 2 * ms + 50 * us, damaged);
  points.send(0, 20, 6 * ms);
  EXPECT_EQ(row(21).cause, RepeatCause::damaged_between);
}

TEST_F(CompareCauses, NakLostBetween) {
  points.send(0, 20, 2 * ms);  // lost behind B
  points.send(0, 21, 2 * ms + 10 * us);
  nak(20, 2 * ms + 50 * us, lost);
  points.send(0, 20, 6 * ms);
  points.send(0, 21, 6 * ms + 10 * us);
  const RepeatRun run = row();
  EXPECT_EQ(run.cause, RepeatCause::nak_lost_between);
  EXPECT_TRUE(run.nak_lost);
  EXPECT_EQ(run.evidence->point, 1U);
}

TEST_F(CompareCauses, AnswerLaterThanTheTimer) {
  TwoPoints::Way way;
  way.delay_ns = 13 * ms;
  points.send(0, 20, 2 * ms);
  points.send(1, 20, 2 * ms + 50 * us, way);
  points.send(0, 20, 6 * ms);
  const RepeatRun run = row(21);
  EXPECT_EQ(run.cause, RepeatCause::answer_late);
  EXPECT_EQ(run.waited_ns, 4 * ms);
  EXPECT_EQ(run.answered_ns, 13 * ms + 50 * us);
}

// It answers when the repeat is there already: twice, for it had got both.
TEST_F(CompareCauses, ASlowResponderAnswersTwice) {
  points.send(0, 20, 2 * ms);
  points.send(0, 20, 6 * ms);
  points.send(1, 20, 7 * ms);
  points.send(1, 20, 7 * ms + 10 * us);
  EXPECT_EQ(row(21).cause, RepeatCause::answer_late);
}

TEST_F(CompareCauses, LostBehindIsAnsweredOnce) {
  points.send(0, 20, 2 * ms);
  points.send(0, 20, 6 * ms);
  points.send(1, 20, 6 * ms + 50 * us);
  const RepeatRun run = row(21);
  EXPECT_EQ(run.cause, RepeatCause::lost_behind);
  EXPECT_EQ(run.evidence->packet, 41U);
}

TEST_F(CompareCauses, LostBehindAsTheNakTells) {
  points.send(0, 20, 2 * ms);
  points.send(0, 21, 2 * ms + 10 * us);
  nak(20, 2 * ms + 50 * us, whole);
  points.send(0, 20, 2 * ms + 100 * us);
  points.send(0, 21, 2 * ms + 110 * us);
  EXPECT_EQ(row().cause, RepeatCause::lost_behind);
}

TEST_F(CompareCauses, AnsweredInTime) {
  points.send(0, 20, 2 * ms);
  points.send(1, 20, 2 * ms + 50 * us);
  points.send(0, 20, 6 * ms);
  const RepeatRun run = row(21);
  EXPECT_EQ(run.cause, RepeatCause::answer_passed);
  EXPECT_EQ(run.evidence->point, 0U);
}

TEST_F(CompareCauses, ReceiverNotReady) {
  points.send(0, 20, 2 * ms);
  nak(20, 2 * ms + 50 * us, whole, not_ready);
  points.send(0, 21, 2 * ms + 60 * us);
  nak(20, 2 * ms + 100 * us, whole);
  points.send(0, 20, 3 * ms);
  points.send(0, 21, 3 * ms + 10 * us);
  EXPECT_EQ(row().cause, RepeatCause::receiver_not_ready);
}

TEST_F(CompareCauses, ResponseLostBetween) {
  read(20, 3, 2 * ms);
  response(20, 0x0d, 2 * ms + 50 * us, whole);
  response(21, 0x0e, 2 * ms + 60 * us, lost);
  response(22, 0x0f, 2 * ms + 70 * us, whole);
  read(21, 2, 2 * ms + 200 * us);
  response(21, 0x0d, 2 * ms + 250 * us, whole);
  response(22, 0x0f, 2 * ms + 260 * us, whole);
  const RepeatRun run = row(23);
  EXPECT_EQ(run.direction, 1U);
  EXPECT_EQ(run.cause, RepeatCause::response_lost_between);
  EXPECT_EQ(run.packets, 2U);
}

TEST_F(CompareCauses, ResponseOvertakenBetween) {
  read(20, 3, 2 * ms);
  response(20, 0x0d, 2 * ms + 50 * us, whole);
  response(21, 0x0e, 2 * ms + 60 * us, slow);
  response(22, 0x0f, 2 * ms + 70 * us, whole);
  read(20, 3, 6 * ms);
  for (const std::uint32_t i : {0U, 1U, 2U})
    response(20 + i, static_cast<std::uint8_t>(0x0d + i), 6 * ms + (50 + 10 * i) * us, whole);
  points.talk(20, 40 * ms, 23);
  result = points.result();
  EXPECT_EQ(result.directions[0].repeats[RepeatCause::overtaken_between], 1U);
  EXPECT_EQ(result.directions[1].repeats[RepeatCause::overtaken_between], 3U);
}

// What the second capture missed did arrive, since it was acknowledged.
TEST_F(CompareCauses, WhatWasAcknowledgedWasNotLost) {
  points.send(0, 20, 2 * ms, lost);
  points.send(1, 20, 2 * ms + 50 * us, lost);
  points.send(0, 20, 6 * ms);
  EXPECT_EQ(row(21).cause, RepeatCause::ack_lost_between);
}

// B was not capturing any more: nobody knows.
TEST_F(CompareCauses, NothingIsToldBehindTheEndOfACapture) {
  points.send(0, 20, 2 * ms, lost);
  points.send(0, 20, 6 * ms, lost);
  result = points.result();
  ASSERT_EQ(result.repeats.size(), 1U);
  EXPECT_EQ(result.repeats[0].cause, RepeatCause::unknown);
  EXPECT_EQ(result.directions[0].not_covered, 2U);
}

// It may only have come late: nothing asked for it, and no timer is so short.
TEST_F(CompareCauses, WhatComesBehindLaterOnesNeedNotHaveBeenLost) {
  points.send(0, 21, 2 * ms);
  points.send(0, 20, 2 * ms + 10 * us);
  EXPECT_EQ(row().cause, RepeatCause::unknown);
}

TEST_F(CompareCauses, WhatANakNamesAndNobodyShowedWasLostUpstream) {
  points.send(0, 21, 2 * ms);
  nak(20, 2 * ms + 5 * us, whole);
  points.send(0, 20, 2 * ms + 20 * us);
  points.send(0, 21, 2 * ms + 30 * us);
  EXPECT_EQ(row().cause, RepeatCause::lost_before);
}

// Its first transmission may have passed before the captures began.
TEST(CompareCausesAtTheBeginning, AreUnknown) {
  TwoPoints points;
  points.send(0, 105, 1 * ms);
  points.send(0, 100, 2 * ms);
  points.send(0, 101, 2 * ms + 10 * us);
  points.talk(50, 3 * ms, 106);
  const CompareResult r = points.result();
  ASSERT_EQ(r.repeats.size(), 1U);
  EXPECT_EQ(r.repeats[0].cause, RepeatCause::unknown);
}

TEST_F(CompareCauses, RowsBeyondTheListAreCounted) {
  for (std::uint32_t i = 0; i < 4; ++i) {
    points.send(0, 20 + i, (2 + i * 5) * ms);
    points.send(1, 20 + i, (2 + i * 5) * ms + 50 * us, lost);
    points.send(0, 20 + i, (6 + i * 5) * ms);
    points.send(1, 20 + i, (6 + i * 5) * ms + 50 * us);
  }
  points.talk(20, 40 * ms, 24);
  CompareOptions options;
  options.repeats_limit = 3;
  const CompareResult r = points.result(options);
  EXPECT_EQ(r.repeats.size(), 3U);
  EXPECT_EQ(r.repeats_omitted, 1U);
  EXPECT_EQ(r.directions[0].repeats[RepeatCause::ack_lost_between], 4U);
}

}  // namespace
}  // namespace compare_causes_test
}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// READs issued again: was the response lost behind the capture, late, or did nothing happen to it?
#include "tests/analyze/tracker/reads.hpp"

namespace roce::analyze::tracker_reads_test {
namespace {

/// A requester that takes responses in order asks at once also for one that is only late.
TEST(TrackerReads, AResponseThatIsAskedForAtOnceMayBeLate) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 8);
  respond(wire, 124, 132);
  wire.now_ns += 10'000;
  const auto again = read(wire, 126, 6);
  wire.now_ns += 10'000;
  respond(wire, 126, 132, false);
  wire.finish();
  EXPECT_FALSE(wire.verdict(again).any_lost());
  EXPECT_FALSE(wire.verdict(again).has(Verdict::spurious));
}

/// 126 did not get there. What is asked for once more was lost as well, when it was given again, unless the
/// request crossed it: then it comes sooner than the missing response made it ask the first time.
TEST(TrackerReads, AResponseAskedForTwiceIsLostTwiceUnlessItCrossedTheRequest) {
  for (const bool crossed : {false, true}) {
    SCOPED_TRACE(crossed);
    Wire wire;
    warm_up(wire);
    read(wire, 124, 8);
    respond(wire, 124, 132);
    wire.now_ns += timer_ns;
    read(wire, 126, 6);
    wire.now_ns += 10'000;
    respond(wire, 126, 132, false);
    if (!crossed) wire.now_ns += 2 * timer_ns;
    const std::uint32_t from = crossed ? 126 : 128;
    const auto again = read(wire, from, 132 - from);
    respond(wire, from, 132, false);
    wire.finish();
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), crossed ? 1U : 2U);
    EXPECT_EQ(wire.verdict(again).lost(Lost::after_capture), crossed ? 0U : 1U);
    EXPECT_EQ(wire.verdict(again).any_lost(), !crossed);
  }
}

TEST(TrackerReads, AReadThatIsFirstAnsweredAtItsRepeatMayHaveBeenLostItself) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 4);
  read(wire, 128, 8);  // does not reach the responder
  respond(wire, 124, 128);
  wire.now_ns += timer_ns;
  read(wire, 126, 2);  // 126 was lost behind the capture
  read(wire, 128, 8);
  respond(wire, 126, 128, false);
  respond(wire, 128, 136);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 0U);
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 1U);
}

/// Who misses responses asks for them again. Where nobody does until the capture ends, either the capture
/// missed them, and perhaps what came then, or the network lost all at once.
TEST(TrackerReads, ResponsesThatNobodyAsksForAreAHole) {
  for (const bool ends_at_once : {false, true}) {
    SCOPED_TRACE(ends_at_once);
    Wire wire;
    warm_up(wire);
    read(wire, 124, 8);
    read(wire, 132, 8);
    read(wire, 140, 8);
    respond(wire, 124, 132);
    respond(wire, 140, 148);
    if (!ends_at_once) wire.now_ns += 100 * timer_ns;
    wire.talk({3, 0x33}, {4, 0x44}, 500, 2);
    wire.finish();
    const auto& rows = wire.result.gaps.rows;
    ASSERT_EQ(rows.size(), ends_at_once ? 0U : 1U);
    if (ends_at_once) continue;  // an answer may still be on its way
    EXPECT_EQ(rows[0].psns, 8U);
    EXPECT_TRUE(rows[0].odd);
    EXPECT_FALSE(rows[0].delivered);
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 0U);
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::by_capture), 0U);
  }
}

TEST(TrackerReads, AReadThatWasPassedOverLacksItsResponses) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 4);
  read(wire, 128, 8);
  read(wire, 136, 4);
  respond(wire, 124, 128);
  respond(wire, 136, 140);  // 128 to 135 were answered, too: the responder keeps the order
  wire.now_ns += 10'000;
  read(wire, 128, 8);
  read(wire, 136, 4);
  respond(wire, 128, 136);
  respond(wire, 136, 140);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 8U);
}

/// An ACK of what was sent behind a READ, and none of its answer: that had been sent (the responder keeps the
/// order), and the requester asks for it at once. What comes sooner than any answer to that was only late.
TEST(TrackerReads, AReadThatAnAckPassedOverLacksItsResponses) {
  for (const bool late : {false, true}) {
    SCOPED_TRACE(late);
    Wire wire;
    warm_up(wire);
    const auto ack = [&](std::uint32_t psn, std::uint32_t msn) {
      PacketRecord r = wire.make(b, a, acknowledge, psn);
      r.flags |= PacketRecord::has_aeth;
      r.aeth = 0x1f000000U | msn;
      r.time_ns = wire.now_ns += 20'000;
      wire.send(r);
    };
    for (std::uint32_t psn = 124; psn < 160; ++psn) {
      wire.request(a, b, psn);
      ack(psn, psn - 102);
    }
    read(wire, 160, 4);
    wire.request(a, b, 164);
    ack(164, 59);
    read(wire, 160, 4);
    wire.request(a, b, 164);
    if (late) respond(wire, 160, 164);
    wire.now_ns += 20'000;
    const auto again = wire.send(response(wire, 160, first));
    respond(wire, 161, 164, false);
    ack(164, 59);
    for (std::uint32_t psn = 165; psn < 175; ++psn) {
      wire.request(a, b, psn);
      ack(psn, psn - 105);
    }
    wire.finish();
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), late ? 0U : 4U);
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 0U);
    EXPECT_EQ(wire.verdict(again).cause, Cause::read_retry);
  }
}

TEST(TrackerReads, WhatWasAnsweredLongBeforeATimerRepeatsItIsSpurious) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 124; ++psn) wire.request(a, b, psn, read_request);
  for (std::uint32_t psn = 120; psn < 124; ++psn) {
    wire.send(wire.make(b, a, read_response_only, psn));
  }
  wire.now_ns += 27'000'000;
  std::uint32_t repeat = 0;
  for (std::uint32_t psn = 120; psn < 124; ++psn) repeat = wire.request(a, b, psn, read_request);
  wire.finish();
  EXPECT_TRUE(wire.verdict(repeat - 3).has(Verdict::spurious));
  EXPECT_TRUE(wire.verdict(repeat).has(Verdict::spurious));
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 0U);
}

TEST(TrackerReads, ARequesterThatHasTheAnswersBeforeLacksThisOne) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 124; ++psn) wire.request(a, b, psn, read_request);
  for (std::uint32_t psn = 120; psn < 124; ++psn) {
    wire.send(wire.make(b, a, read_response_only, psn));
  }
  wire.now_ns += 27'000'000;  // it waits for a timer, but does not ask for 120 and 121
  const auto repeat = wire.request(a, b, 122, read_request);
  wire.request(a, b, 123, read_request);
  wire.finish();
  EXPECT_FALSE(wire.verdict(repeat).has(Verdict::spurious));
  EXPECT_EQ(wire.verdict(repeat).lost(Lost::after_capture), 1U);
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 1U);
}

/// The timer sends a READ again with what had been acknowledged: whether its response arrived nothing tells,
/// so that it is neither spurious nor a loss. Once more before an answer says nothing new.
TEST(TrackerReads, AskingOnceMoreBeforeAnyAnswerSaysNothingNew) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 124; ++psn)
    wire.request(a, b, psn, psn == 122 ? read_request : write_only);
  wire.answer(b, a, 121);
  wire.send(wire.make(b, a, read_response_only, 122));
  wire.answer(b, a, 123);
  wire.now_ns += 5'000'000;
  for (std::uint32_t psn = 120; psn < 123; ++psn)
    wire.request(a, b, psn, psn == 122 ? read_request : write_only);
  const auto repeat = wire.request(a, b, 122, read_request);
  wire.request(a, b, 123);
  wire.finish();
  EXPECT_TRUE(wire.verdict(repeat).has(Verdict::retransmission));
  EXPECT_FALSE(wire.verdict(repeat).has(Verdict::spurious));
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 0U);
}

TEST(TrackerReads, ARepeatedResponseThatComesEvenLaterWasNotLost) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 8);
  respond(wire, 124, 132);
  wire.now_ns += 10'000;
  read(wire, 126, 6);
  wire.now_ns += 10'000;
  wire.send(response(wire, 126, first));
  PacketRecord held_back = response(wire, 127, middle);
  respond(wire, 128, 132, false);
  wire.now_ns += 10'000;
  read(wire, 127, 5);
  respond(wire, 127, 132, false);
  const auto last = static_cast<std::uint32_t>(wire.sent());
  held_back.time_ns = wire.now_ns += 1000;
  const auto late = wire.send(held_back);
  wire.finish();
  EXPECT_FALSE(wire.verdict(last).any_lost());
  EXPECT_TRUE(wire.verdict(late).has(Verdict::retransmission));
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 0U);
}

TEST(TrackerReads, AResponseThatWasLateHereIsNotLostBehind) {
  Wire wire;
  warm_up(wire);
  std::uint32_t psn = 124;
  read(wire, psn, 32);
  wire.send(response(wire, psn, first));
  PacketRecord held_back = response(wire, psn + 1, middle);
  respond(wire, psn + 2, psn + 32, false);
  held_back.time_ns = wire.now_ns += 1000;
  wire.send(held_back);
  for (psn += 32; psn < 124 + 6 * 32; psn += 32) {  // far on
    read(wire, psn, 32);
    respond(wire, psn, psn + 32);
  }
  read(wire, 125, 31);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 0U);
}

TEST(TrackerReads, ALateFirstResponseBehindAnAcknowledgementIsNoRepeat) {
  Wire wire;
  warm_up(wire);
  wire.request(a, b, 124);
  wire.request(a, b, 125, read_request);
  wire.answer(b, a, 124, nak_sequence);  // 124 was late; 125 was kept
  PacketRecord held_back = wire.make(b, a, read_response_only, 125);
  wire.request(a, b, 126);
  wire.answer(b, a, 126);
  held_back.time_ns = wire.now_ns += 1000;
  const auto late = wire.send(held_back);
  wire.finish();
  EXPECT_FALSE(wire.verdict(late).has(Verdict::retransmission));
  EXPECT_TRUE(wire.verdict(late).has(Verdict::out_of_order));
}

/// A requester that takes responses in order ignores what comes before the late one, and asks for it again.
TEST(TrackerReads, WhatCameBeforeALateResponseIsAskedForAgainAndNotLost) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 8);
  wire.send(response(wire, 124, first));
  PacketRecord late = response(wire, 125, middle);
  respond(wire, 126, 132, false);
  late.time_ns = wire.now_ns += 1000;
  wire.send(late);
  wire.now_ns += 40'000;
  read(wire, 125, 7);
  wire.now_ns += 4'000;
  const auto again = read(wire, 126, 6);
  wire.now_ns += 10'000;
  respond(wire, 125, 132, false);
  respond(wire, 126, 132, false);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 0U);
  EXPECT_EQ(wire.verdict(again).cause, Cause::read_retry);
}

/// Before the path MTU is known a READ seems to reach as far as the next request, and one between comes late.
TEST(TrackerReads, OneThatIsOvertakenAtTheBeginningMissesNothing) {
  Wire wire;
  read(wire, 100, 6);
  PacketRecord late = wire.make(a, b, read_request, 106);
  late.dma_length = 10 * 1024;
  read(wire, 116, 13);
  wire.send(late);
  for (std::uint32_t psn = 100; psn < 105; ++psn) wire.send(response(wire, psn, psn == 100 ? first : middle));
  PacketRecord end = response(wire, 105, last);  // it is overtaken as well
  wire.send(response(wire, 106, first));
  end.time_ns = wire.now_ns += 100;
  wire.send(end);
  respond(wire, 107, 116, false);
  respond(wire, 116, 129);
  for (std::uint32_t psn = 129; psn < 529; psn += 4) {
    read(wire, psn, 4);
    respond(wire, psn, psn + 4);
  }
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::by_capture), 0U);
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 0U);
}

}  // namespace
}  // namespace roce::analyze::tracker_reads_test

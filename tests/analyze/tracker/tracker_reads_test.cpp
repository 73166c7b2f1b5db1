// SPDX-License-Identifier: Apache-2.0
// READs issued again: was the response lost behind the capture, late, or did nothing happen to it?
#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_reads_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

constexpr std::uint8_t first = 0x0d;
constexpr std::uint8_t middle = 0x0e;
constexpr std::uint8_t last = 0x0f;

/// A READ of `count` packets, or what is still missing of it.
std::uint32_t read(Wire& wire, std::uint32_t psn, std::uint32_t count) {
  PacketRecord r = wire.make(a, b, read_request, psn);
  r.dma_length = count * 1024;
  return wire.send(r);
}

PacketRecord response(Wire& wire, std::uint32_t psn, std::uint8_t opcode) {
  PacketRecord r = wire.make(b, a, opcode, psn);
  r.payload = 1024;
  return r;
}

/// All responses from `psn` on to the end of the READ before `end`.
void respond(Wire& wire, std::uint32_t psn, std::uint32_t end, bool begins = true) {
  for (std::uint32_t at = psn; at < end; ++at) {
    const bool starts = at == psn && begins;
    wire.send(response(wire, at, at + 1 == end ? last : starts ? first : middle));
  }
}

/// Path MTU and IPv4 IDs are known after this.
void warm_up(Wire& wire) {
  wire.talk(a, b, 100, 20);
  read(wire, 120, 4);
  respond(wire, 120, 124);
}

constexpr std::int64_t timer_ns = 1'000'000;

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

TEST(TrackerReads, AResponseLostTwiceIsLostTwice) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 8);
  respond(wire, 124, 132);
  wire.now_ns += timer_ns;
  read(wire, 126, 6);  // 126 did not get there
  wire.now_ns += 10'000;
  respond(wire, 126, 132, false);
  wire.now_ns += 2 * timer_ns;
  const auto again = read(wire, 128, 4);  // nor 128, when it was given again
  respond(wire, 128, 132, false);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 2U);
  EXPECT_EQ(wire.verdict(again).lost(Lost::after_capture), 1U);
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

TEST(TrackerReads, ARequestThatCrossesTheResponseGivenAgainIsNoSecondLoss) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 8);
  respond(wire, 124, 132);
  wire.now_ns += timer_ns;
  read(wire, 126, 6);
  wire.now_ns += 10'000;
  respond(wire, 126, 132, false);
  // Sooner than the missing response made it ask the first time.
  const auto again = read(wire, 126, 6);
  respond(wire, 126, 132, false);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 1U);
  EXPECT_FALSE(wire.verdict(again).any_lost());
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

// Open: the READ that is asked for once more in the same pass is not called spurious.
TEST(TrackerReads, DISABLED_AskingOnceMoreBeforeAnyAnswerSaysNothingNew) {
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
  EXPECT_TRUE(wire.verdict(repeat).has(Verdict::spurious));
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

/// A NAK makes the sender repeat one packet alone; the responder keeps what came behind it.
TEST(TrackerReads, AResponderThatKeepsEarlyRequestsAnswersThemOnceTheHoleIsFilled) {
  Wire wire;
  warm_up(wire);
  const auto asked = wire.request(a, b, 124);
  wire.request(a, b, 125, read_request);
  wire.request(a, b, 126, read_request);
  wire.answer(b, a, 124, nak_sequence);
  wire.request(a, b, 124);     // also lost
  wire.now_ns += 100'000'000;  // timer
  const auto again = wire.request(a, b, 124);
  wire.request(a, b, 125, read_request);
  const auto kept = wire.send(wire.make(b, a, read_response_only, 125));
  wire.request(a, b, 126, read_request);
  const auto kept_too = wire.send(wire.make(b, a, read_response_only, 126));
  const auto second = wire.send(wire.make(b, a, read_response_only, 125));
  const auto second_too = wire.send(wire.make(b, a, read_response_only, 126));
  wire.finish();
  EXPECT_FALSE(wire.verdict(asked).has(Verdict::retransmission));
  EXPECT_EQ(wire.verdict(again).cause, Cause::timeout);
  EXPECT_FALSE(wire.verdict(kept).has(Verdict::retransmission));
  EXPECT_FALSE(wire.verdict(kept_too).has(Verdict::retransmission));
  EXPECT_EQ(wire.verdict(second).cause, Cause::read_retry);
  EXPECT_EQ(wire.verdict(second_too).cause, Cause::read_retry);
}

TEST(TrackerReads, WhatSeemedLostButWasKeptIsAnsweredTwice) {
  Wire wire;
  warm_up(wire);
  wire.request(a, b, 124);
  for (std::uint32_t psn = 125; psn < 129; ++psn) wire.request(a, b, psn, read_request);
  wire.now_ns += 100'000'000;  // 124 was lost, and the responder kept the READs
  wire.request(a, b, 124);
  for (std::uint32_t psn = 125; psn < 129; ++psn) wire.request(a, b, psn, read_request);
  std::array<std::uint32_t, 2> kept{};
  kept[0] = wire.send(wire.make(b, a, read_response_only, 125));
  kept[1] = wire.send(wire.make(b, a, read_response_only, 126));
  const auto repeat = wire.send(wire.make(b, a, read_response_only, 125));
  wire.send(wire.make(b, a, read_response_only, 126));
  const auto first_one = wire.send(wire.make(b, a, read_response_only, 127));
  wire.finish();
  EXPECT_FALSE(wire.verdict(kept[0]).has(Verdict::retransmission));
  EXPECT_FALSE(wire.verdict(kept[1]).has(Verdict::retransmission));
  EXPECT_EQ(wire.verdict(repeat).cause, Cause::read_retry);
  EXPECT_FALSE(wire.verdict(first_one).has(Verdict::retransmission));
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

TEST(TrackerReads, AReadOvertakenByTheFirstPacketsCapturedIsAnsweredOnce) {
  Wire wire;
  const PacketRecord overtaken = wire.make(a, b, read_request, 99);
  for (std::uint32_t psn = 100; psn < 108; ++psn) wire.request(a, b, psn);
  PacketRecord held_back = overtaken;
  held_back.time_ns = wire.now_ns += 1000;
  const auto late = wire.send(held_back);
  wire.send(wire.make(b, a, read_response_only, 99));
  wire.answer(b, a, 107);
  wire.now_ns += 10'000'000;
  wire.request(a, b, 99, read_request);
  const auto again = wire.send(wire.make(b, a, read_response_only, 99));
  wire.finish();
  EXPECT_FALSE(wire.verdict(late).has(Verdict::duplicate_capture));
  EXPECT_TRUE(wire.verdict(late).has(Verdict::out_of_order));
  EXPECT_EQ(wire.verdict(again).cause, Cause::read_retry);
}

/// Nothing shows whether the READ was lost or its responses were. Of a READ the later responses answer the
/// request that was issued last, too: else one standstill is taken for how long answers take, and the next
/// one for no silence.
TEST(TrackerReads, TheFirstResponsesToAReadThatTheTimerSentAgainAreNoRepeats) {
  Wire wire;
  warm_up(wire);
  constexpr std::uint32_t reads = 20;
  std::uint32_t psn = 124;
  for (std::uint32_t i = 0; i < reads; ++i, psn += 8) {
    read(wire, psn, 8);
    if (i % 4 == 3) {
      wire.now_ns += 134'000'000;
      read(wire, psn, 8);
    }
    respond(wire, psn, psn + 8);
  }
  wire.finish();
  EXPECT_EQ(Wire::resent(wire.flow(b, a), Cause::read_retry), 0U);
  EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::read_retry), reads / 4);
  EXPECT_EQ(wire.flow(b, a).sequence().gaps, 0U);
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 0U);
}

/// The first request was answered, slowly, or the second one: one set of responses is no proof of another.
TEST(TrackerReads, OneSetOfResponsesToAReadSentTwiceHasNoGap) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 8);
  wire.now_ns += 1'100'000;
  read(wire, 124, 8);
  respond(wire, 124, 132);
  read(wire, 132, 8);
  respond(wire, 132, 140);
  wire.finish();
  EXPECT_EQ(wire.flow(b, a).sequence().gaps, 0U);
}

/// A response behind the missing one asks for it, and for all requests behind the READ: no timer did.
TEST(TrackerReads, WhatGoesWithAReadAskedForAgainAtOnceIsNoTimeout) {
  for (const bool at_once : {true, false}) {
    Wire wire;
    warm_up(wire);
    read(wire, 124, 4);
    wire.request(a, b, 128);
    wire.send(response(wire, 124, first));
    wire.send(response(wire, 126, middle));
    wire.send(response(wire, 127, last));
    wire.now_ns += at_once ? 5000 : 67'000'000;
    read(wire, 125, 3);
    const auto write = wire.request(a, b, 128);
    respond(wire, 125, 128);
    wire.answer(b, a, 128);
    wire.finish();
    EXPECT_EQ(wire.verdict(write).cause, at_once ? Cause::read_retry : Cause::timeout);
  }
}

TEST(TrackerReads, ResponsesGivenAgainAreToldFromRequestsSentAgain) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 8);
  respond(wire, 124, 132);
  wire.now_ns += 10'000;
  read(wire, 126, 6);
  respond(wire, 126, 132, false);
  wire.finish();
  const Connection& c = wire.connection();
  EXPECT_EQ(c.sent[0].count(Event::retransmitted_read_retry), 1U);
  EXPECT_EQ(c.sent[0].count(Event::response_repeated), 0U);
  EXPECT_EQ(c.sent[1].count(Event::retransmitted_read_retry), 6U);
  EXPECT_EQ(c.sent[1].count(Event::response_repeated), 6U);
}

/// That one is missing is seen from those around it, also where the length of the READ is not known.
TEST(TrackerReads, AMissingResponseIsLostWhereLengthsAreCutToo) {
  for (const bool cut : {false, true}) {
    Wire wire;
    warm_up(wire);
    const auto ask = [&](std::uint32_t psn, std::uint32_t count) {
      PacketRecord r = wire.make(a, b, read_request, psn);
      r.dma_length = cut ? 0 : count * 1024;
      if (cut) r.more = static_cast<std::uint8_t>(r.more & ~unsigned{PacketRecord::has_reth});
      wire.send(r);
    };
    ask(124, 8);
    wire.send(response(wire, 124, first));
    wire.send(response(wire, 125, middle));
    (void)response(wire, 126, middle);  // lost on the way here
    for (std::uint32_t psn = 127; psn < 131; ++psn) wire.send(response(wire, psn, middle));
    wire.send(response(wire, 131, last));
    wire.now_ns += 10'000;
    ask(126, 6);
    respond(wire, 126, 132, false);
    wire.finish();
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 1U) << cut;
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 0U);
    EXPECT_GE(Wire::resent(wire.flow(b, a), Cause::read_retry), 5U);
  }
}

// A WRITE of three whose first packet is lost behind a READ: where the READ ends is not known.
TEST(TrackerReads, BehindAReadOfUnknownLengthNoOrderIsIllegal) {
  constexpr std::uint8_t write_first = 0x06, write_middle = 0x07, write_last = 0x08;
  for (const bool cut : {false, true}) {
    for (const std::uint32_t lost : {0U, 1U}) {
      SCOPED_TRACE(::testing::Message() << cut << lost);
      Wire wire;
      warm_up(wire);
      PacketRecord read = wire.make(a, b, read_request, 124);
      read.dma_length = cut ? 0 : 64;
      if (cut) read.more = static_cast<std::uint8_t>(read.more & ~unsigned{PacketRecord::has_reth});
      wire.send(read);
      PacketRecord begin = wire.make(a, b, write_first, 125);
      if (lost == 0) begin = wire.make(a, b, write_middle, 125);  // no First at all
      begin.payload = 1024;
      if (lost == 0) wire.send(begin);
      PacketRecord goes_on = wire.make(a, b, write_middle, 126);
      goes_on.payload = 1024;
      const std::uint32_t number = wire.send(goes_on);
      PacketRecord end = wire.make(a, b, write_last, 127);
      end.payload = 1024;
      wire.send(end);
      wire.finish();
      EXPECT_FALSE(wire.verdict(number).has(Verdict::illegal_sequence));
      // One behind the READ there is nothing between them, whatever it asks for.
      EXPECT_EQ(wire.connection().sent[0].count(Event::illegal_sequence), lost == 0 ? 1U : 0U);
    }
  }
}

TEST(TrackerReads, ALateCopyOfAResponseGivenAgainSinceIsACopy) {
  Wire wire;
  warm_up(wire);
  read(wire, 124, 4);
  wire.send(response(wire, 124, first));
  wire.send(response(wire, 125, middle));
  PacketRecord doubled = response(wire, 126, middle);
  const auto original = wire.send(doubled);
  wire.send(response(wire, 127, last));
  wire.now_ns += 10'000;
  read(wire, 125, 3);
  respond(wire, 125, 128, false);
  doubled.time_ns = wire.now_ns += 1000;
  const auto copy = wire.send(doubled);
  wire.finish();
  EXPECT_TRUE(wire.verdict(copy).has(Verdict::duplicate_network));
  EXPECT_FALSE(wire.verdict(copy).has(Verdict::retransmission));
  EXPECT_EQ(wire.verdict(copy).original, original);
  EXPECT_EQ(Wire::resent(wire.flow(b, a), Cause::read_retry), 3U);
}

// Open: the loss is told, but the READ that asks again is taken as the first.
TEST(TrackerReads, DISABLED_WhereTheCaptureBeginsInsideAReadItsLossIsSeen) {
  Wire wire;
  for (std::uint32_t psn = 106; psn < 116; ++psn) {
    if (psn == 110) continue;
    wire.send(response(wire, psn, psn == 115 ? last : middle));
  }
  const auto again = read(wire, 110, 6);
  const auto filled = wire.send(response(wire, 110, first));
  respond(wire, 111, 116, false);
  read(wire, 116, 4);
  respond(wire, 116, 120);
  wire.finish();
  EXPECT_EQ(wire.verdict(again).cause, Cause::read_retry);
  EXPECT_EQ(wire.verdict(filled).lost(Lost::before_capture), 1U);
  EXPECT_EQ(Wire::resent(wire.flow(b, a), Cause::read_retry), 6U);
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 1U);
  EXPECT_EQ(wire.flow(b, a).sequence().out_of_order, 0U);
}

TEST(TrackerReads, WhereTheCaptureBeginsInsideAReadNothingElseIs) {
  Wire wire;
  for (std::uint32_t psn = 106; psn < 116; ++psn) wire.send(response(wire, psn, psn == 115 ? last : middle));
  // PSNs of WRITEs in between, which the capture does not show
  for (std::uint32_t psn = 120; psn < 124; ++psn) wire.send(response(wire, psn, psn == 123 ? last : middle));
  read(wire, 124, 4);
  respond(wire, 124, 128);
  wire.finish();
  for (const Lost where : {Lost::before_capture, Lost::after_capture, Lost::by_capture})
    EXPECT_EQ(Wire::lost(wire.flow(b, a), where), 0U);
  EXPECT_EQ(wire.flow(b, a).sequence().gaps, 0U);
}

/// All answers were captured, but one was lost behind the capture: it takes until that came again.
/// The capture begins behind the READ, in the midst of its answers.
// Open: a request is taken as the first where the capture shows only its answers before.
TEST(TrackerReads, DISABLED_OneThatHadBeenAnsweredIsAskedForAgain) {
  Wire wire;
  respond(wire, 1050, 1064, false);
  wire.now_ns += 17'000;
  const auto again = read(wire, 1054, 10);
  wire.now_ns += 4'000;
  respond(wire, 1054, 1064);
  wire.talk(a, b, 1064, 20);
  wire.finish();
  EXPECT_EQ(wire.verdict(again).cause, Cause::read_retry);
  EXPECT_EQ(Wire::resent(wire.flow(b, a), Cause::read_retry), 10U);
}

TEST(TrackerReads, WhatWasAnsweredBeforeTheCaptureIsNotLostBehindIt) {
  Wire wire;
  respond(wire, 1050, 1064, false);
  read(wire, 1080, 4);
  wire.now_ns += 17'000;
  read(wire, 1030, 34);
  respond(wire, 1080, 1084);
  respond(wire, 1030, 1064);
  wire.talk(a, b, 1084, 20);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 0U);
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

/// Its answers came for the first time: the READ had not been executed, for it was behind what a NAK asked
/// for.
TEST(TrackerReads, AReadBehindANakIsAnsweredWhenItComesAgain) {
  Wire wire;
  warm_up(wire);
  constexpr std::uint8_t fetch_add = 0x14, atomic_acknowledge = 0x12;
  const auto answer_atomic = [&] {
    PacketRecord r = wire.make(b, a, atomic_acknowledge, 124);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1f000018U;
    wire.send(r);
  };
  wire.request(a, b, 124, fetch_add);
  for (std::uint32_t psn = 125; psn < 130; ++psn) wire.request(a, b, psn);
  answer_atomic();
  wire.answer(b, a, 125, nak_sequence);
  read(wire, 130, 4);
  wire.request(a, b, 134);
  wire.now_ns += 5'000;
  wire.request(a, b, 124, fetch_add);  // its answer was lost behind the capture
  for (std::uint32_t psn = 125; psn < 128; ++psn) wire.request(a, b, psn);
  answer_atomic();
  for (std::uint32_t psn = 128; psn < 130; ++psn) wire.request(a, b, psn);
  read(wire, 130, 4);
  wire.request(a, b, 134);
  wire.answer(b, a, 129);
  respond(wire, 130, 134);
  wire.answer(b, a, 134);
  wire.talk(a, b, 135, 5);
  wire.finish();
  EXPECT_EQ(wire.flow(b, a).sequence().out_of_order, 0U);
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 0U);
}

/// Eight READs come twice and are answered once, the first with that count of messages (MSN), each by `step`
/// more.
std::uint64_t responses_anew(std::uint32_t msn, std::uint32_t step) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (unsigned times = 0; times < 2; ++times) {
    for (std::uint32_t i = 0; i < 8; ++i) read(wire, 120 + i, 1);
    wire.now_ns += 4'000'000;
  }
  for (std::uint32_t i = 0; i < 8; ++i, msn += step) {
    PacketRecord r = response(wire, 120 + i, read_response_only);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1f000000U | msn;
    wire.send(r);
  }
  wire.finish();
  // Whether the first of them had been sent before nobody knows: a responder may execute long before it
  // answers.
  EXPECT_EQ(Wire::resent(wire.flow(b, a), Cause::read_retry), step != 0 ? 0U : 7U);
  return wire.connection().requester[0].trouble->responses_anew;
}

TEST(TrackerReads, WhatIsExecutedWhenItComesAgainIsKnownByItsCount) {
  EXPECT_EQ(responses_anew(21, 1), 8U) << "the READs were lost";
  EXPECT_LE(responses_anew(28, 0), 1U) << "the responses were, and are given again";
}

TEST(TrackerReads, ItLastsUntilWhatIsAskedForAgainHasCome) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  PacketRecord read = wire.make(a, b, read_request, 120);
  read.dma_length = 4096;
  const auto respond = [&](std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t i = from; i < to; ++i) {
      PacketRecord r = wire.make(b, a, i == from ? 0x0d : i == 3 ? 0x0f : 0x0e, 120 + i);
      r.payload = 1024;
      if (i == from || i == 3) {
        r.flags |= PacketRecord::has_aeth;
        r.aeth = 0x1f000000U | 21;
      }
      wire.send(r);
    }
  };
  const std::int64_t began = read.time_ns;
  wire.send(read);
  respond(0, 4);
  wire.now_ns += timer_ns;
  PacketRecord again = wire.make(a, b, read_request, 122);
  again.dma_length = 2048;
  wire.send(again);
  respond(2, 4);
  const std::int64_t ended = wire.now_ns;
  wire.talk(a, b, 124, 5);
  wire.finish();
  for (const OperationStats& stats : wire.connection().requester[0].operations) {
    if (stats.kind != OperationKind::read) continue;
    EXPECT_EQ(stats.count, 1U);
    EXPECT_EQ(stats.retried, 1U);
    EXPECT_EQ(stats.latency_ns.count(), 1U);
    EXPECT_EQ(stats.latency_ns.max(), static_cast<std::uint64_t>(ended - began));
  }
  EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::after_capture), 1U);
}

/// A requester that keeps what it got asks for what is missing alone.
TEST(TrackerReads, OneMissingResponseEndsTheRead) {
  for (const bool before : {true, false}) {
    Wire wire;
    warm_up(wire);
    const std::int64_t began_ns = wire.now_ns + 1000;
    read(wire, 124, 8);
    for (std::uint32_t psn = 124; psn < 132; ++psn) {
      const PacketRecord r = response(wire, psn, psn == 124 ? first : psn == 131 ? last : middle);
      if (psn != 127 || !before) wire.send(r);
    }
    wire.now_ns += 5'000;
    read(wire, 127, 1);
    wire.send(response(wire, 127, read_response_only));
    const auto took = static_cast<std::uint64_t>(wire.now_ns - began_ns);
    for (std::uint32_t psn = 132; psn < 260; psn += 4) {
      read(wire, psn, 4);
      respond(wire, psn, psn + 4);
    }
    wire.finish();
    const auto& operations = wire.connection().requester[0].operations;
    const auto reads = std::find_if(operations.begin(), operations.end(),
                                    [](const OperationStats& o) { return o.kind == OperationKind::read; });
    ASSERT_NE(reads, operations.end());
    EXPECT_EQ(reads->count, 34U) << before;
    EXPECT_EQ(reads->latency_ns.count(), 34U) << before;
    EXPECT_EQ(reads->latency_ns.max(), took) << before;
    EXPECT_EQ(reads->retried, 1U) << before;
  }
}

/// A responder that is asked again leaves what it was sending, and goes on from there: the rest was not sent
/// before.
TEST(TrackerReads, AResponderThatGoesBackAtOnce) {
  for (const bool ids : {true, false}) {
    Wire wire;
    const auto send = [&](PacketRecord r) {
      if (!ids) r.more = static_cast<std::uint8_t>(r.more & ~PacketRecord::has_ip_id);
      return wire.send(r);
    };
    warm_up(wire);
    read(wire, 124, 400);
    for (std::uint32_t psn = 124; psn < 324; ++psn) {
      const PacketRecord r = response(wire, psn, psn == 124 ? first : middle);
      if (psn != 300) send(r);
    }
    read(wire, 300, 224);
    for (std::uint32_t psn = 300; psn < 524; ++psn)
      send(response(wire, psn, psn == 300 ? first : psn == 523 ? last : middle));
    for (std::uint32_t psn = 524; psn < 700; psn += 4) {
      read(wire, psn, 4);
      respond(wire, psn, psn + 4);
    }
    wire.finish();
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::before_capture), 1U) << ids;
    EXPECT_EQ(Wire::lost(wire.flow(b, a), Lost::by_capture), 0U) << ids;
    EXPECT_EQ(Wire::resent(wire.flow(b, a), Cause::read_retry), 24U) << ids;
  }
}

}  // namespace
}  // namespace tracker_reads_test
}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// READs of which the capture has a part, or of which nobody knows how long they are.
#include "tests/analyze/tracker/reads.hpp"

namespace roce::analyze::tracker_reads_test {
namespace {

TEST(TrackerReadsInPart, AReadOvertakenByTheFirstPacketsCapturedIsAnsweredOnce) {
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

/// That one is missing is seen from those around it, also where the length of the READ is not known.
TEST(TrackerReadsInPart, AMissingResponseIsLostWhereLengthsAreCutToo) {
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
TEST(TrackerReadsInPart, BehindAReadOfUnknownLengthNoOrderIsIllegal) {
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

// Open: the loss is told, but the READ that asks again is taken as the first.
TEST(TrackerReadsInPart, DISABLED_WhereTheCaptureBeginsInsideAReadItsLossIsSeen) {
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

TEST(TrackerReadsInPart, WhereTheCaptureBeginsInsideAReadNothingElseIs) {
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
TEST(TrackerReadsInPart, DISABLED_OneThatHadBeenAnsweredIsAskedForAgain) {
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

TEST(TrackerReadsInPart, WhatWasAnsweredBeforeTheCaptureIsNotLostBehindIt) {
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

}  // namespace
}  // namespace roce::analyze::tracker_reads_test

// SPDX-License-Identifier: Apache-2.0
// Which step back is the reaction to which NAK.
#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_naks_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

TEST(TrackerNaks, ARepeatUnderWayThatPassesTheNakDoesNotUseItUp) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  wire.request(a, b, 120, read_request);
  wire.request(a, b, 121);
  wire.request(a, b, 122);
  wire.request(a, b, 124);
  wire.answer(b, a, 122);
  wire.answer(b, a, 123, nak_sequence);
  // The sender missed the READ's response, and goes back before it has heard the NAK.
  const auto read = wire.request(a, b, 120, read_request);
  wire.request(a, b, 121);
  wire.request(a, b, 122);
  wire.request(a, b, 124);
  // Now it has.
  const auto asked_for = wire.request(a, b, 123);
  const auto next = wire.request(a, b, 124);
  wire.finish();
  EXPECT_EQ(wire.verdict(read).cause, Cause::read_retry);
  EXPECT_EQ(wire.verdict(asked_for).cause, Cause::nak);
  EXPECT_EQ(wire.verdict(next).cause, Cause::nak);
}

TEST(TrackerNaks, ANakThatComesDuringTheRepeatExplainsItFromThereOn) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 126; ++psn) wire.request(a, b, psn);
  wire.now_ns += 500'000'000;
  const auto timeout = wire.request(a, b, 120);
  wire.answer(b, a, 122, nak_sequence);
  wire.request(a, b, 121);
  const auto asked_for = wire.request(a, b, 122);
  const auto next = wire.request(a, b, 123);
  wire.finish();
  EXPECT_EQ(wire.verdict(timeout).cause, Cause::timeout);
  EXPECT_EQ(wire.verdict(asked_for).cause, Cause::nak);
  EXPECT_EQ(wire.verdict(next).cause, Cause::nak);
}

TEST(TrackerNaks, TheLateHeadOfARunHasTheRunsCause) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 124; ++psn) wire.request(a, b, psn);
  wire.now_ns += 500'000'000;
  wire.request(a, b, 120);  // an earlier run, by a timer
  for (std::uint32_t psn = 121; psn < 124; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 121, nak_sequence);
  const PacketRecord early = wire.make(a, b, write_only, 121);
  wire.request(a, b, 122);
  wire.request(a, b, 123);
  wire.answer(b, a, 121);
  wire.answer(b, a, 123);
  wire.request(a, b, 124);
  PacketRecord late = early;
  late.time_ns = wire.now_ns += 1000;
  const auto head = wire.send(late);
  wire.finish();
  EXPECT_TRUE(wire.verdict(head).has(Verdict::retransmission));
  EXPECT_EQ(wire.verdict(head).cause, Cause::nak);
}

TEST(TrackerNaks, ASecondReactionAtOnceComesFromTheSameNak) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 126; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 120, nak_sequence);  // doubled on its way to the sender, behind the capture
  wire.now_ns += 10'000;                 // the way there and back
  wire.request(a, b, 120);
  wire.request(a, b, 121);
  wire.answer(b, a, 120);
  for (std::uint32_t psn = 122; psn < 127; ++psn) wire.request(a, b, psn);
  const auto again = wire.request(a, b, 121);
  wire.finish();
  EXPECT_EQ(wire.verdict(again).cause, Cause::nak);
}

TEST(TrackerNaks, ARunThatBeganAfterSilenceIsTheTimersThroughout) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 126; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 123, nak_sequence);  // never reached the sender
  wire.request(a, b, 126, read_request);
  wire.now_ns += 5'000'000;
  for (std::uint32_t psn = 121; psn < 126; ++psn) wire.request(a, b, psn);
  const auto read = wire.request(a, b, 126, read_request);
  wire.finish();
  EXPECT_EQ(wire.verdict(read).cause, Cause::read_retry);
}

TEST(TrackerNaks, AfterSilenceItIsTheTimer) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 126; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 120, nak_sequence);
  for (std::uint32_t psn = 120; psn < 126; ++psn) wire.request(a, b, psn);
  wire.now_ns += 67'000'000;
  const auto again = wire.request(a, b, 120);
  wire.finish();
  EXPECT_EQ(wire.verdict(again).cause, Cause::timeout);
}

TEST(TrackerNaks, ARefusalNamesThePacketOfItsPsn) {
  for (const bool captured : {true, false}) {
    Wire wire;
    wire.talk(a, b, 100, 20);
    const auto first = wire.request(a, b, 120, 0x06);  // RDMA WRITE First, Middle, Middle, Last
    wire.request(a, b, 121, 0x07);
    const auto middle = captured ? wire.request(a, b, 122, 0x07) : 0;
    wire.request(a, b, 123, 0x08);
    wire.answer(b, a, 122, nak_access);
    wire.finish();
    const Connection& c = wire.connection();
    ASSERT_EQ(c.requester[0].trouble->refused.size(), 1U);
    const RefusedRequest& refused = c.requester[0].trouble->refused.front();
    EXPECT_EQ(refused.psn, 122U);
    EXPECT_EQ(refused.request_frame, middle);
    EXPECT_NE(refused.request_frame, first);
    if (!captured) continue;
    EXPECT_EQ(refused.opcode, 0x07);
    EXPECT_TRUE(refused.has_reth);  // of the message
    EXPECT_EQ(refused.virtual_address, 0x7f0000000000U + 120);
  }
}

TEST(TrackerNaks, ARefusedReadIsTheReadWhateverPsnOfItsIsNamed) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  PacketRecord read = wire.make(a, b, read_request, 120);
  read.dma_length = 256 * 8;
  const auto frame = wire.send(read);
  wire.request(a, b, 128);
  wire.answer(b, a, 122, nak_access);
  wire.finish();
  const Connection& c = wire.connection();
  ASSERT_EQ(c.requester[0].trouble->refused.size(), 1U);
  EXPECT_EQ(c.requester[0].trouble->refused.front().opcode, read_request);
  EXPECT_EQ(c.requester[0].trouble->refused.front().request_frame, frame);
}

/// Its second copy comes when all is confirmed; the next loss is one all the same.
TEST(TrackerNaks, AStaleNakIsForgotten) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  std::uint32_t psn = 120;
  for (unsigned times = 0; times < 4; ++times, psn += 8) {
    for (std::uint32_t i = 0; i < 8; ++i) wire.request(a, b, psn + i);
    PacketRecord nak = wire.make(b, a, acknowledge, psn + 3);
    nak.flags |= PacketRecord::has_aeth;
    nak.aeth = std::uint32_t{nak_sequence} << 24U;
    wire.send(nak);
    for (std::uint32_t i = 3; i < 8; ++i) wire.request(a, b, psn + i);
    wire.answer(b, a, psn + 7);
    nak.time_ns = wire.now_ns += 1000;
    wire.send(nak);
  }
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 4U);
  EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::nak), 20U);
}

/// The packet that it asks for was sent before, and one behind it that made the responder ask.
// Open: what it asks for is taken as sent for the first time.
TEST(TrackerNaks, DISABLED_ACaptureThatBeginsWithOne) {
  Wire wire;
  wire.answer(b, a, 103, nak_sequence);
  for (std::uint32_t i = 3; i < 8; ++i) wire.request(a, b, 100 + i);
  wire.answer(b, a, 107);
  wire.talk(a, b, 108, 20);
  wire.finish();
  EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::nak), 2U);
  EXPECT_TRUE(wire.verdict(2).has(Verdict::retransmission));
  EXPECT_FALSE(wire.verdict(4).has(Verdict::retransmission)) << "how far the sender had come is not known";
}

TEST(TrackerNaks, ACaptureThatBeginsWithAnRnrNak) {
  Wire wire;
  wire.answer(b, a, 103, rnr_code_14);
  wire.now_ns += 1'280'000;
  for (std::uint32_t i = 3; i < 8; ++i) wire.request(a, b, 100 + i);
  wire.answer(b, a, 107);
  wire.talk(a, b, 108, 20);
  wire.finish();
  EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::rnr), 1U);
}

/// Some NICs begin the message again of which a packet was lost.
TEST(TrackerNaks, TheWholeMessageAgain) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  std::uint32_t psn = 120;
  const auto part = [&](std::uint32_t i) {
    PacketRecord r = wire.make(a, b, i == 0 ? 0x06 : i == 7 ? 0x08 : 0x07, psn + i);
    r.payload = 1024;
    r.dma_length = i == 0 ? 8192 : 0;
    return wire.send(r);
  };
  std::vector<std::uint32_t> repeats;
  for (unsigned times = 0; times < 6; ++times, psn += 8) {
    for (std::uint32_t i = 0; i < 8; ++i) part(i);
    wire.answer(b, a, psn + 5, nak_sequence);
    for (std::uint32_t i = 0; i < 8; ++i) repeats.push_back(part(i));
    wire.answer(b, a, psn + 7);
  }
  wire.finish();
  for (const std::uint32_t repeat : repeats) {
    EXPECT_EQ(wire.verdict(repeat).cause, Cause::nak) << "frame " << repeat;
  }
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 6U);
  EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::nak), 48U);
}

/// A message of 16 packets from `psn` on.
void message(Wire& wire, std::uint32_t psn, std::uint32_t from = 0) {
  for (std::uint32_t i = from; i < 16; ++i) {
    PacketRecord r = wire.make(a, b, i == 0 ? 0x06 : i == 15 ? 0x08 : 0x07, psn + i);
    r.payload = 1024;
    r.dma_length = i == 0 ? 16 * 1024 : 0;
    if (i == 15) r.flags |= PacketRecord::ack_requested;
    wire.send(r);
  }
}

/// The sender did not hear of it: its timer sends all again from the oldest on, and the next loss is one.
TEST(TrackerNaks, ALostNak) {
  for (const std::int64_t timer_ns : {300'000, 1'048'000, 67'000'000}) {
    Wire wire;
    wire.talk(a, b, 100, 20);
    message(wire, 120);
    const auto nak = wire.answer(b, a, 130, nak_sequence);
    wire.now_ns += timer_ns;
    message(wire, 120);
    wire.answer(b, a, 135);
    for (std::uint32_t psn = 136; psn < 200; psn += 16) {
      message(wire, psn);
      wire.answer(b, a, psn + 5, nak_sequence);
      message(wire, psn, 5);
      wire.answer(b, a, psn + 15);
    }
    wire.finish();
    EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 5U) << timer_ns;
    EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::timeout), 16U) << timer_ns;
    const RequesterTrouble& trouble = *wire.connection().requester[0].trouble;
    EXPECT_EQ(trouble.needless[static_cast<std::size_t>(SpuriousReason::unheard_nak)], 10U) << timer_ns;
    EXPECT_EQ(trouble.worst_chain.unheard_nak, nak) << timer_ns;
    EXPECT_EQ(trouble.timeouts, 1U) << timer_ns;
  }
}

/// What goes back to just where the NAK asked heard of it, however late: it alone confirmed what is before.
TEST(TrackerNaks, ASlowReactionIsNoTimer) {
  for (const bool ids : {true, false}) {
    for (const std::int64_t reaction_ns : {800'000, 2'000'000, 8'000'000}) {
      Wire wire;
      for (std::uint32_t psn = 56; psn < 184; psn += 16) {
        const auto part = [&](std::uint32_t i) {
          PacketRecord r = wire.make(a, b, i == 0 ? 0x06 : i == 15 ? 0x08 : 0x07, psn + i);
          r.payload = 1024;
          r.dma_length = i == 0 ? 16 * 1024 : 0;
          if (!ids) r.ip_id = 0;
          wire.send(r);
        };
        for (std::uint32_t i = 0; i < 16; ++i) part(i);
        if (psn >= 120) {
          wire.answer(b, a, psn + 5, nak_sequence);
          wire.now_ns += reaction_ns;
          for (std::uint32_t i = 5; i < 16; ++i) part(i);
        }
        wire.answer(b, a, psn + 15);
      }
      wire.finish();
      EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::nak), 44U) << ids << ' ' << reaction_ns;
      EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 4U) << ids << ' ' << reaction_ns;
      EXPECT_EQ(wire.connection().requester[0].trouble->nak_reaction_ns.count(), 4U) << reaction_ns;
    }
  }
}

}  // namespace
}  // namespace tracker_naks_test
}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// Responders that keep what comes before its turn and ask for one packet at a time.
#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_selective_repeat_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};
constexpr std::int64_t timeout_ns = 20'000'000;

class TrackerKeeping : public ::testing::Test {
 protected:
  std::uint32_t send(std::uint32_t psn, std::uint8_t opcode = write_only) {
    return wire.send(wire.make(a, b, opcode, psn));
  }
  std::uint32_t respond(std::uint32_t psn) { return wire.send(wire.make(b, a, read_response_only, psn)); }
  /// One packet is asked for and sent again alone, and then all is confirmed.
  void fill_one_hole(std::uint32_t from) {
    for (std::uint32_t psn = from; psn < from + 10; ++psn) send(psn);
    wire.answer(b, a, from + 2, nak_sequence);
    send(from + 2);
    wire.answer(b, a, from + 9);
  }
  void SetUp() override {
    wire.talk(a, b, 100, 20);
    fill_one_hole(120);
    fill_one_hole(130);
  }

  Wire wire;
};

TEST_F(TrackerKeeping, AReadThatWasKeptIsAnsweredForTheFirstRequestAndThenForTheRepeat) {
  send(140);  // lost behind the capture
  send(141, read_request);
  send(142);
  wire.now_ns += timeout_ns;
  send(140);
  send(141, read_request);
  send(142);
  const auto first = respond(141);
  const auto second = respond(141);
  wire.answer(b, a, 142);
  wire.finish();
  EXPECT_FALSE(wire.verdict(first).has(Verdict::retransmission));
  EXPECT_EQ(wire.verdict(second).cause, Cause::read_retry);
}

TEST_F(TrackerKeeping, TheReadThatItWaitsForIsAnsweredOnceAndTheOneBehindItTwice) {
  send(140, read_request);  // lost behind the capture
  send(141, read_request);
  wire.now_ns += timeout_ns;
  send(140, read_request);
  send(141, read_request);
  const auto awaited = respond(140);
  const auto kept = respond(141);
  const auto again = respond(141);
  wire.finish();
  EXPECT_FALSE(wire.verdict(awaited).has(Verdict::retransmission));
  EXPECT_FALSE(wire.verdict(kept).has(Verdict::retransmission));
  EXPECT_EQ(wire.verdict(again).cause, Cause::read_retry);
}

TEST_F(TrackerKeeping, AfterSilenceTheTimerGoesBackNotTheNak) {
  for (std::uint32_t psn = 140; psn < 150; ++psn) send(psn);
  wire.answer(b, a, 142, nak_sequence);
  const auto asked = send(142);
  wire.answer(b, a, 149);  // which the sender never gets
  wire.now_ns += timeout_ns;
  std::uint32_t timer[3]{};
  for (std::uint32_t i = 0; i < 3; ++i) timer[i] = send(145 + i);
  wire.finish();
  EXPECT_EQ(wire.verdict(asked).cause, Cause::nak);
  for (const std::uint32_t frame : timer) EXPECT_EQ(wire.verdict(frame).cause, Cause::timeout);
}

TEST_F(TrackerKeeping, EachNakIsALossOfItsOwn) {
  for (std::uint32_t psn = 140; psn < 160; ++psn) send(psn);
  wire.answer(b, a, 142, nak_sequence);
  wire.answer(b, a, 145, nak_sequence);
  send(142);
  send(145);
  wire.answer(b, a, 159);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 0U);
  EXPECT_GE(Wire::lost(wire.flow(a, b), Lost::after_capture), 3U);  // 122, 132 and 145 at least
}

/// No IPv4 ID tells what was sent when: what a NAK asks for alone goes on no pass, though each lies behind
/// the one asked for before.
TEST_F(TrackerKeeping, NewPacketsAheadOfWhatTheNextNakAsksForLeaveNothingOut) {
  const auto send_plain = [&](std::uint32_t psn) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.more = static_cast<std::uint8_t>(r.more & ~PacketRecord::has_ip_id);
    r.ip_id = 0;
    return wire.send(r);
  };
  for (std::uint32_t psn = 140; psn < 180; ++psn) send_plain(psn);
  for (std::uint32_t psn = 142; psn < 160; psn += 3) {
    wire.answer(b, a, psn, nak_sequence);
    wire.now_ns += 5000;
    send_plain(psn);
    wire.now_ns += 5000;
  }
  wire.answer(b, a, 160, nak_sequence);
  for (std::uint32_t psn = 180; psn < 183; ++psn) send_plain(psn);
  const auto again = send_plain(160);
  for (std::uint32_t psn = 183; psn < 186; ++psn) send_plain(psn);
  wire.now_ns += 5000;
  wire.answer(b, a, 163, nak_sequence);
  const auto more = send_plain(163);
  wire.now_ns += 5000;
  wire.answer(b, a, 185);
  wire.finish();
  EXPECT_EQ(wire.verdict(again).cause, Cause::nak);
  EXPECT_EQ(wire.verdict(more).cause, Cause::nak);
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 0U);
  EXPECT_GE(Wire::lost(wire.flow(a, b), Lost::after_capture), 6U);
  EXPECT_EQ(wire.flow(a, b).sequence().out_of_order, 0U);
}

TEST_F(TrackerKeeping, AnOvertakenHeadOfTheTimersRunIsNoCopy) {
  for (std::uint32_t psn = 140; psn < 150; ++psn) send(psn);
  wire.answer(b, a, 149);
  wire.talk(a, b, 150, 100);  // long enough ago to be forgotten
  wire.now_ns += timeout_ns;
  const PacketRecord head = wire.make(a, b, write_only, 140);
  for (std::uint32_t psn = 141; psn < 145; ++psn) send(psn);
  PacketRecord late = head;
  late.time_ns = wire.now_ns += 1000;
  const auto frame = wire.send(late);
  wire.finish();
  EXPECT_FALSE(wire.verdict(frame).has(Verdict::duplicate_capture));
  EXPECT_EQ(wire.verdict(frame).cause, Cause::timeout);
}

}  // namespace
}  // namespace tracker_selective_repeat_test
}  // namespace roce::analyze

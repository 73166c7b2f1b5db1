// SPDX-License-Identifier: Apache-2.0
// What a receiver behind the capture missed, and what was only late or thrown away.
#include "analyze/tracker.hpp"
#include "tests/analyze/tracker_support.hpp"

namespace roce::analyze {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

TEST(TrackerLosses, ANakOfTheNextPacketAfterTheRepeatTakesNothingBack) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 126; ++psn) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    wire.send(r);
  }
  wire.answer(b, a, 121, nak_sequence);
  for (std::uint32_t psn = 121; psn < 126; ++psn) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    wire.send(r);
  }
  wire.answer(b, a, 122, nak_sequence);  // of the repeat
  for (std::uint32_t psn = 122; psn < 126; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 125);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 2U);
}

TEST(TrackerLosses, WhatCameBeforeItsTurnWasThrownAwayNotLost) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  const PacketRecord early = wire.make(a, b, write_only, 120);
  wire.request(a, b, 121);
  wire.request(a, b, 122);
  PacketRecord late = early;
  late.time_ns = wire.now_ns += 1000;
  wire.send(late);
  wire.answer(b, a, 121, nak_sequence);  // 121 was there, when 120 was not
  wire.request(a, b, 121);
  wire.request(a, b, 122);
  wire.answer(b, a, 122);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 0U);
}

TEST(TrackerLosses, AHoleInARepeatOfDeliveredDataIsALossOfTheRepeat) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 126; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 125);
  wire.now_ns += 67'000'000;  // which did not reach the sender
  wire.request(a, b, 120);
  wire.request(a, b, 121);
  const PacketRecord gone = wire.make(a, b, write_only, 122);
  static_cast<void>(gone);
  const auto shows = wire.request(a, b, 123);
  wire.request(a, b, 124);
  wire.request(a, b, 125);
  wire.answer(b, a, 125);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 1U);
  EXPECT_EQ(wire.verdict(shows).lost, Lost::before_capture);
}

TEST(TrackerLosses, WhatASenderSkipsIsNotLost) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t psn = 120; psn < 126; ++psn) wire.request(a, b, psn);
  wire.answer(b, a, 125);
  wire.now_ns += 67'000'000;
  wire.request(a, b, 120);
  wire.request(a, b, 121);
  wire.request(a, b, 124);  // no ID is missing
  wire.request(a, b, 125);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::before_capture), 0U);
}

TEST(TrackerLosses, BehindWhatTheCaptureMissedALossStillShows) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  wire.request(a, b, 121);  // 120 went by unseen
  wire.answer(b, a, 121);
  wire.talk(a, b, 122, 5);
  wire.request(a, b, 127);
  wire.request(a, b, 128);
  wire.answer(b, a, 127, nak_sequence);
  wire.request(a, b, 127);
  wire.request(a, b, 128);
  wire.answer(b, a, 128);
  wire.finish();
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::by_capture), 1U);
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::after_capture), 1U);
}

}  // namespace
}  // namespace roce::analyze

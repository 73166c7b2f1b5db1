// SPDX-License-Identifier: Apache-2.0
// Of two capture points the one where a connection is followed ends while something is wrong.
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_hand_over_test {
namespace {

constexpr End a{1, 0x11}, b{2, 0x22};

/// Two points on one way, the first near a, until it ends.
struct TwoPoints {
  Wire wire{FlowTable::default_limit, true};
  bool first_ended = false;

  /// Its frame at the first point.
  std::uint32_t pass(PacketRecord record, bool lost = false) {
    const bool from_a = record.key.src == tracker_host(a.host);
    std::uint32_t frame = 0;
    for (const std::uint32_t turn : {0U, 1U}) {
      record.point = from_a ? turn : turn ^ 1U;
      record.path = 7 + record.point;
      record.time_ns += turn * 300;
      if ((turn != 0 && lost) || (record.point == 0 && first_ended)) continue;
      const std::uint32_t number = wire.send(record);
      if (record.point == 0) frame = number;
    }
    return frame;
  }
  std::uint32_t request(std::uint32_t psn, bool lost = false) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.flags |= PacketRecord::ack_requested;
    return pass(r, lost);
  }
  void answer(std::uint32_t psn, std::uint8_t syndrome = 0x1f) {
    PacketRecord r = wire.make(b, a, acknowledge, psn);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = std::uint32_t{syndrome} << 24U | (syndrome == 0x1f ? psn + 1 : psn);
    pass(r);
  }
  void talk(std::uint32_t psn, std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) {
      request(psn + i);
      answer(psn + i);
    }
  }
};

/// What waits for its explanation is explained before it is compared for the last time: what was said of a
/// packet then stays said, and is what the connection counts.
TEST(TrackerHandOver, WhatWaitedIsExplainedBeforeItIsCompared) {
  TwoPoints both;
  both.talk(0, 50);
  const std::uint32_t lost = both.request(50, true);
  for (std::uint32_t psn = 51; psn < 56; ++psn) both.request(psn);
  both.answer(50, nak_sequence);
  const std::uint32_t again = both.request(50);
  for (std::uint32_t psn = 51; psn < 56; ++psn) both.request(psn);
  both.first_ended = true;
  both.answer(55);
  both.talk(56, 700);
  both.wire.finish();
  const Connection& c = both.wire.connection();
  EXPECT_EQ(c.sent[0].count(Event::lost_between_points), 1U);
  EXPECT_EQ(c.sent[0].count(Event::lost_after_capture), 0U);
  EXPECT_EQ(c.sent[0].count(Event::lost_before_capture), 0U);
  EXPECT_EQ(both.wire.verdict(lost).lost(Lost::after_capture), 1U);
  EXPECT_TRUE(both.wire.verdict(lost).has(Verdict::lost_between_points));
  EXPECT_EQ(both.wire.verdict(again).cause, Cause::nak);
  EXPECT_EQ(both.wire.verdict(again).lost(Lost::after_capture), 0U);
  EXPECT_EQ(c.packets[0], 762U);
  both.wire.expect_all_counted();
}

}  // namespace
}  // namespace tracker_hand_over_test
}  // namespace roce::analyze

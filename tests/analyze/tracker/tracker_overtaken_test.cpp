// SPDX-License-Identifier: Apache-2.0
// Repeats that come late: of which pass they are, and that nothing was lost.
#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_overtaken_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

constexpr std::uint8_t write_first = 0x06;
constexpr std::uint8_t write_middle = 0x07;
constexpr std::uint8_t write_last = 0x08;

PacketRecord part(Wire& wire, std::uint32_t psn, std::uint32_t first, std::uint32_t end) {
  const std::uint8_t opcode = psn == first ? write_first : psn + 1 == end ? write_last : write_middle;
  PacketRecord r = wire.make(a, b, opcode, psn);
  r.payload = 1024;
  r.dma_length = (end - first) * 1024;
  return r;
}

/// A message of eight packets of which the third is lost, then the fifth in the repeat comes behind a second
/// repeat that a NAK for it asked for.
struct LateRepeat {
  explicit LateRepeat(bool comes) {
    wire.talk(a, b, 100, 20);
    for (std::uint32_t psn = 120; psn < 128; ++psn) {
      const PacketRecord r = part(wire, psn, 120, 128);
      if (psn != 122) wire.send(r);
    }
    wire.answer(b, a, 122, nak_sequence);
    PacketRecord held;
    for (std::uint32_t psn = 122; psn < 128; ++psn) {
      const PacketRecord r = part(wire, psn, 120, 128);
      if (psn == 124) held = r;
      if (psn != 124) wire.send(r);
    }
    wire.answer(b, a, 124, nak_sequence);
    for (std::uint32_t psn = 124; psn < 128; ++psn) wire.send(part(wire, psn, 120, 128));
    if (comes) late = wire.send(held);
    wire.answer(b, a, 127);
    next = wire.send(part(wire, 128, 128, 130));
    wire.send(part(wire, 129, 128, 130));
    wire.answer(b, a, 129);
    wire.finish();
  }
  Wire wire;
  std::uint32_t late = 0;
  std::uint32_t next = 0;
};

TEST(TrackerOvertaken, ARepeatBehindTheNextPassWasNotLost) {
  LateRepeat seen(true);
  EXPECT_EQ(Wire::lost(seen.wire.flow(a, b), Lost::before_capture), 1U);  // the third packet, at first
  EXPECT_EQ(seen.wire.verdict(seen.late).cause, Cause::nak);
  EXPECT_EQ(Wire::resent(seen.wire.flow(a, b), Cause::nak), 10U);
}

TEST(TrackerOvertaken, ARepeatThatNeverCameWasLost) {
  LateRepeat seen(false);
  EXPECT_EQ(Wire::lost(seen.wire.flow(a, b), Lost::before_capture), 2U);
  EXPECT_EQ(Wire::resent(seen.wire.flow(a, b), Cause::nak), 9U);
}

TEST(TrackerOvertaken, ItDoesNotChangeWhatTheSenderIsAt) {
  LateRepeat seen(true);
  EXPECT_FALSE(seen.wire.verdict(seen.next).has(Verdict::illegal_sequence));
}

}  // namespace
}  // namespace tracker_overtaken_test
}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// Messages of which packets were missing at first: lost before the capture and sent again, or only late. They
// are operations as others are.
#include <algorithm>

#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_messages_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};
constexpr std::uint8_t write_first = 0x06, write_middle = 0x07, write_last = 0x08;
constexpr std::uint32_t pmtu = 1024;

std::uint8_t opcode_of(std::uint32_t i, std::uint32_t packets) {
  return i == 0 ? write_first : i + 1 == packets ? write_last : write_middle;
}

/// Packet `i` of a WRITE of so many.
PacketRecord part(Wire& wire, std::uint32_t first, std::uint32_t i, std::uint32_t packets) {
  PacketRecord r = wire.make(a, b, opcode_of(i, packets), first + i);
  r.payload = pmtu;
  r.dma_length = i == 0 ? packets * pmtu : 0;
  return r;
}

void nak(Wire& wire, std::uint32_t psn) {
  wire.answer(b, a, psn, nak_sequence);
}

const OperationStats& writes(const Wire& wire) {
  static const OperationStats none;
  const auto& all = wire.connection().requester[0].operations;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [](const OperationStats& s) { return s.kind == OperationKind::write; });
  return found == all.end() ? none : *found;
}

/// Eight packets from PSN 200 on, of which the capture does not show `gone`; then all from there on again.
void go_back(Wire& wire, std::uint32_t gone, std::uint32_t shown_from) {
  for (std::uint32_t i = 0; i < 8; ++i) {
    PacketRecord r = part(wire, 200, i, 8);
    if (i < gone || i >= shown_from) wire.send(r);
  }
  nak(wire, 200 + gone);
  wire.now_ns += 10'000;
  for (std::uint32_t i = gone; i < 8; ++i) wire.send(part(wire, 200, i, 8));
  wire.answer(b, a, 207);
}

TEST(TrackerMessages, APartThatCameAgainMakesThemWhole) {
  for (const std::uint32_t gone : {1U, 3U, 6U}) {
    Wire wire;
    wire.talk(a, b, 180, 20);
    const std::int64_t began = wire.now_ns + 1000;
    go_back(wire, gone, gone + 1);
    const std::int64_t ended = wire.now_ns;
    wire.talk(a, b, 208, 5);
    wire.finish();
    const OperationStats& stats = writes(wire);
    EXPECT_EQ(stats.count, 26U) << gone;
    EXPECT_EQ(stats.bytes, 25 * 64 + 8 * pmtu);
    EXPECT_EQ(stats.packets, 33U);
    EXPECT_EQ(stats.retried, 1U);
    EXPECT_EQ(stats.latency_ns.count(), 26U);
    EXPECT_EQ(stats.latency_ns.max(), static_cast<std::uint64_t>(ended - began));
    EXPECT_EQ(stats.size_bytes.max(), 8 * pmtu);
    EXPECT_EQ(stats.bytes, wire.connection().requester[0].new_bytes);
  }
}

/// When the first packet was sent first nobody knows: counted, not measured.
TEST(TrackerMessages, OneWhoseBeginningWasLostIsNotMeasured) {
  Wire wire;
  wire.talk(a, b, 180, 20);
  go_back(wire, 0, 2);
  wire.talk(a, b, 208, 5);
  wire.finish();
  const OperationStats& stats = writes(wire);
  EXPECT_EQ(stats.count, 26U);
  EXPECT_EQ(stats.bytes, 25 * 64 + 8 * pmtu);
  EXPECT_EQ(stats.retried, 1U);
  EXPECT_EQ(stats.latency_ns.count(), 25U);
}

/// The end of one and the beginning of the next are missing.
TEST(TrackerMessages, TwoThatLackTheirMeetingAreTwo) {
  Wire wire;
  wire.talk(a, b, 180, 20);
  for (std::uint32_t i = 0; i < 16; ++i) {
    PacketRecord r = part(wire, i < 8 ? 200 : 208, i % 8, 8);
    if (i < 6 || i > 9) wire.send(r);
  }
  wire.answer(b, a, 204);  // not of all that came of the first
  nak(wire, 206);
  wire.now_ns += 10'000;
  for (std::uint32_t i = 6; i < 16; ++i) wire.send(part(wire, i < 8 ? 200 : 208, i % 8, 8));
  wire.answer(b, a, 215);
  wire.finish();
  const OperationStats& stats = writes(wire);
  EXPECT_EQ(stats.count, 22U);
  EXPECT_EQ(stats.bytes, 20 * 64 + 16 * pmtu);
  EXPECT_EQ(stats.retried, 2U);
  EXPECT_EQ(stats.latency_ns.count(), 21U);
}

TEST(TrackerMessages, PacketsThatOvertakeEachOtherMakeOneMessage) {
  constexpr std::uint32_t order[] = {1, 0, 3, 2, 6, 4, 5, 7};
  Wire wire;
  wire.talk(a, b, 180, 20);
  std::vector<PacketRecord> sent;
  for (std::uint32_t i = 0; i < 8; ++i) sent.push_back(part(wire, 200, i, 8));
  std::int64_t at = wire.now_ns;
  for (const std::uint32_t i : order) {
    sent[i].time_ns = at += 100;
    wire.send(sent[i]);
  }
  wire.now_ns = at;
  wire.answer(b, a, 207);
  wire.talk(a, b, 208, 5);
  wire.finish();
  const OperationStats& stats = writes(wire);
  EXPECT_EQ(stats.count, 26U);
  EXPECT_EQ(stats.bytes, 25 * 64 + 8 * pmtu);
  EXPECT_EQ(stats.retried, 0U);
  EXPECT_EQ(stats.latency_ns.count(), 26U);
}

/// What the capture missed does not come any more: an operation, of which not all is known.
TEST(TrackerMessages, OneThatTheCaptureMissedAPartOfCounts) {
  for (const std::uint32_t missed : {0U, 4U, 7U}) {
    Wire wire;
    wire.talk(a, b, 180, 20);
    for (std::uint32_t i = 0; i < 8; ++i) {
      PacketRecord r = part(wire, 200, i, 8);
      if (i != missed) wire.send(r);
    }
    wire.answer(b, a, 207);
    wire.talk(a, b, 208, 5);
    wire.finish();
    const OperationStats& stats = writes(wire);
    EXPECT_EQ(stats.count, 26U) << missed;
    EXPECT_EQ(stats.bytes, 25 * 64 + 7 * pmtu) << missed;
    EXPECT_EQ(stats.latency_ns.count(), 25U) << missed;
    EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::by_capture), 1U) << missed;
  }
}

/// The sum over time is what the flows say, whatever was taken back.
TEST(TrackerMessages, LossesOverTimeAddUp) {
  Wire wire;
  wire.talk(a, b, 180, 20);
  go_back(wire, 3, 5);
  wire.talk(a, b, 208, 5);
  wire.request(a, b, 214);  // 213 comes behind its turn
  wire.answer(b, a, 214);
  PacketRecord late = wire.make(a, b, write_only, 213);
  wire.send(late);
  wire.talk(a, b, 215, 5);
  wire.finish();
  std::uint64_t over_time = 0, of_flows = 0;
  for (const Series::Bucket& bucket : wire.result.series.buckets()) over_time += bucket.lost;
  for (const Flow& flow : wire.result.flows) {
    for (const std::uint64_t lost : flow.sequence().lost) of_flows += lost;
  }
  EXPECT_EQ(over_time, of_flows);
}

}  // namespace
}  // namespace tracker_messages_test
}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// The bounds of the tracker: full tables, and packets that nobody would send.
#include "analyze/tracker.hpp"
#include "tests/analyze/tracker_support.hpp"

namespace roce::analyze {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

TEST(Tracker, TheLongestIdleFlowsMakeRoomAndComeBackAsNewOnes) {
  constexpr std::size_t limit = 32;
  Wire wire(limit);
  wire.talk(a, b, 100, 10);
  for (std::uint32_t i = 0; i < 200; ++i) wire.talk({3, 0x1000 + i}, {4, 0x2000 + i}, i, 2);
  wire.talk(a, b, 110, 10);
  wire.finish();
  EXPECT_LE(wire.result.flows.size(), limit);
  EXPECT_GT(wire.result.evicted_flows, 300U);
  EXPECT_GE(wire.result.evicted_packets, 600U);
  const Flow& again = wire.flow(a, b);
  EXPECT_EQ(again.packets, 10U);
  EXPECT_GT(again.id, 400U);
  const Connection& last = wire.result.connections.back();
  EXPECT_TRUE(last.paired());
  EXPECT_EQ(last.requester[0].first_psn, 110U);
  wire.expect_all_counted();
}

TEST(Tracker, FlowsThatWaitedAreCountedWhenTheyAreEvicted) {
  Wire wire(16);
  wire.port = 4791;
  for (std::uint32_t i = 0; i < 500; ++i) wire.request({1, 0}, {2, 0x200 + i}, i);
  wire.finish();
  EXPECT_LE(wire.result.flows.size(), 16U);
  wire.expect_all_counted();
}

TEST(Tracker, AStrayOfAnEvictedFlowIsCounted) {
  Wire wire(16);
  wire.talk(a, b, 100, 10);
  wire.request(a, b, 5'000'000);
  for (std::uint32_t i = 0; i < 100; ++i) wire.talk({3, 0x1000 + i}, {4, 0x2000 + i}, i, 2);
  wire.finish();
  wire.expect_all_counted();
}

TEST(Tracker, TimesThatNoPacketCanHaveDoNotOverflow) {
  constexpr std::int64_t odd[] = {capture::no_time, INT64_MIN + 1, INT64_MAX, 0, 1};
  Wire wire;
  wire.talk(a, b, 0, 5);
  for (std::uint32_t i = 5; i < 60; ++i) {
    PacketRecord request = wire.make(a, b, write_only, i % 7 == 0 ? i - 2 : i);
    request.time_ns = odd[i % 5];
    wire.send(request);
    PacketRecord ack = wire.make(b, a, acknowledge, i);
    ack.flags |= PacketRecord::has_aeth;
    ack.aeth = 0x1f000000U + i;
    ack.time_ns = odd[i / 5 % 5];
    wire.send(ack);
  }
  wire.finish();
  EXPECT_LT(wire.connection().requester[0].idle_ns, std::uint64_t{1} << 62U);
  wire.expect_all_counted();
}

TEST(Tracker, AFlowMayLoseItsPartnerWhileTheTwoArePaired) {
  constexpr std::uint32_t limit = 8;
  Wire wire(limit);
  // Two sequences wait for the other direction: followed, the second one is a flow of its own.
  for (const std::uint32_t psn : {0U, 0x500000U, 0x500001U}) wire.request(a, b, psn);
  for (std::uint32_t i = 0; i < limit - 2; ++i) wire.request({3, 0}, {2, 0x1000 + i}, i, ud_send_only);
  wire.request(b, a, 0);  // pairs them, and for that flow the one idle longest leaves: a's
  wire.finish();
  EXPECT_LE(wire.result.flows.size(), limit);
  EXPECT_GT(wire.result.evicted_flows, 0U);
}

TEST(Tracker, AConnectionBeginsWithItsFirstPacketThatCounts) {
  Wire wire;
  constexpr std::uint32_t left_out = 10;
  for (std::uint32_t psn = 0; psn < 20; ++psn) {
    for (const bool answer : {false, true}) {
      PacketRecord r = answer ? wire.make(b, a, acknowledge, psn) : wire.make(a, b, write_only, psn);
      if (answer) r.flags |= PacketRecord::has_aeth;
      r.aeth = answer ? 0x1f000000U + psn + 1 : 0;
      if (psn < left_out) r.flags &= static_cast<std::uint8_t>(~PacketRecord::selected);
      wire.send(r);
    }
  }
  wire.finish();
  EXPECT_EQ(wire.connection().first_frame, 2 * left_out + 1);
}

}  // namespace
}  // namespace roce::analyze

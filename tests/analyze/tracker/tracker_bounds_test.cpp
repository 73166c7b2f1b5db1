// SPDX-License-Identifier: Apache-2.0
// The bounds of the tracker: full tables, and packets that nobody would send.
#include <malloc.h>

#include "analyze/tracker/tracker.hpp"
#include "analyze/transport/psn_ring.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_bounds_test {
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
  EXPECT_GT(wire.result.departed.flows, 300U);
  EXPECT_GE(wire.result.departed.packets, 600U);
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
  EXPECT_GT(wire.result.departed.flows, 0U);
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

/// Guesses are taken back over PSNs that packets can put as far apart as they like.
TEST(PsnRing, LooksAtNoMoreThanItHoldsHoweverFarTheRange) {
  PsnRing ring;
  RingBudget budget;
  constexpr std::int64_t far = std::int64_t{1} << 40U;
  for (std::int64_t psn = 0; psn < 100; ++psn) {
    Seen seen;
    seen.psn = psn * (far / 100);
    ring.put(seen, 0, budget);
  }
  std::size_t visited = 0;
  ring.for_each_in(0, far, [&](const Seen&) { ++visited; });
  EXPECT_LE(visited, 100U);
  EXPECT_GT(visited, 0U);
  ring.release(budget);
  EXPECT_EQ(budget.left, RingBudget::total);
}

/// READs that are refused, given up, asked for again and answered after all, in turns.
TEST(Tracker, RequestsGivenUpDoNotPileUp) {
  Wire wire;
  wire.talk(a, b, 0, 20);
  std::size_t before = 0;
  std::uint32_t psn = 20;
  for (int round = 0; round < 2000; ++round) {
    if (round == 500)
      before = mallinfo2().uordblks;  // with sanitizers always 0: they look for leaks themselves
    for (std::uint32_t i = 0; i < 40; ++i) wire.request(a, b, psn + i, read_request);
    wire.answer(b, a, psn + 1, nak_sequence);
    for (const std::uint32_t again : {psn, psn + 1}) {
      wire.now_ns += 500'000'000;
      for (std::uint32_t i = 0; i < 20; ++i) wire.request(a, b, again + i, read_request);
    }
    for (const std::uint32_t answer : {psn, psn + 3, psn, psn + 30}) {
      wire.send(wire.make(b, a, read_response_only, answer));
    }
    psn += 40;
  }
  const std::size_t after = mallinfo2().uordblks;
  EXPECT_LT(after, before + 8 * 1024 * 1024);  // the verdicts of 180 000 packets are in a file
  wire.finish();
  wire.expect_all_counted();
}

/// Each could slow down any of the others; nothing tells which.
/// Four WRITEs, of which the second is lost before the capture: a NAK names it, and the sender goes back.
void talk_with_a_loss(Wire& wire, End from, End to, std::uint32_t psn) {
  wire.request(from, to, psn);
  wire.answer(to, from, psn);
  wire.request(from, to, psn + 2);
  wire.answer(to, from, psn + 1, nak_sequence);
  for (std::uint32_t i = 1; i < 4; ++i) wire.request(from, to, psn + i);
  wire.answer(to, from, psn + 3);
}

std::size_t memory_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(Tracker, AnIdleConnectionInTroubleIsConcludedAndStaysListed) {
  Wire wire;
  talk_with_a_loss(wire, a, b, 100);
  const End others[] = {{3, 0x33}, {4, 0x44}};
  wire.talk(others[0], others[1], 100, 200);
  wire.retire_idle(wire.sent() - 100);
  // Its packets go on where they were, but it is over: another one begins.
  wire.talk(a, b, 104, 3);
  wire.retire_idle(wire.sent() - 100);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 3U);
  const Connection& first = wire.connection(0);
  EXPECT_TRUE(first.paired());
  EXPECT_EQ(first.state, Connection::State::open);
  EXPECT_EQ(first.packets[0] + first.packets[1], 8U);
  EXPECT_EQ(first.sent[0].count(Event::lost_before_capture), 1U);
  EXPECT_EQ(first.sent[1].count(Event::nak_sequence_error), 1U);
  EXPECT_EQ(first.requester[0].next_psn, 104U);
  const Connection& again = wire.connection(2);
  EXPECT_EQ(again.requester[0].first_psn, 104U);
  EXPECT_TRUE(again.sent[0].empty());
  EXPECT_EQ(wire.result.departed.flows, 0U);
  wire.expect_all_counted();
}

TEST(Tracker, IdleConnectionsInTroubleKeepOnlyTheirResults) {
  constexpr std::uint32_t connections = 2000;
  Wire wire;
  for (std::uint32_t i = 0; i < connections; ++i)
    talk_with_a_loss(wire, {1, 0x1000 + i}, {2, 0x8000 + i}, 7 * i);
  const std::uint64_t last = wire.sent();
  wire.talk(a, b, 100, 100);
  const std::size_t before = memory_in_use();
  wire.retire_idle(last + 64);
  const std::size_t after = memory_in_use();
  // Zero where the allocator does not count.
  if (before != 0) {
    EXPECT_GE(before, after + std::size_t{1000} * connections) << before << " to " << after;
  }
  wire.retire_idle(last + 64);
  wire.finish();
  EXPECT_EQ(wire.result.connections.size(), connections + 1);
  EXPECT_EQ(wire.result.departed.connections, 0U);
  for (std::uint32_t i = 0; i < connections; ++i)
    EXPECT_EQ(wire.connection(i).sent[0].count(Event::lost_before_capture), 1U);
  wire.expect_all_counted();
}

TEST(Tracker, ConcludedConnectionsLeaveWhenTheyFillHalfOfTheTable) {
  constexpr std::size_t limit = 64;
  Wire wire(limit);
  for (std::uint32_t i = 0; i < 28; ++i) talk_with_a_loss(wire, {1, 0x1000 + i}, {2, 0x8000 + i}, 7 * i);
  const std::uint64_t last = wire.sent();
  wire.talk(a, b, 100, 100);
  wire.retire_idle(last + 64);
  wire.finish();
  EXPECT_LE(wire.result.flows.size(), limit / 2);
  EXPECT_GT(wire.result.departed.connections, 10U);
  // Whether listed or not, each loss counts.
  std::uint64_t lost = wire.result.departed.sequence.lost[static_cast<std::size_t>(Lost::before_capture)];
  for (const Flow& flow : wire.result.flows) lost += Wire::lost(flow, Lost::before_capture);
  EXPECT_EQ(lost, 28U);
  EXPECT_EQ(wire.result.departed.idle_flows, wire.result.departed.flows);
  wire.expect_all_counted();
}

TEST(Tracker, AConnectionInTroubleTakesNoMoreThanAFewKibibytes) {
  constexpr std::uint32_t connections = 4000;
  Wire wire;
  const auto add = [&](std::uint32_t i) { talk_with_a_loss(wire, {1, 0x1000 + i}, {2, 0x8000 + i}, 7 * i); };
  for (std::uint32_t i = 0; i < connections; ++i) add(i);
  const std::size_t half = memory_in_use();
  for (std::uint32_t i = connections; i < 2 * connections; ++i) add(i);
  const std::size_t whole = memory_in_use();
  // With its share of the verdicts, 8 packets of 32 bytes, and the 7 packets that its episode holds.
  if (half != 0) {
    EXPECT_LE((whole - half) / connections, 5600U);
  }
  wire.finish();
  EXPECT_EQ(wire.result.connections.size(), 2 * connections);
}

TEST(Tracker, NothingButCnpsMakesNoConnection) {
  constexpr std::uint8_t cnp = 0x81;
  constexpr std::uint32_t flows = 4000;
  Wire wire;
  wire.port = 4791;
  for (std::uint32_t i = 0; i < flows; ++i) {
    const bool back = i % 2 != 0;
    wire.send(wire.make({back ? 2U : 1U, 0}, {back ? 1U : 2U, 0x100 + i}, cnp, 0));
  }
  wire.finish();
  EXPECT_EQ(wire.result.flows.size(), flows);
  EXPECT_TRUE(wire.result.connections.empty());
  wire.expect_all_counted();
}

}  // namespace
}  // namespace tracker_bounds_test
}  // namespace roce::analyze

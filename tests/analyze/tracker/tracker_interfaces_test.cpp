// SPDX-License-Identifier: Apache-2.0
// One connection at several interfaces of a capture point, or in several files, where not all is seen by all.
#include <random>

#include "two_points.hpp"

namespace roce::analyze::tracker_points_test {
namespace {

// Each direction on an interface of its own: nothing is a copy.
TEST(TrackerInterfaces, DirectionsOfTwoInterfacesAreOneConnection) {
  Wire wire;
  for (std::uint32_t psn = 0; psn < 1000; ++psn) {
    PacketRecord request = wire.make(a, b, write_only, psn);
    request.flags |= PacketRecord::ack_requested;
    wire.send(request);
    PacketRecord answer = wire.make(b, a, acknowledge, psn);
    answer.flags |= PacketRecord::has_aeth;
    answer.aeth = 0x1f000000U | ((psn + 1) & 0xffffffU);
    answer.point = 1;
    wire.send(answer);
  }
  wire.finish();
  expect_nothing_wrong(wire);
  EXPECT_EQ(wire.connection().packets[0], 1000U);
  EXPECT_EQ(wire.connection().packets[1], 1000U);
  EXPECT_TRUE(wire.connection().split);
  wire.expect_all_counted();
}

// Two interfaces that share the load: packets go by turns, and nothing is a copy.
TEST(TrackerInterfaces, InterfacesThatShareTheLoad) {
  Wire wire;
  for (std::uint32_t psn = 0; psn < 2000; ++psn) {
    PacketRecord request = wire.make(a, b, write_only, psn);
    request.flags |= PacketRecord::ack_requested;
    request.point = psn / 3 % 2;
    wire.send(request);
    if (psn % 8 == 7) wire.answer(b, a, psn);
  }
  wire.finish();
  expect_nothing_wrong(wire);
  EXPECT_EQ(wire.connection().packets[0], 2000U);
  wire.expect_all_counted();
}

// The link of one interface fails: another goes on.
TEST(TrackerInterfaces, AnotherInterfaceGoesOn) {
  Wire wire;
  for (std::uint32_t psn = 0; psn < 3000; ++psn) {
    PacketRecord request = wire.make(a, b, write_only, psn);
    request.flags |= PacketRecord::ack_requested;
    PacketRecord answer = wire.make(b, a, acknowledge, psn);
    answer.flags |= PacketRecord::has_aeth;
    answer.aeth = 0x1f000000U | ((psn + 1) & 0xffffffU);
    request.point = answer.point = psn < 1500 ? 0 : 1;
    wire.send(request);
    wire.send(answer);
  }
  wire.finish();
  expect_nothing_wrong(wire);
  EXPECT_EQ(wire.connection().packets[0], 3000U);
  wire.expect_all_counted();
}

// Two captures, of which the first one ends in the middle of the connection.
TEST(TrackerInterfaces, TheOtherPointGoesOnWhereTheFirstEnded) {
  Wire wire(FlowTable::default_limit, true);
  std::vector<PacketRecord> records;
  for (std::uint32_t psn = 0; psn < 3000; ++psn) {
    PacketRecord request = wire.make(a, b, write_only, psn);
    request.flags |= PacketRecord::ack_requested;
    PacketRecord answer = wire.make(b, a, acknowledge, psn);
    answer.flags |= PacketRecord::has_aeth;
    answer.aeth = 0x1f000000U | ((psn + 1) & 0xffffffU);
    for (PacketRecord r : {request, answer}) {
      if (psn < 1500) wire.send(r);
      if (psn < 1000) continue;  // the second capture begins
      r.point = 1;
      r.time_ns += 300;
      wire.send(r);
    }
  }
  wire.finish();
  expect_nothing_wrong(wire);
  EXPECT_EQ(wire.connection().packets[0], 3000U);
  EXPECT_EQ(wire.flow(a, b).sequence().duplicate_captures, 500U);
  wire.expect_all_counted();
}

// A record that stands in two files, or twice in one: no network delivers two in the same nanosecond.
TEST(TrackerInterfaces, TheSameRecordTwiceIsNoNetworksDuplicate) {
  Wire wire;
  wire.talk(a, b, 0, 200);
  std::vector<std::uint32_t> copies;
  for (std::uint32_t psn = 200; psn < 210; ++psn) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.flags |= PacketRecord::ack_requested;
    r.time_ns += 1;
    wire.send(r);
    copies.push_back(wire.send(r));
  }
  wire.finish();
  for (const std::uint32_t copy : copies) {
    EXPECT_TRUE(wire.verdict(copy).has(Verdict::duplicate_capture));
    EXPECT_FALSE(wire.verdict(copy).has(Verdict::duplicate_network));
  }
  EXPECT_EQ(wire.flow(a, b).sequence().duplicate_captures, 10U);
  EXPECT_EQ(wire.flow(a, b).sequence().duplicate_network, 0U);
}

TEST(TrackerInterfaces, RecordsThatGoBackInTimeAreNoted) {
  Wire wire;
  wire.talk(a, b, 0, 50);
  std::vector<PacketRecord> swapped;
  for (std::uint32_t psn = 50; psn < 60; ++psn) swapped.push_back(wire.make(a, b, write_only, psn));
  for (std::size_t i = 0; i < swapped.size(); i += 2) {
    wire.send(swapped[i + 1]);
    wire.send(swapped[i]);
  }
  wire.finish();
  EXPECT_EQ(wire.connection().sent[0].count(Event::time_backwards), 5U);
}

TEST(TrackerInterfaces, DatagramsOfTwoPointsAreCountedOnce) {
  for (const std::int64_t ahead : offsets) {
    TwoPoints both(ahead);
    for (std::uint32_t psn = 0; psn < 100; ++psn)
      both.pass(both.wire.make(a, b, ud_send_only, psn), psn == 50);
    both.finish();
    EXPECT_EQ(both.wire.flow(a, b).packets, 100U);
    EXPECT_EQ(both.wire.flow(a, b).sequence().duplicate_captures, 99U);
  }
}

// Whatever comes from however many points, everything is somewhere.
TEST(TrackerInterfaces, AnythingFromAnywhereIsCounted) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Wire wire(64, round % 2 != 0);
    for (int i = 0; i < 5000; ++i) {
      const auto any = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
      const End from = any(2) != 0 ? a : b, to{from.host == 1 ? 2U : 1U, 0x11 * (1 + any(3))};
      const std::uint8_t opcodes[] = {write_only,         send_only,    acknowledge, read_request,
                                      read_response_only, ud_send_only, uc_send_only};
      PacketRecord r = wire.make(from, to, opcodes[any(7)], any(64));
      r.point = any(round < 10 ? 3 : 12);
      r.aeth = static_cast<std::uint32_t>(random());
      r.flags |= PacketRecord::has_aeth;
      r.time_ns += static_cast<std::int64_t>(random() % 4000) - 2000;
      r.ip_id = static_cast<std::uint16_t>(random() % 16);
      wire.send(r);
    }
    wire.finish();
    wire.expect_all_counted();
  }
}

}  // namespace
}  // namespace roce::analyze::tracker_points_test

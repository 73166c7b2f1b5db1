// SPDX-License-Identifier: Apache-2.0
// IPv4 IDs of a counter that all of a host's flows share: between two packets of one flow it may go far
// around.
#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_id_wrap_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

/// An ACK with an ID of its own.
std::uint32_t acknowledge_with(Wire& wire, std::uint32_t psn, std::uint32_t id) {
  PacketRecord r = wire.make(b, a, acknowledge, psn);
  r.flags |= PacketRecord::has_aeth;
  r.aeth = 0x1f000000U | (psn & 0xffffU);
  r.ip_id = static_cast<std::uint16_t>(id);
  return wire.send(r);
}

TEST(TrackerIdWrap, AnAnswerThatConfirmsMoreWasNotOvertaken) {
  Wire wire;
  std::uint32_t id = 100;
  for (std::uint32_t psn = 100; psn < 300; ++psn) {
    id += psn % 20 == 19 ? 0x9000 : 3;  // seldom more than half around
    wire.request(a, b, psn);
    acknowledge_with(wire, psn, id);
  }
  wire.finish();
  EXPECT_EQ(wire.connection().sent[1].count(Event::out_of_order), 0U);
  EXPECT_EQ(wire.connection().requester[0].acks, 200U);
}

TEST(TrackerIdWrap, OneThatConfirmsLessWas) {
  Wire wire;
  std::uint32_t id = 100;
  for (std::uint32_t psn = 100; psn < 140; ++psn) {
    wire.request(a, b, psn);
    acknowledge_with(wire, psn, ++id);
  }
  for (std::uint32_t psn = 140; psn < 143; ++psn) wire.request(a, b, psn);
  acknowledge_with(wire, 142, id + 3);
  const std::uint32_t late = acknowledge_with(wire, 141, id + 2);
  wire.finish();
  EXPECT_TRUE(wire.verdict(late).has(Verdict::out_of_order));
  EXPECT_EQ(wire.connection().sent[1].count(Event::out_of_order), 1U);
}

}  // namespace
}  // namespace tracker_id_wrap_test
}  // namespace roce::analyze

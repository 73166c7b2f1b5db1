// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/path_shares.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analyze/flow/flow.hpp"

namespace roce::analyze {
namespace {

PacketRecord on_port(std::uint16_t port, std::uint8_t ecn = 2) {
  PacketRecord r;
  r.flags = PacketRecord::valid | PacketRecord::selected | PacketRecord::has_ports;
  r.opcode = 0x0a;
  r.wire = 100;
  r.udp_source = port;
  r.traffic_class = ecn;
  r.source_mac = 0x020000000001U;
  return r;
}

TEST(PathShares, OneOfAFlowThatStaysOnItsPath) {
  Flow flow;
  for (int i = 0; i < 10; ++i) flow.count(on_port(50'000, i == 3 ? 3 : 2), 1);
  flow.note_late(on_port(50'000));
  flow.settle();
  const std::vector<PathShare> shares = flow.path_shares();
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].path.udp_source, 50'000);
  EXPECT_EQ(shares[0].packets, 10U);
  EXPECT_EQ(shares[0].bytes, 1000U);
  EXPECT_EQ(shares[0].ce, 1U);
  EXPECT_EQ(shares[0].late, 1U);
}

TEST(PathShares, SumUpWhateverTheOrder) {
  std::mt19937 random(1);
  std::map<std::uint16_t, PathShare> truth;
  Flow flow;
  for (int i = 0; i < 5000; ++i) {
    const auto port = static_cast<std::uint16_t>(50'000 + random() % 5);
    const PacketRecord r = on_port(port, random() % 8 == 0 ? 3 : 2);
    PathShare& share = truth[port];
    if (i > 100 && random() % 50 == 0) {
      flow.note_late(r);
      ++share.late;
    }
    flow.count(r, static_cast<std::uint64_t>(i) + 1);
    ++share.packets;
    share.bytes += r.wire;
    share.ce += r.traffic_class == 3 ? 1U : 0U;
    if (random() % 100 == 0) flow.settle();  // as for an interim snapshot
  }
  flow.settle();
  const std::vector<PathShare> shares = flow.path_shares();
  ASSERT_EQ(shares.size(), truth.size());
  for (const PathShare& share : shares) {
    const PathShare& expected = truth[share.path.udp_source];
    EXPECT_EQ(share.packets, expected.packets);
    EXPECT_EQ(share.bytes, expected.bytes);
    EXPECT_EQ(share.ce, expected.ce);
    EXPECT_EQ(share.late, expected.late);
  }
}

TEST(PathShares, TellLabelsAndMacAddressesApart) {
  Flow flow;
  PacketRecord r = on_port(50'000);
  flow.count(r, 1);
  r.place = 0x12345;
  flow.count(r, 2);
  r.source_mac = 0x020000000002U;
  flow.count(r, 3);
  flow.settle();
  EXPECT_EQ(flow.path_shares().size(), 3U);
}

TEST(PathShares, CnpsAreWithThePacketsAroundThem) {
  Flow flow;
  PacketRecord cnp = on_port(4791);
  cnp.opcode = dissect::opcode_cnp;
  flow.count(cnp, 1);
  flow.count(on_port(50'000), 2);
  flow.count(cnp, 3);
  flow.settle();
  const std::vector<PathShare> shares = flow.path_shares();
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].path.udp_source, 50'000);
  EXPECT_EQ(shares[0].packets, 3U);
}

TEST(PathShares, LossesAreKnownAsLongAsThereIsOnePath) {
  constexpr auto after = static_cast<std::size_t>(Lost::after_capture);
  Flow flow;
  flow.count(on_port(50'000), 1);
  flow.sequence_to_change().lost[after] = 3;
  flow.count(on_port(50'001), 2);
  flow.sequence_to_change().lost[after] = 5;
  flow.settle();
  const std::vector<PathShare> shares = flow.path_shares();
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].lost[after], 3U);
  EXPECT_EQ(shares[1].lost[after], 0U);
}

TEST(PathShares, AreBounded) {
  Flow flow;
  constexpr std::size_t ports = 2 * PathShares::limit;
  for (std::size_t i = 0; i < ports; ++i) flow.count(on_port(static_cast<std::uint16_t>(40'000 + i)), i + 1);
  flow.settle();
  const std::vector<PathShare> shares = flow.path_shares();
  EXPECT_EQ(shares.size(), PathShares::limit);
  std::uint64_t packets = 0;
  for (const PathShare& share : shares) packets += share.packets;
  EXPECT_EQ(packets, ports);
  EXPECT_TRUE(shares.back().others);
}

TEST(ReservedBits, AreCountedByTheByteThatTheyAreIn) {
  Flow flow;
  PacketRecord r = on_port(50'000);
  flow.count(r, 1);
  r.reserved = 0x40;
  flow.count(r, 2);
  flow.count(r, 3);
  flow.note_late(r);
  r.reserved = 0x0140;
  flow.count(r, 4);
  flow.settle();
  EXPECT_EQ(flow.reserved_bits().packets_7, 3U);
  EXPECT_EQ(flow.reserved_bits().packets_6, 1U);
  EXPECT_EQ(flow.reserved_bits().late, 1U);
  EXPECT_EQ(flow.reserved_bits().seen, 0x0140U);
}

}  // namespace
}  // namespace roce::analyze

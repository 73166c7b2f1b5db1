// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/totals.hpp"

#include <gtest/gtest.h>

#include "dissect/dissect.hpp"
#include "dissect/types.hpp"
#include "tests/analyze/packet/literal_packet.hpp"

namespace roce::analyze {
namespace {

Totals count(std::string_view hex, std::uint32_t wire = 0) {
  const std::vector<std::uint8_t> bytes = bytes_of(hex);
  capture::Frame frame;
  frame.data = bytes.data();
  frame.captured = static_cast<std::uint32_t>(bytes.size());
  frame.wire = std::max(wire, frame.captured);
  frame.time_ns = 5;
  dissect::Dissection d;
  dissect::dissect(bytes, frame.wire, dissect::link_ethernet, d);
  const dissect::IcrcResult icrc = dissect::check_icrc(bytes, d);
  Totals totals;
  PacketRecord record;
  make_record(frame, d, record);
  totals.count(1, frame, d, record, &icrc);
  return totals;
}

std::uint64_t other(const Totals& totals, OtherTraffic kind) {
  return totals.others[static_cast<std::size_t>(kind)];
}

constexpr std::string_view ethernet = "525400000a01 525400000b01 ";

TEST(Totals, KnowsWhatIsNotRoce) {
  const std::string ip4 = "45000028 00010000 40";
  const auto frame = [](std::string_view rest) { return std::string(ethernet) + std::string(rest); };
  const std::string addresses = "0000 0a4d0001 0a4d0002 0000000000000000000000000000000000000000";
  EXPECT_EQ(other(count(frame("0800" + ip4 + "06" + addresses)), OtherTraffic::tcp), 1U);
  EXPECT_EQ(other(count(frame("0800" + ip4 + "01" + addresses)), OtherTraffic::icmp), 1U);
  EXPECT_EQ(other(count(frame("0800" + ip4 + "84" + addresses)), OtherTraffic::other_ip), 1U);
  EXPECT_EQ(other(count(frame("0800" + ip4 + "11" + addresses)), OtherTraffic::udp), 1U);
  EXPECT_EQ(other(count(frame("0806 0001080006040001")), OtherTraffic::arp), 1U);
  EXPECT_EQ(other(count(frame("0026 424203000000000080006cfa")), OtherTraffic::llc), 1U);
  EXPECT_EQ(other(count(frame("88f7 0001")), OtherTraffic::other_ethertype), 1U);
  EXPECT_EQ(other(count("525400000a01"), OtherTraffic::unreadable), 1U);
  EXPECT_EQ(other(count("0180c2000001 525400000b01 8808 0001 ffff"), OtherTraffic::mac_control), 1U);
}

TEST(Totals, CountsATransportPacket) {
  const Totals totals = count(ipv4_acknowledge);
  EXPECT_EQ(totals.roce_packets, 1U);
  EXPECT_EQ(totals.by_transport[static_cast<std::size_t>(dissect::Transport::roce_v2_ipv4)], 1U);
  EXPECT_EQ(totals.opcodes[0x11], 1U);
  EXPECT_EQ(totals.dscp[26], 1U);
  EXPECT_EQ(totals.ecn[static_cast<std::size_t>(dissect::Ecn::ect1)], 1U);
  EXPECT_EQ(totals.untagged, 1U);
  EXPECT_EQ(totals.icrc[static_cast<std::size_t>(dissect::CrcStatus::match)], 1U);
}

TEST(Totals, MergingKeepsTheFirstBadPackets) {
  Totals a;
  Totals b;
  for (std::uint64_t i = 0; i < 10; ++i) {
    a.icrc_mismatches.push_back(2 * i + 100);
    b.icrc_mismatches.push_back(2 * i + 101);
  }
  a.merge(b);
  EXPECT_EQ(a.icrc_mismatches,
            (std::vector<std::uint64_t>{100, 101, 102, 103, 104, 105, 106, 107, 108, 109}));
}

TEST(Totals, MergingKeepsTheSpan) {
  Totals a;
  Totals b;
  b.any_time = true;
  b.first_time_ns = -5;
  b.last_time_ns = 7;
  a.merge(b);
  a.merge(Totals{});
  EXPECT_TRUE(a.any_time);
  EXPECT_EQ(a.first_time_ns, -5);
  EXPECT_EQ(a.last_time_ns, 7);
}

}  // namespace
}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/packet_record.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "dissect/dissect.hpp"
#include "tests/support/frame_builder.hpp"

namespace roce::analyze {
namespace {

support::RoceFrame write_only() {
  support::RoceFrame frame;
  frame.destination_mac = {0x52, 0x54, 0, 0, 0x0a, 1};
  frame.source_mac = {0x52, 0x54, 0, 0, 0x0b, 2};
  support::Ipv4 ip;
  ip.source = {10, 0, 0, 1};
  ip.destination = {10, 0, 0, 2};
  ip.id = 0x1234;
  frame.network = ip;
  frame.udp_source = 0xc001;
  frame.bth.opcode = 0x0a;
  frame.bth.dest_qp = 0x11;
  frame.extended.reth(0x7f00'1122'3344'5566, 0xabcd0123, 64);
  return frame;
}

struct Made {
  std::vector<std::uint8_t> bytes;
  PacketRecord record;
};

Made make(const support::RoceFrame& from, std::size_t captured = ~std::size_t{0}, std::uint16_t point = 0,
          std::uint16_t link_type = dissect::link_ethernet) {
  Made made{support::build(from), {}};
  capture::Frame frame;
  frame.wire = static_cast<std::uint32_t>(made.bytes.size());
  if (captured < made.bytes.size()) made.bytes.resize(captured);
  made.bytes.shrink_to_fit();
  frame.data = made.bytes.data();
  frame.captured = static_cast<std::uint32_t>(made.bytes.size());
  frame.link_type = link_type;
  frame.point = point;
  dissect::Dissection dissection;
  dissect::dissect(made.bytes, frame.wire, link_type, dissection);
  make_record(frame, dissection, made.record);
  return made;
}

TEST(PacketRecord, HoldsWhatTheRethSays) {
  const std::vector<std::uint8_t> payload(64, 7);
  support::RoceFrame frame = write_only();
  frame.payload = payload;
  const PacketRecord record = make(frame).record;
  EXPECT_TRUE(record.has(PacketRecord::has_reth));
  EXPECT_EQ(record.virtual_address, 0x7f00'1122'3344'5566U);
  EXPECT_EQ(record.r_key, 0xabcd0123U);
  EXPECT_EQ(record.dma_length, 64U);
  EXPECT_EQ(record.payload, 64U);
  EXPECT_EQ(record.source_mac, 0x5254'0000'0b02U);
  EXPECT_TRUE(record.has(PacketRecord::has_ip_id));
  EXPECT_EQ(record.ip_id, 0x1234U);
  EXPECT_TRUE(record.has(PacketRecord::dont_fragment));
  EXPECT_TRUE(record.has(PacketRecord::payload_whole));
  EXPECT_FALSE(record.has(PacketRecord::fragmented));
}

TEST(PacketRecord, AFirstFragmentCountsTheBytesOfTheWholePacket) {
  const std::vector<std::uint8_t> payload(1021, 7);
  support::RoceFrame from = write_only();
  from.payload = payload;
  std::vector<std::uint8_t> bytes = support::build(from);
  constexpr std::size_t ethernet = 14, part = 20 + 576;
  bytes.resize(ethernet + part);
  bytes[ethernet + 2] = part >> 8U;
  bytes[ethernet + 3] = part & 0xffU;
  bytes[ethernet + 6] = 0x20;  // more fragments
  capture::Frame frame;
  frame.data = bytes.data();
  frame.wire = frame.captured = static_cast<std::uint32_t>(bytes.size());
  frame.link_type = dissect::link_ethernet;
  dissect::Dissection dissection;
  dissect::dissect(bytes, frame.wire, frame.link_type, dissection);
  PacketRecord record;
  make_record(frame, dissection, record);
  EXPECT_TRUE(record.has(PacketRecord::fragmented));
  EXPECT_EQ(record.payload, 1021U);
}

TEST(PacketRecord, AHeaderThatIsCutSaysNothing) {
  constexpr std::size_t reth_begin = 14 + 20 + 8 + 12, reth_end = reth_begin + 16;
  for (std::size_t size = reth_begin; size < reth_end; ++size) {
    const PacketRecord record = make(write_only(), size).record;
    ASSERT_TRUE(record.has(PacketRecord::valid));
    EXPECT_FALSE(record.has(PacketRecord::has_reth)) << size;
    EXPECT_EQ(record.virtual_address, 0U);
  }
  EXPECT_TRUE(make(write_only(), reth_end).record.has(PacketRecord::has_reth));
}

TEST(PacketRecord, KnowsTheAddressOfEveryKindOfRequest) {
  struct Case {
    std::uint8_t opcode;
    std::function<void(support::ExtendedHeaders&)> headers;
    std::uint32_t dma_length;
  };
  const Case cases[] = {
      {0x0c, [](auto& h) { h.reth(0x1000, 5, 4096); }, 4096},          // READ request
      {0x13, [](auto& h) { h.atomic(0x1000, 5, 1, 2); }, 8},           // CmpSwap
      {0x1c, [](auto& h) { h.flush(1, 0).reth(0x1000, 5, 77); }, 77},  // FLUSH
      {0x1d, [](auto& h) { h.reth(0x1000, 5, 8); }, 8},                // ATOMIC WRITE
      {0xaa, [](auto& h) { h.xrc(9).reth(0x1000, 5, 3); }, 3},         // XRC WRITE Only
  };
  for (const Case& one : cases) {
    support::RoceFrame frame = write_only();
    frame.bth.opcode = one.opcode;
    frame.extended.clear();
    one.headers(frame.extended);
    const PacketRecord record = make(frame).record;
    EXPECT_TRUE(record.has(PacketRecord::has_reth)) << int{one.opcode};
    EXPECT_EQ(record.virtual_address, 0x1000U);
    EXPECT_EQ(record.r_key, 5U);
    EXPECT_EQ(record.dma_length, one.dma_length);
  }
  support::RoceFrame response = write_only();
  response.bth.opcode = 0x10;
  response.extended.clear();
  response.extended.aeth(0, 1);
  EXPECT_FALSE(make(response).record.has(PacketRecord::has_reth));
}

TEST(PacketRecord, ThePathTellsPlacesButNotPacketsApart) {
  const std::uint32_t here = make(write_only()).record.path;
  support::RoceFrame next = write_only();
  next.bth.psn = 99;
  std::get<support::Ipv4>(next.network).id = 7;
  EXPECT_EQ(make(next).record.path, here);

  EXPECT_NE(make(write_only(), ~std::size_t{0}, 1).record.path, here);
  support::RoceFrame other = write_only();
  other.source_mac[5] = 9;
  EXPECT_NE(make(other).record.path, here);
  other = write_only();
  other.destination_mac[0] = 9;
  EXPECT_NE(make(other).record.path, here);
  other = write_only();
  std::get<support::Ipv4>(other.network).ttl = 63;
  EXPECT_NE(make(other).record.path, here);
  other = write_only();
  other.vlans = {{0x8100, 0, false, 5}};
  const PacketRecord tagged = make(other).record;
  EXPECT_NE(tagged.path, here);
  EXPECT_EQ(tagged.source_mac, 0x5254'0000'0b02U);
  other.vlans.push_back({0x8100, 0, false, 6});
  EXPECT_NE(make(other).record.path, tagged.path);
}

TEST(PacketRecord, Ipv6HasNoIdentification) {
  support::RoceFrame frame = write_only();
  support::Ipv6 ip;
  ip.source[0] = 0xfe;
  frame.network = ip;
  const PacketRecord record = make(frame).record;
  EXPECT_TRUE(record.has(PacketRecord::valid));
  EXPECT_FALSE(record.has(PacketRecord::has_ip_id));
  EXPECT_EQ(record.source_mac, 0x5254'0000'0b02U);
}

}  // namespace
}  // namespace roce::analyze

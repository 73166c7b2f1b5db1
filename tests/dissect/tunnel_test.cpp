// SPDX-License-Identifier: Apache-2.0
// RoCE inside tunnels and mirrors.
#include <gtest/gtest.h>

#include "dissect/dissect.hpp"
#include "tests/dissect/frames.hpp"

namespace roce::dissect {
namespace tunnel_test {
namespace {

using test::bth;
using test::ethernet;
using test::filled;
using test::hex;
using test::ipv4;
using test::ipv6;
using test::operator+;
using test::Packet;
using test::roce_v2;
using test::udp;
using test::vlan;

Dissection dissected(const Packet& frame) {
  Dissection out;
  dissect({frame.data(), frame.size()}, static_cast<std::uint32_t>(frame.size()), link_ethernet, out);
  return out;
}

const Packet inner_ip = ipv4(17, roce_v2(0x04, filled(8)));
const Packet inner = ethernet(0x0800, inner_ip);

unsigned bit(Tunnel tunnel) {
  return 1U << static_cast<unsigned>(tunnel);
}

/// The inner transport was reached, in exactly these tunnels, and all of it belongs together.
void expect_roce(const Packet& frame, unsigned tunnels) {
  const Dissection d = dissected(frame);
  EXPECT_EQ(d.transport, Transport::roce_v2_ipv4);
  EXPECT_EQ(d.stop, Stop::complete);
  EXPECT_EQ(d.tunnels, tunnels);
  EXPECT_EQ(d.notes, 0);
  EXPECT_EQ(d.payload_length, 8U);
  const auto* icrc = d.find(HeaderId::icrc);
  ASSERT_NE(icrc, nullptr);
  EXPECT_EQ(icrc->offset + 4, d.declared_end);
  ASSERT_NE(d.bth, Dissection::none);
  EXPECT_EQ(d.layers[d.network].offset + 20, d.layers[d.udp].offset);
  EXPECT_EQ(d.layers[d.udp].offset + 8, d.layers[d.bth].offset);
}

Packet in_udp(std::uint16_t port, const Packet& payload) {
  return ethernet(0x0800, ipv4(17, udp(port, payload)));
}
Packet in_gre(const Packet& header, const Packet& payload) {
  return ethernet(0x0800, ipv4(47, header + payload));
}

TEST(Tunnel, vxlan_on_all_its_ports) {
  const Packet header = hex("0800000000002a00");
  for (const std::uint16_t port : {std::uint16_t{4789}, std::uint16_t{8472}, std::uint16_t{4790}})
    expect_roce(in_udp(port, header + inner), bit(Tunnel::vxlan));
  const Packet group_policy = hex("8800001000002a00");
  expect_roce(in_udp(4789, group_policy + inner), bit(Tunnel::vxlan));
  expect_roce(ethernet(0x86dd, ipv6(17, udp(4789, header + inner))), bit(Tunnel::vxlan));
  EXPECT_EQ(dissected(in_udp(4789, hex("0000000000002a00") + inner)).stop, Stop::unknown_protocol);
}

TEST(Tunnel, vxlan_gpe) {
  expect_roce(in_udp(4790, hex("0c00000300002a00") + inner), bit(Tunnel::vxlan));
  expect_roce(in_udp(4790, hex("0c00000100002a00") + inner_ip), bit(Tunnel::vxlan));
  EXPECT_EQ(dissected(in_udp(4790, hex("0c00000900002a00") + inner)).stop, Stop::unknown_protocol);
}

TEST(Tunnel, geneve_with_and_without_options) {
  expect_roce(in_udp(6081, hex("0000 6558 00002a00") + inner), bit(Tunnel::geneve));
  expect_roce(in_udp(6081, hex("0200 6558 00002a00 0102030405060708") + inner), bit(Tunnel::geneve));
  expect_roce(in_udp(6081, hex("0000 0800 00002a00") + inner_ip), bit(Tunnel::geneve));
  EXPECT_EQ(dissected(in_udp(6081, hex("4000 6558 00002a00") + inner)).stop, Stop::unknown_protocol);
  const Dissection beyond = dissected(in_udp(6081, hex("3f00 6558 00002a00") + inner));
  EXPECT_EQ(beyond.stop, Stop::contradicts_itself);
  EXPECT_EQ(beyond.stopped_at, HeaderId::geneve);
}

TEST(Tunnel, gre_and_nvgre) {
  expect_roce(in_gre(hex("0000 0800"), inner_ip), bit(Tunnel::gre));
  expect_roce(in_gre(hex("2000 6558 00002a01"), inner), bit(Tunnel::gre));  // NVGRE
  expect_roce(in_gre(hex("b000 6558 cafe0000 00000005 00000009"), inner), bit(Tunnel::gre));
  EXPECT_EQ(dissected(in_gre(hex("4000 0800 00000000"), inner_ip)).stop, Stop::unknown_protocol);
  EXPECT_EQ(dissected(in_gre(hex("3001 880b 00000000 00000000"), inner_ip)).stop, Stop::unknown_protocol);
}

TEST(Tunnel, erspan_types_1_2_3) {
  expect_roce(in_gre(hex("0000 88be"), inner), bit(Tunnel::erspan));
  expect_roce(in_gre(hex("1000 88be 00000001 1001007b 00000000"), inner), bit(Tunnel::erspan));
  expect_roce(in_gre(hex("1000 22eb 00000001 2000001f 11223344 00000010"), inner), bit(Tunnel::erspan));
  // Type III with the platform subheader, and one that carries IP only.
  expect_roce(in_gre(hex("1000 22eb 00000001 2000001f 11223344 00000001 0102030405060708"), inner),
              bit(Tunnel::erspan));
  expect_roce(in_gre(hex("1000 22eb 00000001 2000001f 11223344 00000800"), inner_ip), bit(Tunnel::erspan));
}

TEST(Tunnel, erspan_says_when_it_cut_the_frame) {
  Packet cut = inner;
  cut.resize(60);
  const Dissection two = dissected(in_gre(hex("1000 88be 00000001 1001047b 00000000"), cut));
  EXPECT_TRUE(two.is_transport());
  EXPECT_TRUE(two.has(Note::cut_on_the_way));
  EXPECT_EQ(two.find(HeaderId::icrc), nullptr);
}

TEST(Tunnel, ip_in_ip) {
  expect_roce(ethernet(0x0800, ipv4(4, inner_ip)), bit(Tunnel::ip_in_ip));
  expect_roce(ethernet(0x86dd, ipv6(4, inner_ip)), bit(Tunnel::ip_in_ip));
  const Dissection six = dissected(ethernet(0x0800, ipv4(41, ipv6(17, roce_v2(0x04, filled(8))))));
  EXPECT_EQ(six.transport, Transport::roce_v2_ipv6);
}

TEST(Tunnel, mpls) {
  expect_roce(ethernet(0x8847, hex("00064040 00065140") + inner_ip), bit(Tunnel::mpls));
  // Pseudowire with a control word.
  expect_roce(ethernet(0x8847, hex("00065140 00000000") + inner), bit(Tunnel::mpls));
  const Dissection empty = dissected(ethernet(0x8847, hex("00065140")));
  EXPECT_EQ(empty.stop, Stop::contradicts_itself);
}

TEST(Tunnel, macsec_clear_and_encrypted) {
  const Packet icv = filled(16, 0x77);
  const Packet clear = hex("00 00 00000001 0800") + inner_ip + icv;
  expect_roce(ethernet(0x88e5, clear), bit(Tunnel::macsec));
  const Packet with_sci = hex("20 00 00000001 0102030405060708 0800") + inner_ip + icv;
  expect_roce(ethernet(0x88e5, with_sci), bit(Tunnel::macsec));
  for (const std::string_view flags : {"0c", "08", "04"}) {
    const Dissection d = dissected(ethernet(0x88e5, hex(flags) + hex("00 00000001 0800") + inner_ip + icv));
    EXPECT_EQ(d.stop, Stop::encrypted);
    EXPECT_FALSE(d.is_transport());
    EXPECT_TRUE(d.in(Tunnel::macsec));
  }
  EXPECT_EQ(dissected(ethernet(0x88e5, hex("00 00 00000001 0800"))).stop, Stop::contradicts_itself);
}

TEST(Tunnel, the_inner_frame_has_its_own_tags) {
  const Packet header = hex("0800000000002a00");
  const Dissection d = dissected(ethernet(0x8100, vlan(5, 0x0800, ipv4(17, udp(4789, header + inner)))));
  EXPECT_EQ(d.transport, Transport::roce_v2_ipv4);
  EXPECT_EQ(d.vlan, Dissection::none) << "the tag is the outer frame's";
  const Dissection tagged =
      dissected(in_udp(4789, header + ethernet(0x8100, vlan(0x6007, 0x0800, inner_ip))));
  ASSERT_NE(tagged.vlan, Dissection::none);
  EXPECT_GT(tagged.layers[tagged.vlan].offset, 50U);
}

TEST(Tunnel, tunnels_in_tunnels_end) {
  Packet packet = inner_ip;
  for (int i = 0; i < 80; ++i) packet = ipv4(4, packet);
  EXPECT_EQ(dissected(ethernet(0x0800, packet)).stop, Stop::too_deep);
  // An inner length beyond the outer one: the mirror cut the frame.
  const Packet lying = ethernet(0x0800, ipv4(17, roce_v2(0x04, filled(8)), {.length_lie = 0x7f00}));
  const Dissection d = dissected(in_udp(4789, hex("0800000000002a00") + lying));
  EXPECT_TRUE(d.has(Note::cut_on_the_way));
  EXPECT_EQ(d.find(HeaderId::icrc), nullptr);
}

}  // namespace
}  // namespace tunnel_test
}  // namespace roce::dissect

// SPDX-License-Identifier: Apache-2.0
// The builder against frames that Linux sent (samples/): same header values, same bytes, ICRC included.
#include "tests/support/frame_builder.hpp"

#include <gtest/gtest.h>

#include <string>

namespace roce::support {
namespace {

constexpr MacAddress mac_a{0x52, 0x54, 0x00, 0x00, 0x0a, 0x01};
constexpr MacAddress mac_b{0x52, 0x54, 0x00, 0x00, 0x0b, 0x01};
constexpr Ipv4Address ip_a{10, 77, 0, 1};
constexpr Ipv4Address ip_b{10, 77, 0, 2};

std::string hex(const std::vector<std::uint8_t>& bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

TEST(FrameBuilder, ZeroLengthWrite) {  // 06_zero_write, first RoCE frame
  RoceFrame frame{.destination_mac = mac_b, .source_mac = mac_a};
  frame.network = Ipv4{.source = ip_a, .destination = ip_b, .id = 0xf0c1};
  frame.udp_source = 0xc841;
  frame.bth = {.opcode = 0x0a, .dest_qp = 0x88, .ack_request = true, .psn = 0x189a37};
  frame.extended.reth(0x00007f0107d1b000, 0x8d59, 0);
  EXPECT_EQ(hex(build(frame)),
            "525400000b01525400000a0108004500"
            "003cf0c14000401135530a4d00010a4d"
            "0002c84112b7002800000a00ffff0000"
            "008880189a3700007f0107d1b0000000"
            "8d5900000000a874d656");
}

TEST(FrameBuilder, PadsTheMessageOfOneByte) {  // 01_rc_pingpong_s1
  const std::uint8_t payload[] = {0x7b};
  RoceFrame frame{.destination_mac = mac_b, .source_mac = mac_a};
  frame.network = Ipv4{.source = ip_a, .destination = ip_b, .id = 0xa220};
  frame.udp_source = 0xc1b9;
  frame.bth = {.opcode = 0x04, .dest_qp = 0x15, .ack_request = true, .psn = 0x4c7098};
  frame.payload = payload;
  EXPECT_EQ(hex(build(frame)),
            "525400000b01525400000a0108004500"
            "0030a2204000401184000a4d00010a4d"
            "0002c1b912b7001c00000430ffff0000"
            "0015804c70987b000000488365ee");
}

TEST(FrameBuilder, AcknowledgeOverVlanAndIpv6) {  // 08_vlan100_v6
  RoceFrame frame{.destination_mac = mac_a, .source_mac = mac_b};
  frame.vlans = {{.pcp = 3, .vid = 100}};
  frame.network = Ipv6{.source = {0xfd, 0x77, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2},
                       .destination = {0xfd, 0x77, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
                       .traffic_class = 0x68};
  frame.udp_source = rc_source_port(0xfd, 0x129);
  frame.bth = {.opcode = 0x11, .dest_qp = 0x129, .psn = 0xd4004e};
  frame.extended.aeth(0x1f, 1);
  EXPECT_EQ(hex(build(frame)),
            "525400000a01525400000b0181006064"
            "86dd66800000001c1140fd7701000000"
            "00000000000000000002fd7701000000"
            "00000000000000000001e58112b7001c"
            "00001100ffff0000012900d4004e1f00"
            "00013d4c26f4");
}

TEST(FrameBuilder, CompareAndSwap) {  // 02_atomic_cas
  RoceFrame frame{.destination_mac = mac_b, .source_mac = mac_a};
  frame.network = Ipv4{.source = ip_a, .destination = ip_b, .id = 0xd851};
  frame.udp_source = 0xc5a4;
  frame.bth = {.opcode = 0x13, .dest_qp = 0x26, .ack_request = true, .psn = 0x83f2c6};
  frame.extended.atomic(0x000055808cc87000, 0x16fb, 0, 0);
  EXPECT_EQ(hex(build(frame)),
            "525400000b01525400000a0108004500"
            "0048d851400040114db70a4d00010a4d"
            "0002c5a412b7003400001300ffff0000"
            "00268083f2c6000055808cc870000000"
            "16fb0000000000000000000000000000"
            "0000d1dae360");
}

TEST(FrameBuilder, SourcePortsAreThoseOfLinux) {
  EXPECT_EQ(rc_source_port(0x30, 0x30), 51456);  // 02_write_bw_bidir
  EXPECT_EQ(rc_source_port(0x1b, 0x1b), 49881);  // 01_srq_pingpong
  EXPECT_EQ(rc_source_port(0xfd, 0x129), rc_source_port(0x129, 0xfd));
  EXPECT_EQ(ud_source_port(1), 55410);     // every CM exchange
  EXPECT_EQ(ud_source_port(0x25), 51326);  // 02_send_bw_ud
}

TEST(FrameBuilder, AnIcrcOnRequestReplacesTheRightOne) {
  RoceFrame frame;
  frame.network = Ipv4{};
  frame.icrc = 0x11223344;
  const std::vector<std::uint8_t> bytes = build(frame);
  EXPECT_EQ(hex({bytes.end() - 4, bytes.end()}), "44332211");
}

TEST(FrameBuilder, CrcOfTheStandardCheckString) {
  const std::string text = "123456789";
  EXPECT_EQ(~crc32_update(0xffffffffU, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}),
            0xcbf43926U);
}

}  // namespace
}  // namespace roce::support

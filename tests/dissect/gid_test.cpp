// SPDX-License-Identifier: Apache-2.0
#include "dissect/gid.hpp"

#include "literal_frame.hpp"

namespace roce::dissect {
namespace {

GidMeaning meaning(std::string_view text) {
  return meaning_of(IpAddress::v6(hex(text).data()));
}
const MacAddress host{{0x50, 0x54, 0x00, 0x00, 0x0a, 0x01}};

TEST(Gid, Kinds) {
  EXPECT_EQ(meaning(zeros(16)).kind, GidKind::zero);
  EXPECT_EQ(meaning("ff020000000000000000000000000001").kind, GidKind::multicast);
  EXPECT_EQ(meaning("fd770000000000000000000000000001").kind, GidKind::other);
  EXPECT_EQ(meaning("fe80000000000001525400fffe000a01").kind, GidKind::other);  // not the link-local prefix

  const GidMeaning mapped = meaning("00000000000000000000ffff0a4d0001");
  EXPECT_EQ(mapped.kind, GidKind::ipv4_mapped);
  EXPECT_EQ(mapped.ipv4, (std::array<std::uint8_t, 4>{10, 77, 0, 1}));
}

TEST(Gid, LinkLocalFromAMac) {
  const GidMeaning eui = meaning("fe80000000000000525400fffe000a01");
  EXPECT_EQ(eui.kind, GidKind::link_local_mac);
  EXPECT_EQ(eui.mac, host);  // the universal bit is turned back: 52 is 50
}

TEST(Gid, LinkLocalWithVlan) {
  const GidMeaning vlan = meaning("fe800000000000005254000064000a01");
  EXPECT_EQ(vlan.kind, GidKind::link_local_vlan);
  EXPECT_EQ(vlan.vlan, 100U);
  EXPECT_EQ(vlan.mac, host);
  EXPECT_EQ(meaning("fe800000000000005254000fff000a01").vlan, 4095U);
  EXPECT_EQ(meaning("fe800000000000005254001000000a01").kind, GidKind::link_local_other);
}

/// RoCE v1: SEND Only of nothing from `sgid`, with `tag` between MAC addresses and ethertype.
LiteralFrame v1(std::string_view tag, std::string_view sgid) {
  return LiteralFrame("505400000b01 505400000a01" + std::string(tag) + "8915" + "60000000 0010 1b 40" +
                      std::string(sgid) + "fe80000000000000525400fffe000b01" + "0400ffff 00000011 00000001" +
                      "00000000");
}
/// RoCE v2 over IPv6 in the same way.
LiteralFrame v2(std::string_view tag, std::string_view source) {
  return LiteralFrame("505400000b01 505400000a01" + std::string(tag) + "86dd" + "60000000 0018 11 40" +
                      std::string(source) + "fe80000000000000525400fffe000b01" + "c000 12b7 0018 0000" +
                      "0400ffff 00000011 00000001" + "00000000");
}

TEST(GidDisagrees, MacOfALinkLocalSource) {
  EXPECT_FALSE(gid_disagrees(v1("", "fe80000000000000525400fffe000a01").bytes,
                             v1("", "fe80000000000000525400fffe000a01").d));
  const LiteralFrame other_v1 = v1("", "fe80000000000000525400fffe000a02");
  ASSERT_EQ(other_v1.d.transport, Transport::roce_v1);
  EXPECT_TRUE(gid_disagrees(other_v1.bytes, other_v1.d).mac);
  const LiteralFrame other_v2 = v2("", "fe80000000000000525400fffe000a02");
  ASSERT_EQ(other_v2.d.transport, Transport::roce_v2_ipv6);
  EXPECT_TRUE(gid_disagrees(other_v2.bytes, other_v2.d).mac);
  const LiteralFrame tagged = v2("81000064", "fe80000000000000525400fffe000a01");
  EXPECT_FALSE(gid_disagrees(tagged.bytes, tagged.d));
}

TEST(GidDisagrees, VlanOfARoceV1Source) {
  const std::string_view in_100 = "fe800000000000005254000064000a01";
  const LiteralFrame right = v1("81006064", in_100), wrong = v1("81006065", in_100), bare = v1("", in_100);
  EXPECT_FALSE(gid_disagrees(right.bytes, right.d));
  EXPECT_TRUE(gid_disagrees(wrong.bytes, wrong.d).vlan);
  EXPECT_FALSE(gid_disagrees(wrong.bytes, wrong.d).mac);
  EXPECT_FALSE(gid_disagrees(bare.bytes, bare.d));  // the capture may have lost the tag
  const LiteralFrame foreign = v1("81006064", "fe800000000000005254000064000a02");
  EXPECT_TRUE(gid_disagrees(foreign.bytes, foreign.d).mac);
  // Neither half agrees, or RoCE v2: an address with a random identifier looks the same.
  const LiteralFrame random = v1("81006065", "fe800000000000005254000064000a02");
  EXPECT_FALSE(gid_disagrees(random.bytes, random.d));
  const LiteralFrame random_v2 = v2("81006065", in_100);
  EXPECT_FALSE(gid_disagrees(random_v2.bytes, random_v2.d));
}

TEST(GidDisagrees, RoutableAddressesSayNothing) {
  const LiteralFrame frame = v2("", "fd770000000000000000000000000001");
  EXPECT_FALSE(gid_disagrees(frame.bytes, frame.d));
}

TEST(GidDisagrees, NotBehindATunnelWithoutEthernet) {
  const LiteralFrame frame(  // IPv6 in IPv4
      "505400000b01 505400000a01 0800 45000054 00000000 40290000 0a000001 0a000002"
      "60000000 0018 11 40 fe80000000000000525400fffe000a02 fe80000000000000525400fffe000b01"
      "c000 12b7 0018 0000 0400ffff 00000011 00000001 00000000");
  ASSERT_EQ(frame.d.transport, Transport::roce_v2_ipv6);
  EXPECT_FALSE(gid_disagrees(frame.bytes, frame.d));
}

}  // namespace
}  // namespace roce::dissect

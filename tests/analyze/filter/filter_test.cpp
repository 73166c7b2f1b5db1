// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/filter.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "tests/analyze/packet/literal_packet.hpp"

namespace roce::analyze {
namespace filter_test {
namespace {

Filter compiled(std::string_view expression) {
  auto filter = Filter::compile(expression);
  if (!filter) {
    ADD_FAILURE() << filter.error().describe(expression);
    return std::move(*Filter::compile(""));
  }
  return std::move(*filter);
}

bool matches(const LiteralPacket& packet, std::string_view expression) {
  return compiled(expression).matches(packet.view());
}

TEST(Filter, empty_expression_matches_everything) {
  const LiteralPacket packet(ipv4_acknowledge);
  EXPECT_TRUE(matches(packet, ""));
  EXPECT_TRUE(matches(packet, " \t\n"));
}

TEST(Filter, connects_and_binds_as_wireshark) {
  const LiteralPacket packet(ipv4_acknowledge);  // ip, udp, not ipv6, not vlan
  struct Case {
    std::string_view expression;
    bool match;
  };
  constexpr Case cases[] = {
      {"ip && udp", true},
      {"ip and vlan", false},
      {"vlan || udp", true},
      {"vlan or ipv6", false},
      {"ip xor udp", false},
      {"ip ^^ vlan", true},
      {"vlan xor ipv6", false},
      {"ip xor udp xor eth", true},
      {"ip xor (udp xor (eth xor vlan))", true},
      {"!ip", false},
      {"not not ip", true},
      {"!!!ip", false},
      {"! vlan && ipv6", false},
      {"!(vlan && ipv6)", true},
      {"ip or vlan and ipv6", true},
      {"(ip or vlan) and ipv6", false},
      {"vlan and ipv6 or ip", true},
      {"vlan and (ipv6 or ip)", false},
      {"ip or udp xor ip", true},
      {"vlan and ip xor udp", true},
      {"not infiniband.bth.opcode == 17", false},
      {"not infiniband.bth.opcode == 18", true},
      {"((((ip))))", true},
  };
  for (const Case& c : cases) EXPECT_EQ(matches(packet, c.expression), c.match) << c.expression;
}

TEST(Filter, compares_values_of_all_types) {
  LiteralPacket packet(ipv4_acknowledge);
  packet.check_icrc();
  struct Case {
    std::string_view expression;
    bool match;
  };
  constexpr Case cases[] = {
      // numbers
      {"infiniband.bth.psn == 5009560", true},
      {"infiniband.bth.psn == 0x4c7098", true},
      {"infiniband.bth.psn == 023070230", true},
      {"infiniband.bth.psn == 0b10011000111000010011000", true},
      {"infiniband.bth.psn ne 5009560", false},
      {"infiniband.bth.psn < 5009560", false},
      {"infiniband.bth.psn <= 5009560", true},
      {"infiniband.bth.psn > 5009559", true},
      {"infiniband.bth.psn >= 5009561", false},
      {"infiniband.bth.psn < 0", false},
      {"infiniband.bth.psn > 16777215", false},
      {"infiniband.bth.psn in {5009550..5009570}", true},
      {"infiniband.bth.psn in {1, 2 3}", false},
      {"infiniband.bth.psn in {1..3, 2..5009560}", true},
      {"infiniband.bth.psn not in {1..3}", true},
      {"infiniband.reth.va not in {1..3}", true},
      {"infiniband.reth.va != 1", false},
      {"infiniband.bth.psn & 0xff == 0x98", true},
      {"infiniband.bth.psn & 1", false},
      {"infiniband.bth.psn & 8", true},
      {"udp.srcport != udp.dstport", true},
      {"udp.srcport > udp.dstport", true},
      {"udp.srcport === 49593", true},
      // booleans
      {"ip.flags.df == 1", true},
      {"ip.flags.df == True", true},
      {"ip.flags.df == false", false},
      {"ip.flags.df > 0", true},
      // names
      {"infiniband.bth.opcode == Acknowledge", true},
      {"infiniband.bth.opcode == \"RC Acknowledge\"", true},
      {"infiniband.bth.opcode != \"RDMA WRITE Only\"", true},
      {"infiniband.bth.opcode == \"Reliable Connection (RC) - Acknowledge\"", true},
      {"infiniband.bth.opcode in {\"XRC Acknowledge\", CNP}", false},
      {"infiniband.aeth.syndrome.opcode == ack", true},
      {"ip.dsfield.dscp == AF31", true},
      {"roce.dscp == \"AF31\"", true},
      {"roce.ecn == \"ECT(1)\"", true},
      {"ip.proto == UDP", true},
      // times; the packet's is 2026-11-20 10:41:41.978750372 UTC
      {"frame.time_epoch == 1795171301.978750372", true},
      {"frame.time_epoch > \"2026-11-20 10:41:41\"", true},
      {"frame.time_epoch < \"2026-11-20 10:41:42\"", true},
      {"frame.time_epoch == \"2026-11-20T10:41:41.978750372Z\"", true},
      {"frame.time_epoch >= \"2026-11-21\"", false},
      {"frame.time_relative < 1", true},
      {"frame.time_relative > .97875s", true},
      {"frame.time_delta == 0.000000372", true},
      {"frame.time_delta > -1", true},
      {"frame.time_relative in {0.5 .. 1.5}", true},
      // addresses
      {"ip.src == 10.77.0.2", true},
      {"ip.src == \"10.77.0.2\"", true},
      {"ip.src == 10.77.0.0/16", true},
      {"ip.src == 10.76.0.0/16", false},
      {"ip.src == 0.0.0.0/0", true},
      {"ip.src == 10.77.0.3/31", true},
      {"ip.src < 10.77.0.0/16", false},
      {"ip.src <= 10.77.0.0/16", true},
      {"ip.src in {10.77.0.1 .. 10.77.0.5}", true},
      {"ip.src in {10.77.0.5, 10.0.0.0/9, 192.168.0.0/16}", true},
      {"ip.addr in {192.168.0.0/16, 172.16.0.0/12, 10.77.0.7}", false},
      {"roce.src == 10.77.0.2", true},
      {"roce.src == ::ffff:10.77.0.2", true},
      {"roce.src == fe80::/10", false},
      {"roce.dst[0:2] == 0a:4d", true},
      {"eth.src == 52:54:00:00:0b:01", true},
      {"eth.src == 52-54-0-0-b-1", true},
      {"eth.src == 5254.0000.0b01", true},
      {"eth.src > 52:54:00:00:0a:01", true},
      {"eth.addr[0:3] == 52:54:00", true},
      {"eth.src contains 00:0b", true},
      // bytes
      {"infiniband.aeth == 1f:00:00:01", true},
      {"infiniband.aeth == 1f000001", true},
      {"infiniband.aeth == 0x1f000001", true},
      {"infiniband.aeth[0] == 1f", true},
      {"infiniband.aeth[1:3] == 00:00:01", true},
      {"infiniband.aeth[1-3] == 00:00:01", true},
      {"infiniband.aeth[-1] == 1", true},
      {"infiniband.aeth[-3:2] == 0:0", true},
      {"infiniband.aeth[:1] == 1f", true},
      {"infiniband.aeth[2:] == 00.01", true},
      {"infiniband.aeth[2:9] == 00:01", false},
      {"infiniband.aeth[9]", false},
      {"infiniband.aeth[3]", true},
      {"infiniband.aeth contains \"\\x1f\\0\"", true},
      {"infiniband.aeth matches \"\\x00\\x01$\"", true},
      {"infiniband.bth contains 4c:70:98", true},
      {"infiniband.bth contains 4c:70:99", false},
      // texts
      {"roce.icrc.status == \"match\"", true},
      {"roce.icrc.status != \"match\"", false},
      {"roce.icrc.status in {mismatch, not_checkable}", false},
      {"roce.service == RC", true},
      {"roce.service[0] == \"R\"", true},
      {"roce.operation contains \"know\"", true},
      {"roce.operation contains know", true},
      {"roce.operation matches \"KNOW\"", true},
      {"roce.operation ~ r\"^\\w+$\"", true},
      {"frame.protocols contains \"udp\"", true},
      {"roce.version == roce.service", false},
      {"frame.number == '\\a'", true},
  };
  for (const Case& c : cases) EXPECT_EQ(matches(packet, c.expression), c.match) << c.expression;
}

// ip.addr has two values here, 10.77.0.2 and 10.77.0.1.
TEST(Filter, quantifies_over_several_values) {
  const LiteralPacket packet(ipv4_acknowledge);
  EXPECT_TRUE(matches(packet, "ip.addr == 10.77.0.1"));
  EXPECT_FALSE(matches(packet, "ip.addr != 10.77.0.1"));
  EXPECT_TRUE(matches(packet, "ip.addr != 10.77.0.3"));
  EXPECT_TRUE(matches(packet, "ip.addr !== 10.77.0.1"));
  EXPECT_TRUE(matches(packet, "ip.addr ~= 10.77.0.1"));
  EXPECT_FALSE(matches(packet, "ip.addr === 10.77.0.1"));
  EXPECT_TRUE(matches(packet, "ip.addr === 10.77.0.0/24"));
  EXPECT_TRUE(matches(packet, "any ip.addr != 10.77.0.1"));
  EXPECT_FALSE(matches(packet, "all ip.addr == 10.77.0.1"));
  EXPECT_TRUE(matches(packet, "all ip.addr in {10.77.0.1, 10.77.0.2}"));
  EXPECT_FALSE(matches(packet, "all ipv6.addr == ::1"));
  EXPECT_TRUE(matches(packet, "ip.addr all_ne 10.77.0.3"));
  EXPECT_TRUE(matches(packet, "ip.addr any_ne 10.77.0.1"));
}

TEST(Filter, says_what_it_needs) {
  EXPECT_FALSE(compiled("infiniband.bth.psn == 1").needs_icrc());
  EXPECT_TRUE(compiled("ip and not roce.icrc.status == match").needs_icrc());
  EXPECT_TRUE(compiled("roce.flow == 3").needs_flow());
  EXPECT_FALSE(compiled("roce.icrc.status == match").needs_flow());
}

TEST(Filter, survives_moving) {
  Filter first = compiled("infiniband.bth.opcode == 17");
  Filter second = std::move(first);
  first = compiled("vlan");
  const LiteralPacket packet(ipv4_acknowledge);
  EXPECT_TRUE(second.matches(packet.view()));
  EXPECT_FALSE(first.matches(packet.view()));
}

}  // namespace
}  // namespace filter_test
}  // namespace roce::analyze

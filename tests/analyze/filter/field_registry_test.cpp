// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/field_registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "dissect/dissect.hpp"
#include "dissect/header_table.hpp"
#include "tests/analyze/packet/literal_packet.hpp"

namespace roce::analyze {
namespace {

std::string print(const PacketView& packet, std::string_view name) {
  const auto field = find_field(name);
  if (!field) return "no such field";
  Values values;
  extract(packet, *field, values);
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ',';
    append_value(out, field_facts(*field), values[i]);
  }
  return out;
}

// Expectations are what `tshark -T fields` 4.0.17 prints for these bytes.
TEST(FieldRegistry, prints_an_acknowledge_as_tshark_does) {
  LiteralPacket packet(ipv4_acknowledge);
  const PacketView& view = packet.view();
  EXPECT_EQ(print(view, "eth.dst"), "52:54:00:00:0a:01");
  EXPECT_EQ(print(view, "eth.type"), "0x0800");
  EXPECT_EQ(print(view, "ip.hdr_len"), "20");
  EXPECT_EQ(print(view, "ip.dsfield"), "0x69");
  EXPECT_EQ(print(view, "ip.dsfield.dscp"), "26");
  EXPECT_EQ(print(view, "ip.dsfield.ecn"), "1");
  EXPECT_EQ(print(view, "ip.flags"), "0x02");
  EXPECT_EQ(print(view, "ip.flags.df"), "1");
  EXPECT_EQ(print(view, "ip.addr"), "10.77.0.2,10.77.0.1");
  EXPECT_EQ(print(view, "eth.addr"), "52:54:00:00:0a:01,52:54:00:00:0b:01");
  EXPECT_EQ(print(view, "udp.port"), "49593,4791");
  EXPECT_EQ(print(view, "udp.checksum"), "0x0000");
  EXPECT_EQ(print(view, "infiniband.bth"), "1100ffff00000015004c7098");
  EXPECT_EQ(print(view, "infiniband.bth.opcode"), "17");
  EXPECT_EQ(print(view, "infiniband.bth.destqp"), "0x000015");
  EXPECT_EQ(print(view, "infiniband.bth.psn"), "5009560");
  EXPECT_EQ(print(view, "infiniband.bth.p_key"), "65535");
  EXPECT_EQ(print(view, "infiniband.bth.a"), "0");
  EXPECT_EQ(print(view, "infiniband.aeth"), "1f000001");
  EXPECT_EQ(print(view, "infiniband.aeth.syndrome"), "31");
  EXPECT_EQ(print(view, "infiniband.aeth.syndrome.credit_count"), "31");
  EXPECT_EQ(print(view, "infiniband.aeth.syndrome.timer"), "");
  EXPECT_EQ(print(view, "infiniband.aeth.msn"), "1");
  EXPECT_EQ(print(view, "infiniband.reth.va"), "");
  EXPECT_EQ(print(view, "ipv6.src"), "");
}

TEST(FieldRegistry, computed_fields) {
  LiteralPacket packet(ipv4_acknowledge);
  const PacketView& view = packet.view();
  EXPECT_EQ(print(view, "frame.number"), "7");
  EXPECT_EQ(print(view, "frame.len"), "62");
  EXPECT_EQ(print(view, "frame.cap_len"), "62");
  EXPECT_EQ(print(view, "frame.time"), "Nov 20, 2026 10:41:41.978750372 UTC");
  EXPECT_EQ(print(view, "frame.time_epoch"), "1795171301.978750372");
  EXPECT_EQ(print(view, "frame.time_relative"), "0.978750372");
  EXPECT_EQ(print(view, "frame.time_delta"), "0.000000372");
  EXPECT_EQ(print(view, "frame.protocols"), "eth:ethertype:ip:udp:infiniband");
  EXPECT_EQ(print(view, "roce.version"), "v2_ipv4");
  EXPECT_EQ(print(view, "roce.service"), "RC");
  EXPECT_EQ(print(view, "roce.operation"), "Acknowledge");
  EXPECT_EQ(print(view, "roce.syndrome"), "ACK");
  EXPECT_EQ(print(view, "roce.credits"), "");
  EXPECT_EQ(print(view, "roce.dscp"), "26");
  EXPECT_EQ(print(view, "roce.ecn"), "1");
  EXPECT_EQ(print(view, "roce.pcp"), "");
  EXPECT_EQ(print(view, "roce.src"), "10.77.0.2");
  EXPECT_EQ(print(view, "roce.payload_length"), "0");
  EXPECT_EQ(print(view, "roce.icrc.status"), "");
}

TEST(FieldRegistry, words_come_with_the_numbers) {
  LiteralPacket packet(ipv4_acknowledge);
  Values values;
  extract(packet.view(), *find_field("infiniband.bth.opcode"), values);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].text, "RC Acknowledge");
  values.clear();
  extract(packet.view(), *find_field("ip.dsfield.dscp"), values);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].text, "AF31");
  ASSERT_EQ(values[0].bytes.size(), 1U);
  EXPECT_EQ(values[0].bytes[0], 0x69);
}

TEST(FieldRegistry, headers_are_fields_for_presence) {
  LiteralPacket packet(ipv4_acknowledge);
  Values values;
  extract(packet.view(), *find_field("ip"), values);
  EXPECT_EQ(values.size(), 1U);
  EXPECT_EQ(field_facts(*find_field("ip")).type, ValueType::presence);
  EXPECT_EQ(field_facts(*find_field("infiniband.aeth")).type, ValueType::bytes);
  values.clear();
  extract(packet.view(), *find_field("infiniband.reth"), values);
  EXPECT_TRUE(values.empty());
  extract(packet.view(), *find_field("roce"), values);
  EXPECT_EQ(values.size(), 1U);
}

TEST(FieldRegistry, protocols_that_are_not_dissected_are_present) {
  struct Case {
    std::string_view bytes, name, protocols;
  };
  constexpr Case cases[] = {
      {"ffffffffffff 525400000b01 0806 0001 0800", "arp", "eth:ethertype:arp"},
      {"ffffffffffff 525400000b01 8100 0007 0806 0001 0800", "arp", "eth:ethertype:vlan:ethertype:arp"},
      {"0180c2000000 525400000b01 0003 42 42 03", "llc", "eth:ethertype:llc"},
      {"525400000a01 525400000b01 0800 4500 0018 a539 4000 40 06 0000 0a4d0002 0a4d0001 0016 d431", "tcp",
       "eth:ethertype:ip:tcp"},
      {"525400000a01 525400000b01 0800 4500 0018 a539 4000 40 01 0000 0a4d0002 0a4d0001 0800 0000", "icmp",
       "eth:ethertype:ip:icmp"},
      {"525400000a01 525400000b01 86dd 60000000 0004 3a 40 fe80000000000000 0000000000000001"
       "fe80000000000000 0000000000000002 8000 0000",
       "icmpv6", "eth:ethertype:ipv6:icmpv6"},
  };
  for (const Case& c : cases) {
    LiteralPacket packet(c.bytes);
    EXPECT_EQ(print(packet.view(), "frame.protocols"), c.protocols);
    for (const std::string_view name : {"arp", "llc", "tcp", "icmp", "icmpv6", "igmp", "sctp"}) {
      Values values;
      extract(packet.view(), *find_field(name), values);
      EXPECT_EQ(values.size(), name == c.name ? 1U : 0U) << name << " of " << c.name;
    }
  }
  LiteralPacket tcp(cases[3].bytes);
  Values values;
  extract(tcp.view(), *find_field("tcp"), values);
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].bytes.size(), 4U);  // slices are those of its bytes
  LiteralPacket later(                    // a later fragment does not begin with a TCP header
      "525400000a01 525400000b01 0800 4500 0018 a539 0010 40 06 0000 0a4d0002 0a4d0001 0016 d431");
  values.clear();
  extract(later.view(), *find_field("tcp"), values);
  EXPECT_TRUE(values.empty());
}

TEST(FieldRegistry, a_cut_packet_gives_whole_headers_only) {
  for (std::size_t length = 0; length <= 62; ++length) {
    LiteralPacket packet(ipv4_acknowledge, length);
    for (const FieldRef field : all_fields()) {
      Values values;
      extract(packet.view(), field, values);
      for (const Value& value : values) {
        if (value.bytes.empty()) continue;
        EXPECT_GE(value.bytes.data(), packet.view().bytes().data());
        EXPECT_LE(value.bytes.data() + value.bytes.size(), packet.view().bytes().data() + length);
      }
    }
    EXPECT_EQ(print(packet.view(), "infiniband.bth.psn"), length >= 54 ? "5009560" : "") << length;
    EXPECT_EQ(print(packet.view(), "infiniband.aeth.msn"), length >= 58 ? "1" : "") << length;
  }
}

TEST(FieldRegistry, every_name_of_the_tables_is_found_and_sorted) {
  for (const dissect::HeaderInfo& header : dissect::header_table()) {
    if (!header.name.empty()) {
      EXPECT_TRUE(find_field(header.name)) << header.name;
    }
    for (const dissect::Field& field : header.fields) EXPECT_TRUE(find_field(field.name)) << field.name;
  }
  const auto& fields = all_fields();
  EXPECT_TRUE(std::is_sorted(fields.begin(), fields.end(), [](FieldRef a, FieldRef b) {
    return field_facts(a).name < field_facts(b).name;
  }));
  std::set<std::string_view> names;
  for (const FieldRef field : fields) {
    EXPECT_TRUE(names.insert(field_facts(field).name).second) << field_facts(field).name;
    EXPECT_FALSE(field_facts(field).label.empty()) << field_facts(field).name;
  }
  EXPECT_FALSE(find_field(""));
  EXPECT_FALSE(find_field("infiniband.bth.psnn"));
  EXPECT_FALSE(find_field("IP.src"));
}

TEST(FieldRegistry, facts_tell_what_a_value_may_be) {
  const FieldFacts& psn = field_facts(*find_field("infiniband.bth.psn"));
  EXPECT_EQ(psn.max, 0xffffffU);
  EXPECT_FALSE(psn.hex);
  const FieldFacts& qp = field_facts(*find_field("infiniband.bth.destqp"));
  EXPECT_TRUE(qp.hex);
  EXPECT_EQ(qp.hex_digits, 6);
  EXPECT_EQ(field_facts(*find_field("ip.hdr_len")).max, 60U);
  EXPECT_EQ(field_facts(*find_field("infiniband.reth.va")).max, ~std::uint64_t{0});
  EXPECT_TRUE(field_facts(*find_field("roce.icrc.status")).needs_icrc);
  EXPECT_TRUE(field_facts(*find_field("roce.flow")).needs_flow);
  EXPECT_EQ(field_facts(*find_field("roce.src")).type, ValueType::ip);
}

TEST(FieldRegistry, suggests_what_was_meant) {
  const auto first = [](std::string_view name) {
    const auto names = similar_fields(name, 3);
    return names.empty() ? std::string_view{} : names.front();
  };
  EXPECT_EQ(first("infiniband.bth.psm"), "infiniband.bth.psn");
  EXPECT_EQ(first("infinband.bth.opcode"), "infiniband.bth.opcode");
  EXPECT_EQ(first("bth.psn"), "infiniband.bth.psn");
  EXPECT_EQ(first("IP.SRC"), "ip.src");
  EXPECT_EQ(first("frame.nubmer"), "frame.number");
  EXPECT_TRUE(similar_fields("completely.else", 3).empty());
  EXPECT_TRUE(similar_fields("", 3).empty());
  EXPECT_TRUE(similar_fields(std::string(100000, 'x'), 3).empty());
  EXPECT_LE(similar_fields("infiniband.bth", 3).size(), 3U);
}

}  // namespace
}  // namespace roce::analyze

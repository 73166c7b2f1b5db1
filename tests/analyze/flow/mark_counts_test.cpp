// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/mark_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "analyze/flow/flow_table.hpp"

namespace roce::analyze {
namespace mark_counts_test {
namespace {

constexpr std::uint8_t write_only = 0x0a, acknowledge = 0x11, read_response = 0x10, cnp = 0x81;
constexpr std::uint8_t ce = 3, ect0 = 2;

PacketRecord packet(std::uint8_t opcode, std::uint8_t traffic_class) {
  PacketRecord r;
  r.key.dst_qp = 0x11;
  r.key.transport = dissect::Transport::roce_v2_ipv4;
  r.flags = PacketRecord::valid | PacketRecord::selected | PacketRecord::has_ports;
  r.more = PacketRecord::has_ip_id;
  r.opcode = opcode;
  r.traffic_class = traffic_class;
  r.udp_source = 50'000;
  r.ttl = 64;
  r.p_key = 0xffff;
  return r;
}

/// A flow and the numbers and times that a capture would give its packets: time is number times 10.
struct Counted {
  Flow flow;
  std::uint64_t number = 0;

  Counted() { flow.key = packet(0, 0).key; }
  bool operator()(const PacketRecord& sent) {
    PacketRecord r = sent;
    r.time_ns = static_cast<std::int64_t>(++number * 10);
    return flow.count(r, number);
  }
  std::vector<MarkRow> rows() {
    flow.settle();
    return flow.marks();
  }
};

/// One packet at a time, by all that a row tells apart.
using Key = std::tuple<TrafficClass, unsigned, unsigned, int, int, unsigned, unsigned>;
Key key_of(TrafficClass of, const Marks& marks, unsigned p_key) {
  return {
      of,        marks.dscp, marks.ecn, marks.pcp ? int{*marks.pcp} : -1, marks.vlan ? int{*marks.vlan} : -1,
      marks.ttl, p_key};
}

TEST(MarkCounts, EqualCountingOneByOne) {
  std::mt19937 random(3);
  Counted count;
  struct Expected {
    std::uint64_t packets = 0, first = 0;
  };
  std::map<Key, Expected> expected;
  const std::uint8_t opcodes[] = {write_only, acknowledge, 0x06, 0x07, 0x08};
  PacketRecord r = packet(write_only, 26 << 2U | ect0);
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 50 == 0)
      r.traffic_class = static_cast<std::uint8_t>((random() % 2 == 0 ? 26U : 0U) << 2U | ect0);
    if (random() % 50 == 0) r.flags = static_cast<std::uint8_t>(r.flags ^ PacketRecord::tagged);
    r.tag = static_cast<std::uint16_t>(r.has(PacketRecord::tagged) ? 3U << 13U | 100U : 0U);
    r.opcode = opcodes[random() % std::size(opcodes)];
    PacketRecord sent = r;
    if (random() % 20 == 0) sent.traffic_class |= ce;
    if (random() % 30 == 0) {
      sent.opcode = cnp;
      sent.traffic_class = 48 << 2U;
    }
    count(sent);
    Marks marks{static_cast<std::uint8_t>(sent.traffic_class >> 2U),
                static_cast<std::uint8_t>(sent.traffic_class & 3U),
                {},
                {},
                64};
    if (sent.has(PacketRecord::tagged)) {
      marks.pcp = std::uint8_t{3};
      marks.vlan = std::uint16_t{100};
    }
    Expected& row = expected[key_of(traffic_class(sent.opcode, 0x11), marks, 0xffff)];
    if (row.packets++ == 0) row.first = count.number;
  }
  const auto rows = count.rows();
  ASSERT_EQ(rows.size(), expected.size());
  std::uint64_t before = 0;
  for (const MarkRow& row : rows) {
    const Expected& right = expected[key_of(row.traffic_class, row.marks, row.p_key)];
    EXPECT_EQ(row.packets, right.packets);
    EXPECT_EQ(row.first_packet, right.first);
    EXPECT_EQ(row.first_time_ns, static_cast<std::int64_t>(right.first * 10));
    EXPECT_GT(row.first_packet, before);
    before = row.first_packet;
  }
  // What is counted apart is in every other count as well.
  const Flow& flow = count.flow;
  EXPECT_EQ(flow.packets, 20'000U);
  std::uint64_t of_all = 0, marked_ce = 0;
  for (const auto& entry : flow.dscp.sorted()) of_all += entry.count;
  for (const MarkRow& row : rows) marked_ce += row.marks.ecn == ce ? row.packets : 0;
  EXPECT_EQ(of_all, flow.packets);
  EXPECT_EQ(flow.ecn[ce], marked_ce);
  EXPECT_EQ(flow.clear_df, flow.packets);
  EXPECT_EQ(flow.udp_sports.sorted()[0].count, flow.packets);
}

TEST(MarkCounts, TtlAndPartitionTellRowsApart) {
  Counted count;
  PacketRecord r = packet(write_only, 0);
  count(r);
  r.ttl = 63;
  count(r);
  r.p_key = 0x8001;
  count(r);
  count(r);
  const auto rows = count.rows();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].marks.ttl, 64);
  EXPECT_EQ(rows[1].marks.ttl, 63);
  EXPECT_EQ(rows[2].p_key, 0x8001);
  EXPECT_EQ(rows[2].packets, 2U);
  EXPECT_FALSE(rows[2].marks.pcp.has_value());
}

TEST(MarkCounts, AnotherSourcePortIsTheSameRow) {
  Counted count;
  PacketRecord r = packet(write_only, 0);
  count(r);
  r.udp_source = 50'001;
  EXPECT_TRUE(count(r));
  EXPECT_EQ(count.rows().size(), 1U);
  EXPECT_EQ(count.flow.udp_sports.distinct(), 2U);
}

TEST(MarkCounts, CeAndCnpLeaveTheLookAsItIs) {
  Counted count;
  EXPECT_TRUE(count(packet(read_response, 26 << 2U | ect0)));
  EXPECT_FALSE(count(packet(read_response, 26 << 2U | ce)));
  EXPECT_FALSE(count(packet(cnp, 48 << 2U)));
  EXPECT_FALSE(count(packet(read_response, 26 << 2U | ect0)));
  const auto rows = count.rows();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].packets, 2U);
  EXPECT_EQ(rows[1].marks.ecn, ce);
  EXPECT_EQ(rows[2].traffic_class, TrafficClass::cnp);
  EXPECT_EQ(rows[2].marks.dscp, 48);
}

TEST(MarkCounts, AFlowThatBeginsWithCeHasOneLookLater) {
  Counted count;
  EXPECT_TRUE(count(packet(write_only, 26 << 2U | ce)));
  EXPECT_TRUE(count(packet(write_only, 26 << 2U | ect0)));
  EXPECT_FALSE(count(packet(write_only, 26 << 2U | ce)));
  const auto rows = count.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].packets, 2U);
  EXPECT_EQ(rows[1].packets, 1U);
}

TEST(MarkCounts, RowsAreBounded) {
  Counted count;
  for (unsigned i = 0; i < 1000; ++i) {
    PacketRecord r = packet(write_only, 0);
    r.ttl = static_cast<std::uint8_t>(i % 256);
    count(r);
  }
  const auto rows = count.rows();
  ASSERT_EQ(rows.size(), MarkCounts::limit);
  std::uint64_t counted = 0;
  for (const MarkRow& row : rows) counted += row.packets;
  EXPECT_EQ(counted, MarkCounts::limit * 4);  // 1000 packets have each of the first 232 TTLs four times
  EXPECT_EQ(count.flow.packets, 1000U);       // the rest is known by the difference
}

TEST(MarkCounts, AnEarlierPacketThatWaitedIsTheFirst) {
  MarkCounts counts;
  const std::uint64_t key = MarkCounts::key_of({}, TrafficClass::data);
  counts.note(key, 9, 90);
  counts.add(key, 1);
  counts.note(key, 4, 40);
  counts.add(key, 1);
  ASSERT_EQ(counts.rows().size(), 1U);
  EXPECT_EQ(counts.rows()[0].first_packet, 4U);
  EXPECT_EQ(counts.rows()[0].first_time_ns, 40);
  EXPECT_EQ(counts.rows()[0].packets, 2U);
}

TEST(MarkCounts, AFlowIsNotLargerForThem) {
  // Six cache lines, as without rows.
  EXPECT_EQ(sizeof(Flow), 384U);
}

}  // namespace
}  // namespace mark_counts_test
}  // namespace roce::analyze

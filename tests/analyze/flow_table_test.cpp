// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow_table.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

namespace roce::analyze {
namespace {

PacketRecord record(std::uint32_t qp, std::int64_t time, std::uint8_t opcode = 0x0a) {
  PacketRecord r;
  r.key.dst_qp = qp;
  r.key.transport = dissect::Transport::roce_v2_ipv4;
  r.key_hash = r.key.hash();
  r.time_ns = time;
  r.opcode = opcode;
  r.wire = 100;
  r.payload = 40;
  r.flags = PacketRecord::valid | PacketRecord::selected | PacketRecord::has_ports;
  r.udp_source = 50'000;
  return r;
}

TEST(FlowTable, GroupsAndSinglesCountAlike) {
  std::mt19937 random(1);
  std::vector<PacketRecord> records;
  for (int i = 0; i < 5000; ++i) {
    records.push_back(record(static_cast<std::uint32_t>(random() % 300), i));
    if (random() % 10 == 0) records.back().flags = 0;  // no transport packet
    if (random() % 3 == 0 && i > 0) records.push_back(records.back());
  }
  FlowTable singles;
  FlowTable groups;
  for (const PacketRecord& r : records) {
    if (r.has(PacketRecord::valid)) singles.add(r);
  }
  groups.add_all(records);
  const auto a = singles.take_sorted();
  const auto b = groups.take_sorted();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].id, i);
    EXPECT_EQ(a[i].id, b[i].id);
    EXPECT_TRUE(a[i].key == b[i].key);
    EXPECT_EQ(a[i].packets, b[i].packets);
    EXPECT_EQ(a[i].first_time_ns, b[i].first_time_ns);
  }
}

TEST(FlowTable, TheLongestIdleLeaveFirst) {
  FlowTable table(64);
  for (std::uint32_t qp = 0; qp < 64; ++qp) table.add(record(qp, qp));
  table.add(record(0, 1000));   // the oldest becomes the youngest
  table.add(record(99, 1001));  // no room: four leave
  EXPECT_EQ(table.evicted_flows(), 4U);
  EXPECT_EQ(table.evicted_packets(), 4U);
  const auto flows = table.take_sorted();
  EXPECT_EQ(flows.size(), 61U);
  EXPECT_EQ(flows.front().key.dst_qp, 0U);
  EXPECT_EQ(flows[1].key.dst_qp, 5U);
  EXPECT_EQ(flows.back().key.dst_qp, 99U);
  EXPECT_EQ(flows.back().id, 64U);
}

TEST(FlowTable, ARetiredFlowStaysListedAndItsKeyBeginsAnew) {
  FlowTable table;
  const PacketRecord r = record(7, 1);
  table.add(r);
  const std::uint32_t old = table.find(r);
  table.retire(old);
  EXPECT_EQ(table.find(r), FlowTable::none);
  EXPECT_EQ(table.find(r.key), FlowTable::none);
  table.retire(old);  // once more changes nothing
  table.add(r);
  table.add(r);
  EXPECT_NE(table.find(r), old);
  table.retire(old);  // nor does it touch the new one
  EXPECT_NE(table.find(r), FlowTable::none);
  EXPECT_EQ(table.size(), 2U);
  const auto flows = table.take_sorted();
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows[0].packets, 1U);
  EXPECT_EQ(flows[1].packets, 2U);
  EXPECT_TRUE(flows[0].key == flows[1].key);
}

TEST(FlowTable, FreeingARetiredFlowLeavesItsSuccessor) {
  FlowTable table;
  const PacketRecord r = record(7, 1);
  const std::uint32_t old = table.place_of(r);
  table.retire(old);
  const std::uint32_t successor = table.place_of(r);
  table.free(old);
  EXPECT_EQ(table.find(r), successor);
  EXPECT_EQ(table.evicted_flows(), 0U);  // no packet of it counted
  EXPECT_EQ(table.place_of(record(8, 1)), old);
}

TEST(FlowTable, WhatMustStayIsNotEvicted) {
  FlowTable table(32);
  for (std::uint32_t qp = 0; qp < 32; ++qp) table.add(record(qp, qp));
  EXPECT_TRUE(table.full());
  std::vector<std::uint32_t> left;
  const auto stays = [](std::uint32_t place) {
    return place < 30 ? std::nullopt : std::optional<std::uint64_t>(100 - place);
  };
  table.evict(stays, [&](std::uint32_t place) { left.push_back(place); });
  EXPECT_EQ(left, (std::vector<std::uint32_t>{31, 30}));  // a sixteenth, the longest idle first
  EXPECT_FALSE(table.full());
  EXPECT_EQ(table.evicted_flows(), 2U);
  table.evict([](std::uint32_t) { return std::nullopt; }, [](std::uint32_t) { FAIL(); });
  EXPECT_EQ(table.size(), 30U);
}

TEST(FlowTable, ServiceIsThatOfTheFirstPacketButACnp) {
  FlowTable table;
  table.add(record(7, 1, dissect::opcode_cnp));
  table.add(record(7, 2, 0x24));  // UC SEND Only
  table.add(record(8, 1, dissect::opcode_cnp));
  const auto flows = table.take_sorted();
  EXPECT_TRUE(flows[0].service_known);
  EXPECT_EQ(flows[0].service, dissect::Service::uc);
  EXPECT_EQ(flows[0].messages, 1U);
  EXPECT_FALSE(flows[1].service_known);
  EXPECT_EQ(flows[1].messages, 0U);
}

TEST(SmallCounts, KeepsManyKeysAndCountsTheRest) {
  SmallCounts<std::uint16_t, 2, 5> counts;
  for (const std::uint16_t key : std::initializer_list<std::uint16_t>{5, 4, 3, 2, 1, 0, 5, 0})
    counts.add(key);
  const auto sorted = counts.sorted();
  ASSERT_EQ(sorted.size(), 5U);
  EXPECT_EQ(sorted.front().key, 1);
  EXPECT_EQ(sorted.back().key, 5);
  EXPECT_EQ(sorted.back().count, 2U);
  EXPECT_EQ(counts.others(), 2U);
  SmallCounts<std::uint16_t, 2, 5> sum;
  sum.merge(counts);
  sum.merge(counts);
  EXPECT_EQ(sum.sorted().back().count, 4U);
  EXPECT_EQ(sum.others(), 4U);
}

TEST(FlowKey, EveryPartMatters) {
  FlowKey a;
  FlowKey b;
  EXPECT_TRUE(a == b);
  b.src.bytes[15] = 1;
  EXPECT_FALSE(a == b);
  EXPECT_NE(a.hash(), b.hash());
  b = a;
  b.transport = dissect::Transport::roce_v1;
  EXPECT_FALSE(a == b);
  EXPECT_NE(a.hash(), b.hash());
}

}  // namespace
}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/flow_table.hpp"

#include <gtest/gtest.h>

#include <array>
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

/// Counts a packet as the tracker does; the longest idle leave first.
void add(FlowTable& table, const PacketRecord& r) {
  if (table.find(r) == FlowTable::none && table.full()) {
    const auto last_use = [&](std::uint32_t place) {
      return std::optional(static_cast<std::uint64_t>(table.at(place).last_time_ns));
    };
    table.evict(last_use, nullptr);
  }
  table.at(table.place_of(r)).count(r, 1);
}

TEST(FlowTable, GuessesAreRightOrNone) {
  std::mt19937 random(1);
  FlowTable table;
  std::size_t right = 0;
  for (int i = 0; i < 20'000; ++i) {
    const PacketRecord r = record(static_cast<std::uint32_t>(random() % 3000), i);
    const std::uint32_t guess = table.guess(r);
    const std::uint32_t place = table.place_of(r);
    EXPECT_TRUE(guess == FlowTable::none || guess == place);  // no two of these keys share 44 bits of hash
    if (guess == place) ++right;
    EXPECT_EQ(table.find(r), place);
    EXPECT_TRUE(table.at(place).key == r.key);
  }
  EXPECT_GT(table.size(), 2900U);
  EXPECT_GT(right, 10'000U);
}

TEST(FlowTable, CountsByValueAreSettledAtTheEnd) {
  std::mt19937 random(2);
  FlowTable table;
  std::array<std::uint64_t, 64> dscp{};
  std::array<std::uint64_t, 4> ecn{};
  std::array<std::uint64_t, 8> pcp{};
  std::array<std::uint64_t, 256> opcodes{};
  std::uint64_t clear_df = 0;
  PacketRecord r = record(7, 1);
  constexpr int packets = 20'000;
  for (int i = 0; i < packets; ++i) {
    if (random() % 10 == 0) {
      r.traffic_class = static_cast<std::uint8_t>(random());
      r.tag = static_cast<std::uint16_t>(random() & 0xefffU);
      r.flags = static_cast<std::uint8_t>(r.flags ^ (random() % 2 == 0 ? PacketRecord::tagged : 0));
      r.more = static_cast<std::uint8_t>(random() % 4);
    }
    if (random() % 5 == 0) r.opcode = static_cast<std::uint8_t>(random() % 0x16);
    ++dscp[r.traffic_class >> 2U];
    ++ecn[r.traffic_class & 3U];
    if (r.has(PacketRecord::tagged)) ++pcp[r.pcp()];
    ++opcodes[r.opcode];
    if (r.has(PacketRecord::has_ip_id) && !r.has(PacketRecord::dont_fragment)) ++clear_df;
    table.at(table.place_of(r)).count(r, static_cast<std::uint64_t>(i) + 1);
  }
  const auto flows = table.take_sorted();
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows[0].packets, static_cast<std::uint64_t>(packets));
  EXPECT_EQ(flows[0].ecn, ecn);
  EXPECT_EQ(flows[0].clear_df, clear_df);
  for (const auto& [key, count] : flows[0].dscp.sorted()) EXPECT_EQ(count, dscp[key]);
  for (const auto& [key, count] : flows[0].pcp.sorted()) EXPECT_EQ(count, pcp[key]);
  std::uint64_t of_all = 0;
  for (const auto& [key, count] : flows[0].opcodes.sorted()) {
    EXPECT_EQ(count, opcodes[key]);
    of_all += count;
  }
  EXPECT_EQ(of_all, flows[0].packets);
  ASSERT_EQ(flows[0].udp_sports.sorted().size(), 1U);
  EXPECT_EQ(flows[0].udp_sports.sorted()[0].count, flows[0].packets);
}

TEST(FlowTable, TheLongestIdleLeaveFirst) {
  FlowTable table(64);
  for (std::uint32_t qp = 0; qp < 64; ++qp) add(table, record(qp, qp));
  add(table, record(0, 1000));   // the oldest becomes the youngest
  add(table, record(99, 1001));  // no room: four leave
  EXPECT_EQ(table.departed().flows, 4U);
  EXPECT_EQ(table.departed().packets, 4U);
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
  add(table, r);
  const std::uint32_t old = table.find(r);
  table.retire(old);
  EXPECT_EQ(table.find(r), FlowTable::none);
  EXPECT_EQ(table.find(r.key), FlowTable::none);
  table.retire(old);  // once more changes nothing
  add(table, r);
  add(table, r);
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
  EXPECT_EQ(table.departed().flows, 0U);  // no packet of it counted
  EXPECT_EQ(table.place_of(record(8, 1)), old);
}

TEST(FlowTable, WhatMustStayIsNotEvicted) {
  FlowTable table(32);
  for (std::uint32_t qp = 0; qp < 32; ++qp) add(table, record(qp, qp));
  EXPECT_TRUE(table.full());
  std::vector<std::uint32_t> left;
  const auto stays = [](std::uint32_t place) {
    return place < 30 ? std::nullopt : std::optional<std::uint64_t>(100 - place);
  };
  table.evict(stays, [&](std::uint32_t place) { left.push_back(place); });
  EXPECT_EQ(left, (std::vector<std::uint32_t>{31, 30}));  // a sixteenth, the longest idle first
  EXPECT_FALSE(table.full());
  EXPECT_EQ(table.departed().flows, 2U);
  table.evict([](std::uint32_t) { return std::nullopt; }, [](std::uint32_t) { FAIL(); });
  EXPECT_EQ(table.size(), 30U);
}

TEST(FlowTable, ServiceIsThatOfTheFirstPacketButACnp) {
  FlowTable table;
  add(table, record(7, 1, dissect::opcode_cnp));
  add(table, record(7, 2, 0x24));  // UC SEND Only
  add(table, record(8, 1, dissect::opcode_cnp));
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

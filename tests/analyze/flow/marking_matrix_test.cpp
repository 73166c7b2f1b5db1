// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/marking_matrix.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "analyze/flow/flow_table.hpp"

namespace roce::analyze {
namespace marking_matrix_test {
namespace {

constexpr std::uint8_t write_only = 0x0a, acknowledge = 0x11;

/// Flows with one packet each, or more by add().
struct Flows {
  std::vector<Flow> all;
  std::uint64_t number = 0;

  Flow& flow(unsigned src, unsigned dst, std::uint32_t qp = 0x11) {
    Flow& flow = all.emplace_back();
    flow.id = all.size() - 1;
    flow.key.src = address(src);
    flow.key.dst = address(dst);
    flow.key.dst_qp = qp;
    return flow;
  }
  void add(Flow& flow, std::uint8_t dscp, std::uint8_t opcode = write_only, std::uint8_t ttl = 64) {
    PacketRecord r;
    r.key = flow.key;
    r.opcode = opcode;
    r.traffic_class = static_cast<std::uint8_t>(unsigned{dscp} << 2U | 2U);
    r.ttl = ttl;
    flow.count(r, ++number);
    flow.settle();
  }
  static dissect::IpAddress address(unsigned n) {
    const std::uint8_t bytes[] = {10, static_cast<std::uint8_t>(n >> 16U), static_cast<std::uint8_t>(n >> 8U),
                                  static_cast<std::uint8_t>(n)};
    return dissect::IpAddress::v4(bytes);
  }
};

std::uint64_t packets_of(const MarkingMatrix& matrix) {
  std::uint64_t sum = matrix.others;
  for (const Marking& row : matrix.rows) sum += row.packets;
  return sum;
}

TEST(MarkingMatrix, CountsClassesDirectionsAndMarks) {
  Flows flows;
  flows.all.reserve(3);
  Flow& to = flows.flow(1, 2);
  Flow& also_to = flows.flow(1, 2, 0x12);
  Flow& back = flows.flow(2, 1);
  flows.add(to, 26);
  flows.add(to, 26, write_only, 63);  // another TTL: another row of the flow, the same cell
  flows.add(also_to, 26);
  flows.add(back, 0, acknowledge);
  MarkingMatrix matrix = MarkingMatrix::of(flows.all);
  ASSERT_EQ(matrix.rows.size(), 2U);
  EXPECT_EQ(matrix.directions, MarkingMatrix::Directions::pairs);
  EXPECT_EQ(matrix.rows[0].traffic_class, TrafficClass::data);
  EXPECT_EQ(matrix.rows[0].packets, 3U);
  EXPECT_EQ(matrix.rows[0].flows, 2U);
  EXPECT_EQ(matrix.rows[0].first_packet, 1U);
  EXPECT_EQ(direction_text(matrix.rows[0]), "10.0.0.1 -> 10.0.0.2");
  EXPECT_EQ(marks_text(matrix.rows[0]), "DSCP 26, ECT(0)");
  EXPECT_EQ(matrix.rows[1].traffic_class, TrafficClass::ack);
  EXPECT_EQ(matrix.rows[1].first_packet, 4U);
  EXPECT_TRUE(matrix.rows[1].expected.empty());
  for (const Flow& flow : flows.all) {
    for (const MarkRow& row : flow.marks()) {
      const Marking* found = matrix.find(flow, row);
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->traffic_class, row.traffic_class);
      EXPECT_EQ(found->src, flow.key.src);
    }
  }
}

TEST(MarkingMatrix, ManyPairsAreToldBySender) {
  Flows flows;
  flows.all.reserve(2000);
  for (unsigned i = 0; i < MarkingMatrix::pair_limit; ++i) flows.add(flows.flow(1, 2 + i), 26);
  EXPECT_EQ(MarkingMatrix::of(flows.all).rows.size(), MarkingMatrix::pair_limit);
  flows.add(flows.flow(2, 1), 26);
  const MarkingMatrix matrix = MarkingMatrix::of(flows.all);
  EXPECT_EQ(matrix.directions, MarkingMatrix::Directions::senders);
  ASSERT_EQ(matrix.rows.size(), 2U);
  EXPECT_EQ(matrix.rows[0].packets, MarkingMatrix::pair_limit);
  EXPECT_EQ(matrix.rows[0].flows, MarkingMatrix::pair_limit);
  EXPECT_EQ(direction_text(matrix.rows[0]), "10.0.0.1 -> any");
}

TEST(MarkingMatrix, ManySendersAreToldTogether) {
  Flows flows;
  flows.all.reserve(2000);
  for (unsigned i = 0; i <= MarkingMatrix::sender_limit; ++i) flows.add(flows.flow(2 + i, 1), 26);
  const MarkingMatrix matrix = MarkingMatrix::of(flows.all);
  EXPECT_EQ(matrix.directions, MarkingMatrix::Directions::all);
  ASSERT_EQ(matrix.rows.size(), 1U);
  EXPECT_EQ(matrix.rows[0].packets, MarkingMatrix::sender_limit + 1);
  EXPECT_EQ(direction_text(matrix.rows[0]), "any -> any");
}

TEST(MarkingMatrix, RowsAreBoundedWhateverIsMarked) {
  Flows flows;
  flows.all.reserve(300);
  for (unsigned i = 0; i < 250; ++i) {
    Flow& flow = flows.flow(1, 2 + i);
    for (std::uint8_t dscp = 0; dscp < 20; ++dscp) flows.add(flow, dscp);
  }
  const MarkingMatrix matrix = MarkingMatrix::of(flows.all);  // 5000 rows by pair
  EXPECT_EQ(matrix.directions, MarkingMatrix::Directions::senders);
  EXPECT_EQ(matrix.rows.size(), 20U);
  EXPECT_EQ(packets_of(matrix), 5000U);
}

TEST(MarkingMatrix, WhatAFlowDoesNotKeepIsSaid) {
  Flows flows;
  flows.all.reserve(1);
  Flow& flow = flows.flow(1, 2);
  constexpr std::uint8_t send_only = 0x04;
  for (const std::uint8_t opcode :
       {write_only, acknowledge, std::uint8_t{0x10}, std::uint8_t{0x13}, send_only}) {
    for (std::uint8_t dscp = 0; dscp < 64; ++dscp) flows.add(flow, dscp, opcode);
  }
  const MarkingMatrix matrix = MarkingMatrix::of(flows.all);
  EXPECT_EQ(matrix.rows.size(), MarkCounts::limit);
  EXPECT_EQ(matrix.others, 4 * 64 - MarkCounts::limit);  // a SEND is data as a WRITE is
}

}  // namespace
}  // namespace marking_matrix_test
}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/pair_columns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyze/results/columns.hpp"
#include "tests/analyze/results/hand_made.hpp"

namespace roce::analyze {
namespace {

const HostPairRow& pair(const std::vector<HostPairRow>& rows, std::uint8_t src, std::uint8_t dst) {
  static const HostPairRow none;
  for (const HostPairRow& row : rows) {
    if (row.src == ipv4(src) && row.dst == ipv4(dst)) return row;
  }
  ADD_FAILURE() << "no pair " << int{src} << " to " << int{dst};
  return none;
}

std::string cell(const HostPairRow& row, std::string_view column) {
  return find_column(host_pair_columns(), column)->machine_text(row);
}

TEST(HostPairs, EachDirectionIsARow) {
  const Snapshot s = hand_made();
  const std::vector<HostPairRow> rows = host_pair_rows(s);
  ASSERT_EQ(rows.size(), 3U);  // 10.0.0.4 was never seen to send
  const HostPairRow& there = pair(rows, 1, 2);
  EXPECT_EQ(there.packets, 1000U);
  EXPECT_EQ(there.bytes, 1'100'000U);
  EXPECT_EQ(there.retransmitted, 9U);
  EXPECT_EQ(there.goodput_bytes, 1'000'000U);
  EXPECT_EQ(there.naks, 12U);
  EXPECT_EQ(there.cnps, 3U) << "those that it gets, not those that it sends";
  EXPECT_EQ(there.connections, 1U);
  const HostPairRow& back = pair(rows, 2, 1);
  EXPECT_EQ(back.packets, 200U);
  EXPECT_EQ(back.connections, 1U);
  EXPECT_EQ(back.naks, 0U);
  // Both flows of the other two hosts, one of them of UD and without a connection.
  EXPECT_EQ(pair(rows, 3, 4).packets, 100U);
}

TEST(HostPairs, WhatTheCaptureMissedIsNoLossOfTheNetwork) {
  const Snapshot s = hand_made();
  const std::vector<HostPairRow> rows = host_pair_rows(s);
  // 3 before the capture and 6 behind it; those before are none of the 1000 packets that were captured.
  EXPECT_EQ(cell(pair(rows, 1, 2), "lost"), "9");
  EXPECT_EQ(cell(pair(rows, 1, 2), "lost_share"), "0.008973");
  EXPECT_EQ(cell(pair(rows, 2, 1), "lost"), "0");
  EXPECT_EQ(cell(pair(rows, 2, 1), "lost_by_capture"), "1");
}

TEST(HostPairs, NothingIsKnownOfALatencyWithoutOperations) {
  const Snapshot s = hand_made();
  const std::vector<HostPairRow> rows = host_pair_rows(s);
  EXPECT_EQ(cell(pair(rows, 3, 4), "latency_p99_ns"), "");
  EXPECT_EQ(cell(pair(rows, 1, 2), "latency_p99_ns").empty(),
            s.connections[0].requester[0].operations.front().latency_ns.count() == 0);
}

TEST(HostPairs, BothQueuePairsOfAHostAreOneConnection) {
  Snapshot s = hand_made();
  for (Endpoint& end : s.connections[0].ends) end.address = ipv4(1);
  s.flows[0].key.dst = ipv4(1);
  s.flows[1].key.src = ipv4(1);
  const std::vector<HostPairRow> rows = host_pair_rows(s);
  EXPECT_EQ(pair(rows, 1, 1).connections, 1U);
  EXPECT_EQ(pair(rows, 1, 1).packets, 1200U);
}

}  // namespace
}  // namespace roce::analyze

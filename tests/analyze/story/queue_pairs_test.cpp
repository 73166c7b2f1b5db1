// SPDX-License-Identifier: Apache-2.0
#include "analyze/story/queue_pairs.hpp"

#include <gtest/gtest.h>

#include "tests/analyze/story/story_maker.hpp"

namespace roce::analyze {
namespace {

using test::has;

TEST(QueuePairs, BothEndsAreFound) {
  SnapshotMaker maker;
  maker.connect(1, 2);
  maker.connect(1, 3);
  auto found = find_queue_pairs(maker.snapshot, {0x101, std::nullopt});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].connection, 1U);
  EXPECT_EQ(found[0].side, 0);
  EXPECT_FALSE(found[0].both);
  found = find_queue_pairs(maker.snapshot, {0x201, std::nullopt});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].side, 1);
  EXPECT_TRUE(find_queue_pairs(maker.snapshot, {0x201, host(1)}).empty());
  EXPECT_EQ(find_queue_pairs(maker.snapshot, {0x201, host(3)}).size(), 1U);
}

TEST(QueuePairs, NumbersThatAreUsedTwiceComeInOrderOfTime) {
  SnapshotMaker maker;
  maker.connect(1, 2).first_frame = 50;
  maker.connect(3, 4).first_frame = 20;
  maker.connect(5, 6).first_frame = 10;
  maker.snapshot.connections[0].ends[0].qp = 7;
  maker.snapshot.connections[1].ends[0].qp = 7;
  maker.snapshot.connections[1].ends[1].qp = 7;
  const auto found = find_queue_pairs(maker.snapshot, {7, std::nullopt});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].connection, 1U);
  EXPECT_TRUE(found[0].both);
  EXPECT_EQ(found[1].connection, 0U);
}

TEST(QueuePairs, AttemptsToConnectAreFoundToo) {
  SnapshotMaker maker;
  maker.connect(1, 2).cm = 0;
  CmExchange& used = maker.snapshot.exchanges.emplace_back();
  used.client_qpn = 0x100;
  CmExchange& refused = maker.snapshot.exchanges.emplace_back();
  refused.client = host(1);
  refused.server = host(9);
  refused.client_qpn = 0x55;
  refused.reject_reason = 8;
  refused.rejected_by_server = true;
  refused.req = {1, 10, 1, 0};
  refused.rej = {2, 20, 1, 0};
  EXPECT_EQ(find_queue_pairs(maker.snapshot, {0x100, std::nullopt}).size(), 1U);  // by its connection
  const auto found = find_queue_pairs(maker.snapshot, {0x55, std::nullopt});
  ASSERT_EQ(found.size(), 1U);
  const Story story = tell(maker.snapshot, found[0]);
  EXPECT_TRUE(story.ended_badly);
  EXPECT_EQ(story.headline, "10.0.0.9 rejected the connection (REJ, reason 8: invalid service ID)");
}

TEST(QueuePairs, WhatIsNotFoundIsExplained) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  c.ends[0].qp = 0x94;  // 148
  c.ends[1].qp = 0x2c10;
  const auto why = [&](std::uint32_t number, std::optional<dissect::IpAddress> at = std::nullopt) {
    return not_found_text(maker.snapshot, {number, at});
  };
  EXPECT_TRUE(has(why(94), "did you mean 0x000094 of 10.0.0.1 (148 in decimal)?")) << why(94);
  EXPECT_TRUE(has(why(0x2c11), "there are 0x002c10 of 10.0.0.2")) << why(0x2c11);
  EXPECT_TRUE(has(why(0x94, host(2)), "but 0x000094 of 10.0.0.1")) << why(0x94, host(2));
  maker.flow(1, 2, 0x77, dissect::Service::ud);
  EXPECT_TRUE(has(why(0x77), "has datagrams only")) << why(0x77);
  EXPECT_TRUE(has(not_found_text(Snapshot(), {1, std::nullopt}), "show none at all"));
}

}  // namespace
}  // namespace roce::analyze

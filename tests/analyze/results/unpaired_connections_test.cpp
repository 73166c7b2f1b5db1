// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/unpaired_connections.hpp"

#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

/// What host a sent: answers to requests of b that are elsewhere.
Connection& answers(SnapshotMaker& maker, unsigned a, unsigned b) {
  Connection& c = maker.connect_half(a, b);
  c.requester[0] = {};
  c.requester[1].seen = true;
  return c;
}

TEST(UnpairedConnections, MayBeCompletedByWhatTheyLack) {
  SnapshotMaker maker;
  const Connection& asks = maker.connect_half(1, 2);
  const Connection& answered = answers(maker, 2, 1);
  const Connection& alone = maker.connect_half(3, 4);
  const Connection& both = maker.connect(5, 6);
  const Connection& asks_back = maker.connect_half(4, 3);  // requests answer nothing
  Connection& unsure = maker.connect_half(7, 8);
  unsure.pairing.ambiguous = true;
  const Connection& unreliable = maker.connect_half(2, 1, dissect::Service::uc);
  const UnpairedConnections unpaired(maker.snapshot);
  EXPECT_TRUE(unpaired.other_may_be_there(asks));
  EXPECT_TRUE(unpaired.other_may_be_there(answered));
  EXPECT_FALSE(unpaired.other_may_be_there(alone));
  EXPECT_FALSE(unpaired.other_may_be_there(asks_back));
  EXPECT_FALSE(unpaired.other_may_be_there(both));
  EXPECT_TRUE(unpaired.other_may_be_there(unsure));
  EXPECT_FALSE(unpaired.other_may_be_there(unreliable));
  EXPECT_TRUE(unpaired.may_be_answered(asks));
  EXPECT_FALSE(unpaired.may_be_answered(answered));  // nor asks it anything
  EXPECT_FALSE(unpaired.may_be_answered(alone));
  EXPECT_FALSE(unpaired.may_be_answered(both));
  EXPECT_TRUE(unpaired.may_be_answered(unsure));
}

TEST(UnpairedConnections, OfConnectionsWithBothDirectionsCompleteNone) {
  SnapshotMaker maker;
  maker.connect(1, 2);  // its answers have found their requests
  const Connection& asks = maker.connect_half(1, 2);
  EXPECT_FALSE(UnpairedConnections(maker.snapshot).other_may_be_there(asks));
}

}  // namespace
}  // namespace roce::analyze

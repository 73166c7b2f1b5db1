// SPDX-License-Identifier: Apache-2.0
// Rules on much that is sent again, each with a trigger and a near miss.
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

TEST(GoBackNStormFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::go_back_n, 60);
  happen(c.sent[0], Event::retransmitted_nak, 1800);
  happen(c.sent[0], Event::lost_after_capture, 60);
  std::vector<Finding> found = maker.run("go_back_n_storm");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 1800U);
  EXPECT_TRUE(says(found[0],
                   "1800 of 10000 packets (18.0 %) sent by 10.0.0.1 are retransmissions (all after a "
                   "sequence NAK), in 60 go-backs"))
      << found[0].explanation;
  EXPECT_TRUE(
      says(found[0], "30 packets each on average. Known to be lost: 60 packets; the others came after them."))
      << found[0].explanation;
  happen(c.sent[0], Event::retransmitted_nak, 4000);
  EXPECT_EQ(maker.run("go_back_n_storm")[0].severity, Severity::error);
}

/// A READ requester of which so many READs were asked again.
Connection& read_from(SnapshotMaker& maker, unsigned a, unsigned b, std::uint64_t again) {
  Connection& c = maker.connect(a, b);
  OperationStats& reads = c.requester[0].operations.emplace_back();
  reads.kind = OperationKind::read;
  reads.count = 500;
  reads.retried = again;
  return c;
}

TEST(ReadStormFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = read_from(maker, 1, 2, 58);
  happen(c.sent[1], Event::response_repeated, 1600);
  happen(c.sent[1], Event::lost_before_capture, 31);
  const std::vector<Finding> found = maker.run("read_storm");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 1600U);
  EXPECT_TRUE(says(found[0],
                   "1600 of 10000 packets (16.0 %) sent by 10.0.0.2 are retransmitted READ responses: "
                   "10.0.0.1 retried 58 of 500 READs"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "Known to be lost: 31 packets.")) << found[0].explanation;
  happen(c.sent[1], Event::response_repeated, 4000);
  EXPECT_EQ(maker.run("read_storm")[0].severity, Severity::error);
}

TEST(ReadStormFinding, NearMiss) {
  SnapshotMaker maker;
  happen(read_from(maker, 1, 2, 58).sent[1], Event::response_repeated, 900);  // 9 %
  Connection& once = read_from(maker, 3, 4, 2);
  once.packets[1] = 100;
  happen(once.sent[1], Event::response_repeated, 60);
  Connection& requests = read_from(maker, 5, 6, 20);  // asked again, and no response captured
  requests.packets[0] = 50;
  happen(requests.sent[0], Event::retransmitted_read_retry, 20);
  Connection& both = read_from(maker, 7, 8, 20);  // 8 asks 7 as well, and its own repeats are no responses
  happen(both.sent[1], Event::retransmitted_read_retry, 1600);
  happen(both.sent[1], Event::response_repeated, 900);
  Connection& anew = read_from(maker, 9, 10, 58);  // the READs were lost, so these are the first responses
  happen(anew.sent[1], Event::response_repeated, 1600);
  anew.requester[0].trouble->responses_anew = 1000;
  EXPECT_TRUE(maker.run("read_storm").empty());
}

TEST(GoBackNStormFinding, OfOneDirectionItDoesNotSayWhatMadeItGoBack) {
  SnapshotMaker maker;
  Connection& c = maker.connect_half(1, 2);
  happen(c.sent[0], Event::go_back_n, 60);
  happen(c.sent[0], Event::retransmitted_unknown, 6000);
  const Finding storm = maker.run("go_back_n_storm").at(0);
  EXPECT_EQ(storm.severity, Severity::notice);
  EXPECT_TRUE(says(storm, "or timeouts made it go back is not known")) << storm.explanation;
}

TEST(GoBackNStormFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& few = maker.connect(1, 2);
  happen(few.sent[0], Event::go_back_n, 60);
  happen(few.sent[0], Event::retransmitted_nak, 900);  // 9 %
  Connection& receiver = maker.connect(3, 4);
  happen(receiver.sent[0], Event::go_back_n, 60);
  happen(receiver.sent[0], Event::retransmitted_rnr, 1800);  // rnr tells it
  Connection& burst = maker.connect(1, 4);                   // Soft-RoCE: a sequence NAK behind each RNR NAK
  burst.packets[0] = 250;
  happen(burst.sent[0], Event::go_back_n, 3);
  happen(burst.sent[0], Event::retransmitted_nak, 84);
  happen(burst.sent[0], Event::retransmitted_rnr, 79);
  happen(burst.sent[1], Event::rnr_nak, 2);
  Connection& reads = maker.connect(1, 6);  // requests only; the responses weigh
  reads.packets[0] = 300;
  reads.requester[0].operations.emplace_back().kind = OperationKind::read;
  happen(reads.sent[0], Event::go_back_n, 30);
  happen(reads.sent[0], Event::retransmitted_read_retry, 60);
  Connection& once = maker.connect(5, 6);
  once.packets[0] = 100;
  happen(once.sent[0], Event::go_back_n, 2);
  happen(once.sent[0], Event::retransmitted_nak, 60);
  EXPECT_TRUE(maker.run("go_back_n_storm").empty());
}

TEST(LivelockFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::go_back_n, 40);
  happen(c.sent[0], Event::go_back_n_no_progress, 38);
  happen(c.sent[0], Event::retransmitted_nak, 9700);
  happen(c.sent[1], Event::nak_sequence_error, 40);
  c.requester[0].new_bytes = 30'000;
  const std::vector<Finding> found = maker.run("livelock");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::error);
  EXPECT_EQ(found[0].count, 38U);
  EXPECT_TRUE(says(found[0], "10.0.0.1 went back 38 times to the same PSN as before"))
      << found[0].explanation;
  EXPECT_TRUE(says(
      found[0],
      "9700 of 10000 packets (97.0 %) sent are retransmissions, requested by 40 sequence NAKs. Goodput 24.0 "
      "kb/s"))
      << found[0].explanation;
}

TEST(LivelockFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& silent = maker.connect(1, 2);  // a retry chain that ended
  silent.packets[0] = 10;
  happen(silent.sent[0], Event::go_back_n, 8);
  happen(silent.sent[0], Event::go_back_n_no_progress, 7);
  happen(silent.sent[0], Event::retransmitted_timeout, 8);
  Connection& waiting = maker.connect(3, 4);  // a receiver that is not ready
  waiting.packets[0] = 100;
  happen(waiting.sent[0], Event::go_back_n, 50);
  happen(waiting.sent[0], Event::go_back_n_no_progress, 48);
  happen(waiting.sent[0], Event::retransmitted_rnr, 60);
  Connection& moving = maker.connect(5, 6);  // much repeated, but onwards
  happen(moving.sent[0], Event::go_back_n, 300);
  happen(moving.sent[0], Event::go_back_n_no_progress, 6);
  happen(moving.sent[0], Event::retransmitted_nak, 6000);
  happen(moving.sent[1], Event::nak_sequence_error, 300);
  EXPECT_TRUE(maker.run("livelock").empty());
}

}  // namespace
}  // namespace roce::analyze

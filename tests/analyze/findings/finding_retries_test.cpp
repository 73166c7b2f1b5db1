// SPDX-License-Identifier: Apache-2.0
// Rules on retry timers, each with a trigger and a near miss.
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

RetryChain chain_of(std::uint32_t resends, std::uint64_t spacing) {
  RetryChain chain;
  chain.psn = 4711;
  chain.opcode = 0x0a;
  chain.resends = resends;
  chain.first_frame = 120;
  chain.first_seen = true;
  chain.last_frame = 180;
  chain.min_spacing_ns = spacing;
  chain.max_spacing_ns = spacing + 4'000'000;
  return chain;
}

TEST(TimeoutsFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::retransmitted_timeout, 90);
  c.requester[0].trouble->chains = 4;
  c.requester[0].trouble->timeouts = 12;
  c.requester[0].trouble->worst_chain = chain_of(3, 67'200'000);
  c.cm = 0;
  maker.snapshot.exchanges.emplace_back().ack_timeout_code = 18;
  const std::vector<Finding> found = maker.run("timeouts");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(
      says(found[0], "90 of 10000 packets (0.9 %) sent by 10.0.0.1 are retransmissions after a timeout"));
  EXPECT_TRUE(says(found[0], "the timer expired 12 times")) << found[0].explanation;
  EXPECT_TRUE(says(
      found[0],
      "RDMA WRITE Only with PSN 4711 was sent 4 times (from packet 120 to 180), 67.2 ms to 71.2 ms apart, "
      "which matches local ACK timeout 14 (4.096 µs · 2^14 = 67.1 ms); the CM set 18 (4.096 µs · 2^18 = 1.07 "
      "s)."))
      << found[0].explanation;
}

/// Adaptive retransmission has timers of its own: their first value is no 4.096 µs · 2^t that was set.
TEST(TimeoutsFinding, TimersThatGrowTellNoTimeout) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::retransmitted_timeout, 90);
  c.requester[0].trouble->chains = 4;
  c.requester[0].trouble->timeouts = 12;
  c.requester[0].trouble->worst_chain = chain_of(3, 5'000'000);
  c.requester[0].trouble->worst_chain.max_spacing_ns = 21'000'000;
  const std::vector<Finding> found = maker.run("timeouts");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0],
                   "5.00 ms to 21.0 ms apart, not constant, as adaptive retransmission has it: no local ACK "
                   "timeout can be told from it."))
      << found[0].explanation;
  EXPECT_FALSE(says(found[0], "matches local ACK timeout")) << found[0].explanation;
}

TEST(TimeoutsFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);  // repeated, but not for silence
  happen(c.sent[0], Event::retransmitted_nak, 90);
  happen(c.sent[0], Event::retransmitted_rnr, 90);
  EXPECT_TRUE(maker.run("timeouts").empty());
  Connection& dead = maker.connect(3, 4);  // its only chain is the one retries_exhausted tells
  happen(dead.sent[0], Event::retransmitted_timeout, 7);
  dead.requester[0].retries_exhausted = true;
  dead.requester[0].trouble->chains = 1;
  dead.requester[0].trouble->worst_chain = chain_of(7, 67'200'000);
  EXPECT_TRUE(maker.run("timeouts").empty());
}

TEST(TimeoutsFinding, IsLeftToWhoTellsItBetter) {
  SnapshotMaker maker;
  Connection& needless = maker.connect(1, 2);
  needless.requester[0].trouble->chains = 9;
  happen(needless.sent[0], Event::retransmitted_timeout, 90);
  happen(needless.sent[0], Event::spurious, 80);
  Connection& atomics = maker.connect(3, 4);  // the responder repeats what it is asked again
  atomics.requester[0].trouble->chains = 9;
  happen(atomics.sent[1], Event::retransmitted_timeout, 90);
  EXPECT_TRUE(maker.run("timeouts").empty());
}

TEST(TimeoutsFinding, AReadThatStandsStillIsOne) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  c.packets[0] = 240;
  happen(c.sent[0], Event::retransmitted_read_retry, 45);
  c.requester[0].trouble->chains = 45;
  const auto finds = [&] { return maker.run("timeouts"); };
  EXPECT_TRUE(finds().empty());  // for a missing response, at once
  c.requester[0].trouble->timeouts = 40;
  c.requester[0].trouble->read_timeouts = 40;
  std::vector<Finding> found = finds();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 40U);
  EXPECT_TRUE(
      says(found[0], "40 of 240 packets (16.7 %) sent by 10.0.0.1 are retransmissions after a timeout"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "the timer expired 40 times for a READ.")) << found[0].explanation;
  EXPECT_TRUE(says(found[0],
                   "The packets (45): roceanalyze packets FILE -Y 'roce.connection == 0 && "
                   "roce.analysis.retransmission.cause == read_retry'"))
      << found[0].advice;
  Connection& needless = maker.connect(3, 4);  // spurious_retransmission tells it
  happen(needless.sent[0], Event::retransmitted_read_retry, 10);
  happen(needless.sent[0], Event::spurious, 10);
  needless.requester[0].trouble->timeouts = needless.requester[0].trouble->read_timeouts = 1;
  EXPECT_EQ(finds().size(), 1U);
  happen(c.sent[0], Event::retransmitted_timeout, 9);
  c.requester[0].trouble->timeouts = 47;
  found = finds();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 9U);
  EXPECT_TRUE(says(found[0], "the timer expired 47 times, 40 of them for a READ.")) << found[0].explanation;
}

TEST(TimeoutsFinding, OneStandstillIsANotice) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  c.packets[0] = 40;
  happen(c.sent[0], Event::retransmitted_timeout, 4);
  c.requester[0].trouble->chains = 1;
  c.requester[0].trouble->timeouts = 1;
  c.requester[0].trouble->worst_chain = chain_of(1, 67'200'000);
  EXPECT_EQ(maker.run("timeouts")[0].severity, Severity::notice);
}

TEST(RetriesExhaustedFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::retries_exhausted, 1, 180);
  c.requester[0].retries_exhausted = true;
  c.requester[0].trouble->worst_chain = chain_of(7, 67'200'000);
  c.requester[0].trouble->worst_chain.first_time_ns = test_second;
  maker.snapshot.flows[1].last_time_ns = test_second;  // its own last answer
  maker.connect(2, 7);
  const std::vector<Finding> found = maker.run("retries_exhausted");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::error);
  EXPECT_EQ(found[0].count, 1U);
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{120, 180}));
  EXPECT_TRUE(says(found[0], "10.0.0.1 QP 0x000100 gave up: RDMA WRITE Only with PSN 4711 was sent 8 times"));
  EXPECT_TRUE(says(found[0], "10.0.0.2 QP 0x000200 had answered before (10000 packets)."))
      << found[0].explanation;
  EXPECT_FALSE(says(found[0], "went on sending on this connection"));
  EXPECT_TRUE(says(found[0], "Meanwhile 10.0.0.2 did send other RoCE packets: the host is up"));
}

TEST(RetriesExhaustedFinding, SaysWhenThePeerSendsOnButAnswersNothing) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::retries_exhausted, 1, 180);
  c.requester[0].retries_exhausted = true;
  c.requester[0].trouble->worst_chain = chain_of(2, 67'200'000);
  c.requester[0].trouble->worst_chain.first_time_ns = test_second;
  const std::vector<Finding> found = maker.run("retries_exhausted");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "or taken for a duplicate")) << found[0].explanation;
  EXPECT_FALSE(says(found[0], "Meanwhile")) << found[0].explanation;
}

TEST(RetriesExhaustedFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);  // long, but answered in the end
  happen(c.sent[0], Event::retransmitted_timeout, 6);
  c.requester[0].trouble->worst_chain = chain_of(6, 67'200'000);
  c.requester[0].trouble->worst_chain.answered = true;
  Connection& left = maker.connect(3, 4);  // a program that ended without waiting for its last answer
  happen(left.sent[0], Event::retries_exhausted, 1, 180);
  left.requester[0].retries_exhausted = true;
  left.requester[0].trouble->worst_chain = chain_of(1, 67'200'000);
  EXPECT_TRUE(maker.run("retries_exhausted").empty());
}

TEST(RetriesExhaustedFinding, SaysWhoWasNeverHeard) {
  SnapshotMaker maker;
  Connection& c = maker.connect_half(1, 2);
  happen(c.sent[0], Event::retries_exhausted, 1, 180);
  c.requester[0].retries_exhausted = true;
  c.requester[0].trouble->worst_chain = chain_of(7, 67'200'000);
  const std::vector<Finding> found = maker.run("retries_exhausted");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "No packet from 10.0.0.2 QP 0x000200 was captured at all."))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "the host is down or unreachable")) << found[0].explanation;
  EXPECT_LT(found[0].confidence, 0.8);
}

TEST(RetriesExhaustedFinding, ManyThatLostOneHostAreOneFinding) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 40; ++i) {
    Connection& c = maker.connect(10 + i, 2);
    happen(c.sent[0], Event::retries_exhausted, 1, 180 + i);
    c.requester[0].retries_exhausted = true;
    c.requester[0].trouble->worst_chain = chain_of(7, 67'200'000);
  }
  const std::vector<Finding> found = maker.run("retries_exhausted");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "40 hosts > 10.0.0.2 (40 connections)");
  EXPECT_TRUE(
      says(found[0],
           "40 queue pairs gave up after retransmitting a request that was never answered; 10.0.0.2 is "
           "unresponsive."))
      << found[0].explanation;
}

}  // namespace
}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// Rules on loss and repair, each with a trigger and a near miss.
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

TEST(LossBeforeCaptureFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_before_capture, 37);
  happen(c.sent[0], Event::retransmitted_nak, 30);
  happen(c.sent[0], Event::retransmitted_timeout, 7);
  happen(c.sent[0], Event::wasted, 12);
  maker.snapshot.flows[0].sequence_to_change().wasted_bytes = 12'000;
  const std::vector<Finding> found = maker.run("loss_before_capture");
  ASSERT_EQ(found.size(), 1U);
  const Finding& f = found[0];
  EXPECT_EQ(f.severity, Severity::warning);
  EXPECT_EQ(f.subject, "10.0.0.1 QP 0x000100 > 10.0.0.2 QP 0x000200");
  EXPECT_EQ(f.count, 37U);
  EXPECT_EQ(f.packets.front(), 100U);
  EXPECT_EQ(f.connections, std::vector<std::uint32_t>{0});
  EXPECT_DOUBLE_EQ(f.confidence, 1);
  EXPECT_TRUE(says(f, "37 of 10037 packets (0.4 %) sent by 10.0.0.1 never reached")) << f.explanation;
  EXPECT_TRUE(says(f, "37 packets retransmitted: 30 after a sequence NAK, 7 after a timeout."))
      << f.explanation;
  EXPECT_TRUE(says(f, "Up to 12 packets (12.0 kB) arrived out of sequence (after a gap)")) << f.explanation;
  EXPECT_TRUE(says(f, "Goodput 7.20 Mb/s, on the wire 8.64 Mb/s (83.3 %).")) << f.explanation;
  EXPECT_TRUE(says(f, "-Y 'roce.connection == 0 && roce.analysis.lost == before_capture'")) << f.advice;
}

TEST(LossBeforeCaptureFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::gap, 37);  // not seen, and nothing says why
  happen(c.sent[0], Event::lost_by_capture, 20);
  happen(c.sent[0], Event::out_of_order, 17);
  Connection& damaged = maker.connect(3, 4);  // icrc_corruption tells it
  happen(damaged.sent[0], Event::lost_before_capture, 28);
  happen(damaged.sent[0], Event::icrc_mismatch, 29);
  EXPECT_TRUE(maker.run("loss_before_capture").empty());
}

TEST(LossBeforeCaptureFinding, SeverityFollowsTheRate) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[0], Event::lost_before_capture, 200);
  EXPECT_EQ(maker.run("loss_before_capture")[0].severity, Severity::error);
  Connection& huge = maker.connect(3, 4);
  huge.packets[0] = 1'000'000;
  happen(huge.sent[0], Event::lost_before_capture, 9);
  EXPECT_EQ(maker.run("loss_before_capture")[1].severity, Severity::notice);
  happen(maker.connect(5, 6).sent[0], Event::lost_before_capture, 2);  // any network does that once
  EXPECT_EQ(maker.run("loss_before_capture")[2].severity, Severity::notice);
}

TEST(LossAfterCaptureFinding, Trigger) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[1], Event::lost_after_capture, 5);  // READ responses
  const std::vector<Finding> found = maker.run("loss_after_capture");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "10.0.0.2 QP 0x000200 > 10.0.0.1 QP 0x000100");
  EXPECT_TRUE(says(found[0], "5 of 10000 packets (<0.1 %) sent by 10.0.0.2 passed the capture point"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "On 10.0.0.1: ethtool")) << found[0].advice;
}

Incident repaired_in(std::int64_t recovery_ns, std::uint32_t lost_before, std::uint32_t lost_after) {
  Incident incident;
  incident.what = IncidentKind::loss;
  incident.learned = LearnedBy::sequence_nak;
  incident.lost_before = lost_before;
  incident.lost_after = lost_after;
  incident.recovery_ns = recovery_ns;
  return incident;
}

TEST(LossBeforeCaptureFinding, QuotesItsIncidents) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[0], Event::lost_before_capture, 6);
  for (const std::int64_t recovery_ns : {2'100'000, 900'000, 9'000'000})
    maker.snapshot.incidents.push_back(repaired_in(recovery_ns, 2, 0));
  maker.snapshot.incidents.push_back(repaired_in(700'000'000, 0, 1));  // downstream: of another finding
  const Finding f = maker.run("loss_before_capture")[0];
  EXPECT_TRUE(says(f, " 6 losses in 3 incidents, median recovery 2.10 ms, longest 9.00 ms."))
      << f.explanation;
}

TEST(LossAfterCaptureFinding, IsALowerBoundWhereOthersWereSentAgainToo) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_after_capture, 5);
  happen(c.sent[0], Event::retransmitted_nak, 405);
  maker.snapshot.incidents.push_back(repaired_in(2'100'000, 0, 5));
  const Finding f = maker.run("loss_after_capture")[0];
  EXPECT_TRUE(says(f, "At least 5 packets sent by 10.0.0.1 passed the capture point")) << f.explanation;
  EXPECT_TRUE(says(f, " 1 incident, recovery 2.10 ms.")) << f.explanation;
  EXPECT_TRUE(
      says(f, "Of 400 packets retransmitted with them it cannot be told here whether they had arrived."))
      << f.explanation;
  EXPECT_FALSE(says(f, "5 of 10")) << "no share of a lower bound: " << f.explanation;
}

TEST(LossAfterCaptureFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_before_capture, 5);
  happen(c.sent[0], Event::retransmitted_nak, 40);
  EXPECT_TRUE(maker.run("loss_after_capture").empty());
}

TEST(LossBetweenPointsFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_between_points, 5);
  const std::vector<Finding> found = maker.run("loss_between_points");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 5U);
  EXPECT_EQ(found[0].packets.front(), 100U);
  EXPECT_TRUE(says(found[0],
                   "5 of 10000 packets (<0.1 %) sent by 10.0.0.1 to 10.0.0.2 were seen at one capture point"))
      << found[0].explanation;
}

TEST(LossBetweenPointsFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_after_capture, 5);
  happen(c.sent[0], Event::duplicate_capture, 10'000);
  EXPECT_TRUE(maker.run("loss_between_points").empty());
}

TEST(RecordsOutOfOrderFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_before_capture, 37);
  happen(c.sent[1], Event::time_backwards, 30);
  const std::vector<Finding> found = maker.run("records_out_of_order");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 30U);
  EXPECT_DOUBLE_EQ(found[0].confidence, 1);
  EXPECT_DOUBLE_EQ(maker.run("loss_before_capture")[0].confidence, 0.5);
  happen(c.sent[1], Event::time_backwards, 2000);
  EXPECT_DOUBLE_EQ(maker.run("loss_before_capture")[0].confidence, 0.3);
}

TEST(RecordsOutOfOrderFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_before_capture, 37);
  happen(c.sent[1], Event::time_backwards, 2);  // stamps of two processors
  EXPECT_TRUE(maker.run("records_out_of_order").empty());
  EXPECT_DOUBLE_EQ(maker.run("loss_before_capture")[0].confidence, 1);
}

TEST(LossAfterCaptureFinding, AFewAmongManyLatePacketsAreDoubted) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_after_capture, 4);
  happen(c.sent[0], Event::out_of_order, 70);
  happen(c.sent[1], Event::nak_sequence_error, 60);
  std::vector<Finding> found = maker.run("loss_after_capture");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_DOUBLE_EQ(found[0].confidence, 0.5);
  EXPECT_TRUE(says(found[0], "these may only have been late")) << found[0].explanation;
  happen(c.sent[0], Event::lost_after_capture, 60);  // as many losses as NAKs: adaptive routing that loses
  found = maker.run("loss_after_capture");
  EXPECT_EQ(found[0].severity, Severity::warning);
}

TEST(LossAfterCaptureFinding, IsToldOnceForAPair) {
  SnapshotMaker maker;
  for (int i = 0; i < 17; ++i) {
    Connection& c = maker.connect(1, 2);
    happen(c.sent[0], Event::lost_after_capture, i == 3 ? 50 : 10);
    happen(c.sent[0], Event::retransmitted_nak, 40);
  }
  const std::vector<Finding> found = maker.run("loss_after_capture");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "10.0.0.1 > 10.0.0.2 (17 connections)");
  EXPECT_EQ(found[0].count, 210U);
  EXPECT_TRUE(says(found[0], "In 17 connections from 10.0.0.1 to 10.0.0.2: at least 210 packets"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "Most in connection 3 (10.0.0.1 QP 0x000103 > 10.0.0.2 QP 0x000203): 50."))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "680 packets retransmitted: all after a sequence NAK."));
  EXPECT_EQ(found[0].connections.size(), 8U);
}

TEST(LossByCaptureFinding, Trigger) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[0], Event::lost_by_capture, 20);
  const std::vector<Finding> found = maker.run("loss_by_capture");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_TRUE(says(found[0], "the capture itself dropped them")) << found[0].explanation;
}

TEST(LossByCaptureFinding, NearMiss) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[0], Event::lost_before_capture, 20);
  happen(maker.connect(1, 2).sent[1], Event::ack_unseen, 20);  // the capture began in the middle
  EXPECT_TRUE(maker.run("loss_by_capture").empty());
}

TEST(LossByCaptureFinding, MuchOfItIsAWarning) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[0], Event::lost_by_capture, 200);
  EXPECT_EQ(maker.run("loss_by_capture")[0].severity, Severity::warning);
}

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

// SPDX-License-Identifier: Apache-2.0
// Rules on loss, each with a trigger and a near miss.
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

TEST(TrimmedFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_trimmed, 37);
  happen(c.sent[0], Event::retransmitted_nak, 37);
  maker.snapshot.totals.trimmed_dscp[11] = 37;
  const std::vector<Finding> found = maker.run("trimmed");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 37U);
  EXPECT_TRUE(says(found[0], "37 of 10000 packets (0.4 %) sent by 10.0.0.1 were trimmed by a switch"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "have DSCP 11. With --trimmed-dscp 11 short ones")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "show interfaces counters trim")) << found[0].advice;
  EXPECT_TRUE(says(found[0], "-Y 'roce.connection == 0 && roce.analysis.lost == trimmed'"))
      << found[0].advice;
  EXPECT_TRUE(maker.run("loss_before_capture").empty());
  maker.snapshot.trimmed_dscps = std::uint64_t{1} << 11U;
  maker.snapshot.totals.dscp[11] = 40;
  EXPECT_TRUE(says(maker.run("trimmed")[0], "3 packets with a DSCP of --trimmed-dscp are whole."));
}

TEST(TrimmedFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_before_capture, 37);
  maker.snapshot.flows[0].sequence_to_change().trimmed = 20;  // which arrived all the same
  EXPECT_TRUE(maker.run("trimmed").empty());
}

/// UD has no connections.
TEST(TrimmedFinding, Datagrams) {
  SnapshotMaker maker;
  maker.connect(1, 2);
  maker.connect(3, 4);
  const auto lose = [&](std::size_t flow, std::uint64_t packets, std::uint64_t first) {
    SequenceCounts& sequence = maker.snapshot.flows[flow].sequence_to_change();
    sequence.lost[static_cast<std::size_t>(Lost::trimmed)] = packets;
    sequence.first_trimmed = first;
  };
  lose(0, 37, 120);
  std::vector<Finding> found = maker.run("trimmed");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "10.0.0.1 to 10.0.0.2");
  EXPECT_EQ(found[0].count, 37U);
  EXPECT_EQ(found[0].packets, std::vector<std::uint64_t>{120});
  EXPECT_TRUE(says(found[0], "over UD from 10.0.0.1 to 10.0.0.2 were trimmed by a switch"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "-Y 'roce.analysis.lost == trimmed'")) << found[0].advice;
  lose(2, 1, 90);
  found = maker.run("trimmed");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "several hosts to several hosts");
  EXPECT_EQ(found[0].count, 38U);
  EXPECT_FALSE(found[0].from.has_value());
  lose(0, 37, 0);  // of a connection, which has events
  lose(2, 1, 0);
  EXPECT_TRUE(maker.run("trimmed").empty());
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

}  // namespace
}  // namespace roce::analyze

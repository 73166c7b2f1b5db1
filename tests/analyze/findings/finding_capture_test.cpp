// SPDX-License-Identifier: Apache-2.0
// Rules on what the capture itself lacks, on corruption, and on CM exchanges.
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

TEST(CaptureDropsFinding, Trigger) {
  SnapshotMaker maker;
  maker.snapshot.interfaces.resize(2);
  maker.snapshot.interfaces[0].dropped_by_kernel = 12;
  maker.snapshot.interfaces[1].name = "eth1";
  maker.snapshot.interfaces[1].dropped_by_interface = 30;
  std::vector<Finding> found = maker.run("capture_drops");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);  // 42 of a million
  EXPECT_EQ(found[0].count, 42U);
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{1, 1'000'000}));
  EXPECT_TRUE(says(found[0], "42 of 1000042 packets (<0.1 %) were dropped")) << found[0].explanation;
  EXPECT_TRUE(says(found[0],
                   "12 by the kernel: the capturing program read too slowly. 30 by the interface itself. "
                   "Most on interface eth1."))
      << found[0].explanation;
  maker.snapshot.interfaces[1].dropped_by_interface = 30'000;
  happen(maker.connect(1, 2).sent[0], Event::lost_by_capture, 3, 500);
  found = maker.run("capture_drops");
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].packets.front(), 500U);
}

TEST(CaptureDropsFinding, NearMiss) {
  SnapshotMaker maker;
  maker.snapshot.interfaces.emplace_back().dropped_by_kernel = 0;
  maker.snapshot.interfaces.emplace_back();                        // says nothing
  happen(maker.connect(1, 2).sent[0], Event::lost_by_capture, 3);  // loss_by_capture tells it
  EXPECT_TRUE(maker.run("capture_drops").empty());
}

TEST(AsymmetricCaptureFinding, Trigger) {
  SnapshotMaker maker;
  for (int i = 0; i < 20; ++i) maker.connect_half(1, 2);
  Connection& answers = maker.connect_half(3, 4);
  answers.requester[0] = {};
  answers.requester[1].seen = true;
  const std::vector<Finding> found = maker.run("asymmetric_capture");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_EQ(found[0].count, 20U);
  EXPECT_TRUE(says(found[0],
                   "In 20 connections from 10.0.0.1 to 10.0.0.2: 200000 packets from 10.0.0.1 were captured "
                   "and none in the other direction"))
      << found[0].explanation;
  EXPECT_DOUBLE_EQ(found[1].confidence, 1);
}

TEST(AsymmetricCaptureFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& silent = maker.connect_half(1, 2);  // the peer is dead, not uncaptured
  silent.packets[0] = 8;
  happen(silent.sent[0], Event::retransmitted_timeout, 7);
  Connection& gave_up = maker.connect_half(1, 3);
  gave_up.requester[0].retries_exhausted = true;
  maker.connect_half(1, 4).pairing.ambiguous = true;
  maker.connect_half(5, 6);  // each may be the other direction of the other
  Connection& back = maker.connect_half(6, 5);
  back.requester[0] = {};
  back.requester[1].seen = true;
  for (int i = 0; i < 3; ++i) {  // in lockstep: each answers one of them, but which
    maker.connect_half(13, 14);
    Connection& answers = maker.connect_half(14, 13);
    answers.requester[0] = {};
    answers.requester[1].seen = true;
    answers.pairing.ambiguous = true;
  }
  maker.connect_half(7, 8, dissect::Service::uc);  // nobody answers there
  maker.connect_half(9, 10).packets[0] = 7;
  maker.connect_half(15, 16).last_time_ns = 900'000;  // one window that is not answered yet
  maker.connect(11, 12);
  for (const Finding& f : maker.run("asymmetric_capture")) ADD_FAILURE() << f.subject;
}

TEST(AsymmetricCaptureFinding, RequestsBothWaysAreNoAnswers) {
  SnapshotMaker maker;
  for (int i = 0; i < 3; ++i) maker.connect_half(1, 2);
  for (int i = 0; i < 3; ++i) maker.connect_half(2, 1);
  EXPECT_EQ(maker.run("asymmetric_capture").size(), 4U);  // three, and three in one
}

TEST(UcMessageLossFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect_half(1, 2, dissect::Service::uc);
  happen(c.sent[0], Event::uc_message_lost, 12);
  c.requester[0].operations.resize(1);
  c.requester[0].operations[0].count = 988;
  const std::vector<Finding> found = maker.run("uc_message_loss");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::error);
  EXPECT_TRUE(says(found[0], "12 of 1000 messages (1.2 %) sent by 10.0.0.1 over UC are incomplete"));
}

TEST(UcMessageLossFinding, IsNotToldTwiceAndSaysWhatIsMissing) {
  SnapshotMaker maker;
  Connection& c = maker.connect_half(1, 2, dissect::Service::uc);
  happen(c.sent[0], Event::uc_message_lost, 12);
  happen(c.sent[0], Event::out_of_order, 20);
  std::vector<Finding> found = maker.run("uc_message_loss");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0],
                   "no packet is missing, but 20 packets came late, which a UC receiver does not wait for."))
      << found[0].explanation;
  EXPECT_FALSE(says(found[0], "drops")) << found[0].advice;
  EXPECT_TRUE(says(found[0], "must be off for UC")) << found[0].advice;
  happen(c.sent[0], Event::lost_before_capture, 7);
  found = maker.run("uc_message_loss");
  EXPECT_TRUE(says(found[0],
                   "7 packets are missing (lost upstream of the capture point or not captured), and 20 "
                   "packets came"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "Find the drops") && says(found[0], "must be off for UC")) << found[0].advice;
  EXPECT_TRUE(maker.run("loss_before_capture").empty());  // nothing was sent again
}

TEST(UcMessageLossFinding, NearMiss) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[0], Event::gap, 12);  // RC repeats
  maker.connect_half(1, 2, dissect::Service::uc);
  EXPECT_TRUE(maker.run("uc_message_loss").empty());
}

/// Wrong ICRCs in the flow that the last connection's side sent.
void corrupt(SnapshotMaker& maker, Connection& c, unsigned side, std::uint64_t wrong) {
  happen(c.sent[side], Event::icrc_mismatch, wrong);
  maker.snapshot.flows[*c.flow[side]].icrc_mismatches = wrong;
  maker.snapshot.totals.icrc[static_cast<std::size_t>(dissect::CrcStatus::mismatch)] += wrong;
}

TEST(IcrcCorruptionFinding, Trigger) {
  SnapshotMaker maker;
  corrupt(maker, maker.connect(1, 2), 0, 50);
  maker.flow(1, 99, 7, dissect::Service::rc);  // a bit of the address flipped
  maker.snapshot.flows.back().packets = maker.snapshot.flows.back().icrc_mismatches = 1;
  maker.snapshot.totals.icrc_mismatches = {100, 105, 110};
  const std::vector<Finding> found = maker.run("icrc_corruption");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::error);
  EXPECT_EQ(found[0].subject, "10.0.0.1 > 10.0.0.2");
  EXPECT_TRUE(says(
      found[0],
      "51 of 10001 packets (0.5 %) from 10.0.0.1 to 10.0.0.2 arrived at the capture point with a wrong ICRC"))
      << found[0].explanation;
  EXPECT_EQ(found[0].connections, std::vector<std::uint32_t>{0});
  EXPECT_TRUE(says(found[0], "in the address or queue pair of 1 packet: no other packet has it"))
      << found[0].explanation;
}

TEST(IcrcCorruptionFinding, NearMiss) {
  SnapshotMaker maker;
  corrupt(maker, maker.connect(1, 2), 0, 10'000);  // all of them: icrc_capture_artefact
  maker.snapshot.totals.icrc[static_cast<std::size_t>(dissect::CrcStatus::not_checkable)] =
      5000;  // cut packets
  EXPECT_TRUE(maker.run("icrc_corruption").empty());
}

TEST(IcrcCorruptionFinding, ManyPairsAreOne) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 30; ++i) corrupt(maker, maker.connect(1, 10 + i), 0, 2 + (i == 5 ? 10 : 0));
  const std::vector<Finding> found = maker.run("icrc_corruption");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 70U);
  EXPECT_TRUE(says(found[0], "of 30 pairs of hosts (most from 10.0.0.1 to 10.0.0.15: 12)"))
      << found[0].explanation;
  EXPECT_EQ(found[0].connections.size(), 8U);
}

TEST(IcrcCaptureArtefactFinding, Trigger) {
  SnapshotMaker maker;
  corrupt(maker, maker.connect(1, 2), 0, 10'000);
  const std::vector<Finding> found = maker.run("icrc_capture_artefact");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_EQ(found[0].subject, "10.0.0.1");
  EXPECT_TRUE(
      says(found[0],
           "10000 of 10000 packets (100 %) sent by 10.0.0.1 have a wrong ICRC, those of other hosts do not."))
      << found[0].explanation;
  EXPECT_DOUBLE_EQ(found[0].confidence, 0.95);
  Connection& brief = maker.connect(7, 8);
  corrupt(maker, brief, 0, 4);
  maker.snapshot.flows[*brief.flow[0]].packets = 4;  // the tracker took that for proof, too
  EXPECT_EQ(maker.run("icrc_capture_artefact")[0].subject, "2 hosts");
  EXPECT_TRUE(maker.run("icrc_corruption").empty());
}

TEST(IcrcCaptureArtefactFinding, NearMiss) {
  SnapshotMaker maker;
  corrupt(maker, maker.connect(1, 2), 0, 6'000);  // terrible, but not all
  corrupt(maker, maker.connect(3, 4), 1, 20);
  maker.snapshot.flows.back().packets = 9'000;
  maker.flow(5, 6, 7, dissect::Service::ud);
  maker.snapshot.flows.back().packets = maker.snapshot.flows.back().icrc_mismatches = 2;  // too few to tell
  EXPECT_TRUE(maker.run("icrc_capture_artefact").empty());
}

CmExchange& exchange(SnapshotMaker& maker, unsigned client, unsigned server, std::uint64_t frame = 10) {
  CmExchange& e = maker.snapshot.exchanges.emplace_back();
  e.transport = dissect::Transport::roce_v2_ipv4;
  e.client = host(client);
  e.server = host(server);
  e.service_id = 0x0000000001061144;
  e.req = {frame, test_second, 1};
  e.response_timeout_code = 20;  // 4.29 s
  e.max_cm_retries = 15;
  return e;
}

TEST(CmRejectedFinding, Trigger) {
  SnapshotMaker maker;
  for (std::uint64_t i = 0; i < 3; ++i) {
    CmExchange& e = exchange(maker, 1, 2, 10 + 2 * i);
    e.reject_reason = 8;
    e.rejected_by_server = true;
    e.rej = {11 + 2 * i, test_second, 1};
  }
  CmExchange& sidr = exchange(maker, 3, 2, 30);
  sidr.sidr = true;
  sidr.sidr_status = 2;
  sidr.rep = {31, test_second, 1};
  const std::vector<Finding> found = maker.run("cm_rejected");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 3U);
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{10, 11, 12, 13, 14, 15}));
  EXPECT_TRUE(says(found[0],
                   "10.0.0.2 rejected 3 requests of 10.0.0.1 to service 0x0000000001061144 (NVMe-oF, port "
                   "4420) with reason 8, invalid service ID: nothing is listening there."))
      << found[0].explanation;
  EXPECT_TRUE(says(found[1], "status 2, rejected by the service provider: the application itself refused."))
      << found[1].explanation;
}

TEST(CmRejectedFinding, NearMiss) {
  SnapshotMaker maker;
  exchange(maker, 1, 2).rep = {11, test_second, 1};
  CmExchange& gave_up = exchange(maker, 1, 3);  // its own client, tired of waiting: cm_unanswered
  gave_up.reject_reason = 4;
  gave_up.rej = {99, 6 * test_second, 1};
  CmExchange& sidr = exchange(maker, 1, 4);
  sidr.sidr = true;
  sidr.sidr_status = 0;
  sidr.rep = {31, test_second, 1};
  EXPECT_TRUE(maker.run("cm_rejected").empty());
}

TEST(CmRejectedFinding, ManyReasonsAreAllTold) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 7; ++i) {
    CmExchange& sidr = exchange(maker, 1, 2, 10 + i);
    sidr.sidr = true;
    sidr.sidr_status = static_cast<std::uint8_t>(1 + i % 6);
    sidr.rep = {20 + i, test_second, 1};
  }
  const std::vector<Finding> found = maker.run("cm_rejected");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 7U);
  EXPECT_TRUE(says(found[0], "10.0.0.2 rejected 7 requests of 10.0.0.1"));
  EXPECT_TRUE(says(found[0], "for different reasons: status 1, service ID not supported, 2 times; status 2, "))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "; status 6")) << found[0].explanation;
}

TEST(CmRejectedFinding, AHundredClientsAreOneFinding) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 100; ++i) {
    CmExchange& e = exchange(maker, 10 + i, 2, 10 + i);
    e.reject_reason = 28;
    e.rejected_by_server = true;
  }
  const std::vector<Finding> found = maker.run("cm_rejected");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "100 hosts > 10.0.0.2");
}

TEST(CmUnansweredFinding, Trigger) {
  SnapshotMaker maker;
  exchange(maker, 1, 2).req.count = 4;
  exchange(maker, 3, 4, 20);  // once, but the capture goes on for longer than it waits
  CmExchange& half = exchange(maker, 5, 6, 30);
  half.rep = {31, test_second, 3};
  CmExchange& gone = exchange(maker, 7, 8, 40);
  gone.rep = {41, test_second, 1};
  gone.rtu = {42, test_second, 1};
  gone.dreq = {43, 2 * test_second, 5};
  maker.flow(4, 99, 1, dissect::Service::ud);
  const std::vector<Finding> found = maker.run("cm_unanswered");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_TRUE(says(found[0],
                   "1 request of 10.0.0.1 to service 0x0000000001061144 (NVMe-oF, port 4420) at 10.0.0.2 got "
                   "no answer; the first was sent 4 times, of 16 times at most (Max CM Retries 15). No RoCE "
                   "packet from 10.0.0.2 was captured at all"))
      << found[0].explanation;
  EXPECT_DOUBLE_EQ(found[0].confidence, 0.6);
  EXPECT_TRUE(says(found[1], "10.0.0.4 did send RoCE packets while the client waited"))
      << found[1].explanation;
  EXPECT_TRUE(says(found[2], "neither an RTU nor data came")) << found[2].explanation;
  EXPECT_EQ(found[3].severity, Severity::notice);
  EXPECT_EQ(found[3].title, "disconnect request unanswered");
  EXPECT_TRUE(says(found[3],
                   "1 disconnect request between 10.0.0.7 and 10.0.0.8 got no answer, although the DREQ was "
                   "retransmitted"))
      << found[3].explanation;
}

/// Exhausted only when all attempts were made that the REQ allows.
TEST(CmUnansweredFinding, SaysWhetherRetriesAreExhausted) {
  const auto text = [](std::uint32_t sent, std::uint8_t retries, bool sidr) {
    SnapshotMaker maker;
    CmExchange& e = exchange(maker, 1, 2);
    e.req.count = sent;
    e.max_cm_retries = retries;
    e.sidr = sidr;
    EXPECT_EQ(retries_exhausted(e), sent > retries && !sidr);
    return maker.run("cm_unanswered").at(0).explanation;
  };
  EXPECT_NE(text(2, 15, false).find("sent twice, of 16 times at most (Max CM Retries 15)."),
            std::string::npos);
  EXPECT_NE(text(2, 1, false)
                .find("sent twice, as often as it allows (Max CM Retries 1): its retries are exhausted."),
            std::string::npos);
  EXPECT_NE(text(2, 0, true).find("sent twice. "), std::string::npos);
}

TEST(CmUnansweredFinding, SaysWhetherTheServerSentAnythingMeanwhile) {
  SnapshotMaker maker;
  exchange(maker, 1, 2).req.count = 4;
  maker.flow(1, 2, 1, dissect::Service::ud);  // the REQs
  maker.snapshot.flows.back().first_time_ns = maker.snapshot.exchanges[0].req.time_ns;
  maker.snapshot.flows.back().last_time_ns = maker.snapshot.exchanges[0].req.time_ns + test_second;
  maker.flow(2, 3, 99, dissect::Service::rc);  // the server, later
  maker.snapshot.flows.back().first_time_ns = 8 * test_second;
  std::vector<Finding> found = maker.run("cm_unanswered");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "10.0.0.2 sent RoCE packets at other times, but none while the client waited"))
      << found[0].explanation;
  maker.snapshot.flows.back().first_time_ns = maker.snapshot.exchanges[0].req.time_ns;
  found = maker.run("cm_unanswered");
  EXPECT_TRUE(says(found[0], "10.0.0.2 did send RoCE packets while the client waited"))
      << found[0].explanation;
}

TEST(CmUnansweredFinding, NearMiss) {
  SnapshotMaker maker;
  exchange(maker, 1, 2).req.time_ns = 9 * test_second;  // the capture ends before the time is up
  exchange(maker, 1, 3).rep = {11, test_second, 1};
  exchange(maker, 1, 4).mra = {11, test_second, 1};  // "wait"
  CmExchange& rejected = exchange(maker, 1, 5);
  rejected.reject_reason = 8;
  rejected.rejected_by_server = true;
  rejected.rej = {11, test_second, 1};
  CmExchange& used = exchange(maker, 1, 6);  // no RTU captured, but the client sends
  used.rep = {11, test_second, 3};
  maker.connect(1, 6).cm = 4;
  CmExchange& closed = exchange(maker, 1, 7);
  closed.rep = {11, test_second, 1};
  closed.rtu = {12, test_second, 1};
  closed.dreq = {13, test_second, 3};
  closed.drep = {14, test_second, 1};
  for (const Finding& f : maker.run("cm_unanswered")) ADD_FAILURE() << f.subject << ": " << f.explanation;
}

TEST(CmUnansweredFinding, ShowsTheModeTableWhereTheServerSpeaksV1) {
  SnapshotMaker maker;
  exchange(maker, 1, 2).req.count = 2;
  maker.flow(2, 3, 1, dissect::Service::ud);
  maker.snapshot.flows.back().key.transport = dissect::Transport::roce_v1;
  std::vector<Finding> found = maker.run("cm_unanswered");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0],
                   "sends only RoCE v1 in this capture. RDMA-CM connects v1 to v1, v1 to v2 and v2 to v2, "
                   "but not a v2 client to a v1 server"))
      << found[0].explanation;
  maker.flow(2, 3, 1, dissect::Service::ud);  // and v2
  EXPECT_FALSE(says(maker.run("cm_unanswered")[0], "RDMA-CM connects"));
}

}  // namespace
}  // namespace roce::analyze

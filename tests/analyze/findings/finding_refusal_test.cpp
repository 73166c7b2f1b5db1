// SPDX-License-Identifier: Apache-2.0
// Rules on receivers that are not ready and responders that refuse.
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

std::unique_ptr<RnrStats> rnr_of(std::uint64_t naks, std::uint64_t chain) {
  auto rnr = std::make_unique<RnrStats>();
  rnr->naks = naks;
  rnr->longest_chain = chain;
  rnr->timer_code = 12;
  rnr->coded_wait_ns = 640'000;
  for (std::uint64_t i = 0; i < naks; ++i) rnr->wait_ns.add(700'000);
  return rnr;
}

TEST(RnrFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[1], Event::rnr_nak, 150);
  happen(c.sent[0], Event::retransmitted_rnr, 400);
  c.requester[0].trouble->rnr = rnr_of(150, 4);
  const std::vector<Finding> found = maker.run("rnr");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].subject, "10.0.0.1 QP 0x000100 > 10.0.0.2 QP 0x000200");
  EXPECT_TRUE(says(
      found[0],
      "10.0.0.2 QP 0x000200 had no receive posted for 150 of 10000 request packets (1.5 %) from 10.0.0.1"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "waits of 640 µs (timer code 12); the sender waited")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "Longest series for one request: 4 RNR NAKs. 400 packets retransmitted for it."))
      << found[0].explanation;
}

TEST(RnrFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[1], Event::nak_sequence_error, 150);
  EXPECT_TRUE(maker.run("rnr").empty());
  Connection& few = maker.connect(3, 4);
  happen(few.sent[1], Event::rnr_nak, 3);
  EXPECT_EQ(maker.run("rnr")[0].severity, Severity::notice);
}

TEST(RnrExhaustedFinding, Trigger) {
  for (const unsigned booked : {0U, 1U}) {  // on the requester, on the responder
    SnapshotMaker maker;
    Connection& c = maker.connect(1, 2);
    happen(c.sent[1], Event::rnr_nak, 4);
    happen(c.sent[booked], Event::rnr_exhausted, 1, 130);
    c.requester[0].rnr_exhausted = true;
    c.requester[0].trouble->rnr = rnr_of(4, 4);
    c.cm = 0;
    maker.snapshot.exchanges.emplace_back().rnr_retry = 3;
    const std::vector<Finding> found = maker.run("rnr_exhausted");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, Severity::error);
    EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{100, 110, 120, 130}));
    EXPECT_TRUE(says(
        found[0],
        "10.0.0.1 QP 0x000100 gave up: 10.0.0.2 QP 0x000200 had no receive posted and refused one request 4 "
        "times in a row (4 RNR NAKs in total, each requesting a wait of 640 µs). RNR retry count set by the "
        "CM: 3."))
        << found[0].explanation;
    EXPECT_TRUE(maker.run("rnr").empty());  // told once
  }
}

TEST(RnrExhaustedFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[1], Event::rnr_nak, 300);
  c.requester[0].trouble->rnr = rnr_of(300, 40);  // a long row, but it went on in the end
  EXPECT_TRUE(maker.run("rnr_exhausted").empty());
}

Connection& refuse(SnapshotMaker& maker, Event event, std::uint8_t code) {
  Connection& c = maker.connect(1, 2);
  happen(c.sent[1], event, 1, 140);
  RefusedRequest r;
  r.syndrome = static_cast<std::uint8_t>(0x60 + code);
  r.opcode = 0x06;
  r.has_reth = true;
  r.psn = 77;
  r.r_key = 0x1234;
  r.length = 65536;
  r.virtual_address = 0x7f0012345678;
  r.nak_frame = 140;
  r.request_frame = 120;
  c.requester[0].trouble->refused.push_back(r);
  c.requester[0].refused_fatally = true;
  return c;
}

TEST(RemoteAccessErrorFinding, Trigger) {
  SnapshotMaker maker;
  refuse(maker, Event::nak_remote_access_error, 2);
  const std::vector<Finding> found = maker.run("remote_access_error");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::error);
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{120, 140}));
  EXPECT_TRUE(says(
      found[0],
      "10.0.0.2 QP 0x000200 refused RDMA WRITE First (PSN 77, packet 120; address 0x00007f0012345678, R_Key "
      "0x00001234, 65536 bytes) from 10.0.0.1 QP 0x000100 in packet 140: NAK 0x62, remote access error."))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "IBV_WC_REM_ACCESS_ERR"));
}

TEST(RemoteAccessErrorFinding, NearMiss) {
  SnapshotMaker maker;
  refuse(maker, Event::nak_invalid_request, 1);
  EXPECT_TRUE(maker.run("remote_access_error").empty());
}

TEST(RemoteAccessErrorFinding, WithoutTheRequestAndForAnAtomic) {
  SnapshotMaker maker;
  Connection& c = refuse(maker, Event::nak_remote_access_error, 2);
  c.requester[0].trouble->refused[0].opcode = 0x13;
  EXPECT_TRUE(says(maker.run("remote_access_error")[0], "R_Key 0x00001234) from"));
  c.requester[0].trouble->refused[0].request_frame = 0;
  EXPECT_TRUE(says(maker.run("remote_access_error")[0],
                   "refused a packet (PSN 77, not captured; its message: address 0x"));
  c.requester[0].trouble->refused.clear();
  EXPECT_TRUE(
      says(maker.run("remote_access_error")[0], "refused a request from 10.0.0.1 QP 0x000100: NAK 0x62"));
}

TEST(InvalidRequestFinding, Trigger) {
  SnapshotMaker maker;
  refuse(maker, Event::nak_invalid_request, 1);
  const std::vector<Finding> found = maker.run("invalid_request");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "NAK 0x61, invalid request. Path MTU of the connection: 1024."))
      << found[0].explanation;
}

TEST(InvalidRequestFinding, NearMiss) {
  SnapshotMaker maker;
  refuse(maker, Event::nak_remote_operational_error, 3);
  happen(maker.connect(1, 2).sent[1], Event::nak_sequence_error, 9);  // repaired, not refused
  EXPECT_TRUE(maker.run("invalid_request").empty());
}

TEST(RemoteOperationalErrorFinding, Trigger) {
  SnapshotMaker maker;
  refuse(maker, Event::nak_remote_operational_error, 3);
  const std::vector<Finding> found = maker.run("remote_operational_error");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "IBV_WC_REM_OP_ERR")) << found[0].advice;
}

TEST(RemoteOperationalErrorFinding, NearMiss) {
  SnapshotMaker maker;
  refuse(maker, Event::nak_remote_access_error, 2);
  EXPECT_TRUE(maker.run("remote_operational_error").empty());
}

TEST(InvalidRdRequestFinding, Trigger) {
  SnapshotMaker maker;
  refuse(maker, Event::nak_invalid_rd_request, 4);
  EXPECT_EQ(maker.run("invalid_rd_request").size(), 1U);
}

TEST(InvalidRdRequestFinding, NearMiss) {
  SnapshotMaker maker;
  refuse(maker, Event::nak_invalid_request, 1);
  EXPECT_TRUE(maker.run("invalid_rd_request").empty());
}

TEST(RemoteAccessErrorFinding, ManyOfAPairAreOne) {
  SnapshotMaker maker;
  for (int i = 0; i < 6; ++i) refuse(maker, Event::nak_remote_access_error, 2);
  const std::vector<Finding> found = maker.run("remote_access_error");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(
      says(found[0], "In 6 connections from 10.0.0.1 to 10.0.0.2: 10.0.0.2 refused 6 requests. The first: "))
      << found[0].explanation;
}

}  // namespace
}  // namespace roce::analyze

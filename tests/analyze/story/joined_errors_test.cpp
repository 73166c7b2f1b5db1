// SPDX-License-Identifier: Apache-2.0
#include "analyze/story/joined_errors.hpp"

#include <gtest/gtest.h>

#include "analyze/errors/completion_status.hpp"
#include "tests/analyze/story/story_maker.hpp"

namespace roce::analyze {
namespace {

using test::connect_not_ready;
using test::connect_refused;
using test::connect_silent;
using test::has;

LoggedError error_with(std::uint8_t status) {
  LoggedError error;
  error.program = LogProgram::ucx;
  error.line = error.last_line = 1;
  error.status = status;
  return error;
}

JoinedError joined(const SnapshotMaker& maker, const LoggedError& error) {
  ErrorLog log;
  log.errors.push_back(error);
  const std::vector<JoinedError> all = join_errors(maker.snapshot, std::span(&log, 1));
  return all.size() == 1 ? all.front() : JoinedError();
}

TEST(JoinedErrors, TheQueuePairAndTheFailureFit) {
  SnapshotMaker maker;
  maker.connect(3, 4);
  connect_silent(maker);
  LoggedError error = error_with(wc_retries_exceeded);
  error.local_qp = 0x101;
  const JoinedError found = joined(maker, error);
  EXPECT_EQ(found.fit, Fit::fits);
  ASSERT_EQ(found.matches.size(), 1U);
  EXPECT_EQ(found.matches[0].connection, 1U);
  EXPECT_EQ(found.matches[0].side, 0);
  EXPECT_TRUE(found.matches[0].evidence.shown);
  EXPECT_EQ(found.matches[0].evidence.last_packet, 540U);
  EXPECT_TRUE(has(found.text, "UCX reports for 10.0.0.1 QP 0x000101: IBV_WC_RETRY_EXC_ERR (12,"))
      << found.text;
  EXPECT_TRUE(has(found.text, "on the wire: its retries run out at packet 540")) << found.text;
}

TEST(JoinedErrors, TheFailureTellsWhichOfTwoWithTheSameNumber) {
  SnapshotMaker maker;
  Connection& silent = connect_silent(maker);
  silent.ends[0].qp = silent.ends[1].qp = 0x94;
  LoggedError error = error_with(wc_retries_exceeded);
  error.local_qp = 0x94;
  const JoinedError found = joined(maker, error);
  EXPECT_EQ(found.fit, Fit::fits);
  EXPECT_EQ(found.matches[0].side, 0);
  // Where nothing shows it, both are possible.
  silent.requester[0].retries_exhausted = false;
  silent.state = Connection::State::open;
  const JoinedError unsure = joined(maker, error);
  EXPECT_EQ(unsure.fit, Fit::may_fit);
  EXPECT_EQ(unsure.candidates, 2U);
  EXPECT_TRUE(has(unsure.text, "one of 2 queue pairs")) << unsure.text;
}

TEST(JoinedErrors, AddressesAloneAreSureOnlyWithTheFailure) {
  SnapshotMaker maker;
  connect_silent(maker);
  maker.connect(1, 2);
  LoggedError error = error_with(wc_retries_exceeded);
  error.local = host(1);
  error.remote = host(2);
  EXPECT_EQ(joined(maker, error).fit, Fit::fits);
  maker.snapshot.connections[0].requester[0].retries_exhausted = false;
  const JoinedError unsure = joined(maker, error);
  EXPECT_EQ(unsure.fit, Fit::may_fit);
  EXPECT_EQ(unsure.candidates, 2U);
}

TEST(JoinedErrors, NoFailureOnTheWire) {
  SnapshotMaker maker;
  maker.connect(1, 2);
  LoggedError error = error_with(wc_retries_exceeded);
  error.local_qp = 0x100;
  JoinedError found = joined(maker, error);
  EXPECT_EQ(found.fit, Fit::fits);
  EXPECT_FALSE(found.matches[0].evidence.shown);
  EXPECT_TRUE(has(found.text, "no failure of this queue pair up to its last packet (+10.000000 s)"))
      << found.text;
  maker.snapshot.connections[0].packets[0] = 0;
  found = joined(maker, error);
  EXPECT_TRUE(has(found.text, "no packet that 10.0.0.1 sent")) << found.text;
}

TEST(JoinedErrors, AnotherFailureIsSaid) {
  SnapshotMaker maker;
  connect_refused(maker);
  LoggedError error = error_with(wc_retries_exceeded);
  error.local_qp = 0x100;
  EXPECT_TRUE(has(joined(maker, error).text, "another failure of this queue pair: 10.0.0.2 refuses"));
}

TEST(JoinedErrors, ErrorsOfBothEndsOfARefusal) {
  SnapshotMaker maker;
  connect_refused(maker, 2);
  LoggedError requester = error_with(wc_remote_access);
  requester.local_qp = 0x100;
  EXPECT_TRUE(joined(maker, requester).matches[0].evidence.shown);
  LoggedError responder;
  responder.program = LogProgram::nccl;
  responder.event = "local access violation work queue error";
  responder.local_qp = 0x200;
  const JoinedError found = joined(maker, responder);
  ASSERT_EQ(found.fit, Fit::fits);
  EXPECT_EQ(found.matches[0].side, 1);
  EXPECT_TRUE(found.matches[0].evidence.shown) << found.text;
  LoggedError other = responder;
  other.event = "invalid request local work queue error";
  EXPECT_FALSE(joined(maker, other).matches[0].evidence.shown);
}

TEST(JoinedErrors, FlushedRequestsSayWhatWasBefore) {
  SnapshotMaker maker;
  connect_not_ready(maker);
  LoggedError error = error_with(wc_flushed);
  error.local_qp = 0x100;
  JoinedError found = joined(maker, error);
  EXPECT_TRUE(found.matches[0].evidence.shown);
  EXPECT_TRUE(has(found.text, "why it was flushed: 10.0.0.2 answers with RNR NAKs")) << found.text;
  error.local_qp = 0x200;  // that of the peer is flushed for the same reason
  EXPECT_TRUE(joined(maker, error).matches[0].evidence.shown);
  maker.snapshot.connections[0].requester[0].rnr_exhausted = false;
  EXPECT_TRUE(has(joined(maker, error).text, "no failure before")) << joined(maker, error).text;
}

TEST(JoinedErrors, LocalErrorsNeedNotReachTheWire) {
  SnapshotMaker maker;
  maker.connect(1, 2);
  LoggedError error = error_with(wc_local_protection);
  error.local_qp = 0x100;
  EXPECT_TRUE(has(joined(maker, error).text, "on the wire: nothing: a local memory"));
}

TEST(JoinedErrors, WhatTheCaptureDoesNotHave) {
  SnapshotMaker maker;
  connect_silent(maker);
  LoggedError error = error_with(wc_retries_exceeded);
  error.local_qp = 0x2c10;
  error.remote = host(2);
  const JoinedError found = joined(maker, error);
  EXPECT_EQ(found.fit, Fit::not_here);
  EXPECT_TRUE(has(found.text, "nothing in this capture fits: queue pair 0x002c10, peer at 10.0.0.2"))
      << found.text;
  // A right number at a wrong address.
  error = error_with(wc_retries_exceeded);
  error.local_qp = 0x100;
  error.local = host(9);
  EXPECT_EQ(joined(maker, error).fit, Fit::not_here);
}

TEST(JoinedErrors, WithoutNamesTheFailureIsAHint) {
  SnapshotMaker maker;
  maker.connect(3, 4);
  EXPECT_EQ(joined(maker, error_with(wc_retries_exceeded)).fit, Fit::names_nobody);
  connect_silent(maker);
  const JoinedError found = joined(maker, error_with(wc_retries_exceeded));
  EXPECT_EQ(found.fit, Fit::may_fit);
  EXPECT_TRUE(has(found.text, "probably: ")) << found.text;
  EXPECT_EQ(joined(maker, error_with(wc_rnr_retries_exceeded)).fit, Fit::names_nobody);
  EXPECT_EQ(joined(maker, error_with(wc_flushed)).fit, Fit::names_nobody);
}

TEST(JoinedErrors, AConnectionThatBeganLaterIsNotMeant) {
  SnapshotMaker maker;
  maker.connect(1, 2);
  maker.connect(1, 2);
  for (Connection& c : maker.snapshot.connections) c.ends[0].qp = 0x94;
  maker.snapshot.connections[1].first_time_ns = 60 * test_second;
  LoggedError error = error_with(wc_retries_exceeded);
  error.local_qp = 0x94;
  EXPECT_EQ(joined(maker, error).candidates, 2U);
  error.time_ns = 20 * test_second;
  EXPECT_EQ(joined(maker, error).candidates, 2U);  // of an unknown zone
  error.zone_known = true;
  EXPECT_EQ(joined(maker, error).candidates, 1U);
  EXPECT_TRUE(has(joined(maker, error).text, "(logged 10.0 s after its last packet)"))
      << joined(maker, error).text;
}

TEST(JoinedErrors, ErrorsInWords) {
  LoggedError error = error_with(wc_retries_exceeded);
  error.vendor_error = 0x81;
  EXPECT_EQ(error_text(error),
            "IBV_WC_RETRY_EXC_ERR (12, \"transport retry counter exceeded\"), vendor error 0x81");
  error.vendor_error = 0x88;  // something else than the status says
  EXPECT_TRUE(has(error_text(error), "(with mlx5: the peer refused access to its memory)"));
  error.program = LogProgram::bnxt_re;
  EXPECT_FALSE(has(error_text(error), "mlx5"));
  error.device = "bnxt_re0";
  error.operation = "SEND";
  error.times = 3;
  EXPECT_TRUE(has(error_text(error), "vendor error 0x88 of SEND on bnxt_re0, 3 times")) << error_text(error);
  EXPECT_EQ(error_text(LoggedError()), "an error");
}

}  // namespace
}  // namespace roce::analyze

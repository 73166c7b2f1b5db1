// SPDX-License-Identifier: Apache-2.0
// A requester that used up the CM's retry count just before it was disconnected.
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

class TimeoutsThenDisconnect : public ::testing::Test {
 protected:
  static constexpr std::int64_t ms = 1'000'000;

  TimeoutsThenDisconnect() : connection_(maker_.connect(1, 2)) {
    happen(connection_.sent[0], Event::retransmitted_timeout, 2);
    RequesterTrouble& trouble = *connection_.requester[0].trouble;
    trouble.chains = 1;
    trouble.timeouts = 2;
    RetryChain& chain = trouble.worst_chain;
    chain.psn = 157;
    chain.opcode = 0x0a;
    chain.resends = 2;
    chain.first_frame = 94;
    chain.last_frame = 96;
    chain.first_time_ns = 10 * ms;
    chain.last_time_ns = 44 * ms;
    chain.min_spacing_ns = chain.max_spacing_ns = 17 * ms;
    chain.first_seen = true;
    sender().last_time_ns = chain.last_time_ns;
    connection_.cm = 0;
    CmExchange& cm = maker_.snapshot.exchanges.emplace_back();
    cm.retry_count = 2;
    cm.dreq = {97, 62 * ms, 1};
  }

  Flow& sender() { return maker_.snapshot.flows.at(*connection_.flow[0]); }
  CmExchange& cm() { return maker_.snapshot.exchanges.front(); }
  RetryChain& chain() { return connection_.requester[0].trouble->worst_chain; }
  [[nodiscard]] bool told() const {
    const std::vector<Finding> found = maker_.run("timeouts");
    EXPECT_EQ(found.size(), 1U);
    const bool gave_up =
        !found.empty() && says(found[0], "10.0.0.1 QP 0x000100 apparently gave up: 2 retransmissions");
    if (gave_up) {
      EXPECT_EQ(found[0].severity, Severity::error);
      EXPECT_TRUE(says(found[0], "and packet 97 disconnects (DREQ)")) << found[0].explanation;
    }
    return gave_up;
  }

  SnapshotMaker maker_;
  Connection& connection_;
};

TEST_F(TimeoutsThenDisconnect, IsTold) {
  EXPECT_TRUE(told());
}

/// A packet that never passes: the responder cannot answer what comes behind it.
TEST_F(TimeoutsThenDisconnect, NamesWhatIsMissingBeforeItEachTime) {
  chain().missing_before = 1;
  const std::vector<Finding> found = maker_.run("timeouts");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(
      found[0], "Each time PSN 156 before it, which 10.0.0.2 waits for, was lost on the way from 10.0.0.1"))
      << found[0].explanation;
  EXPECT_FALSE(says(found[0], "a lost acknowledgement")) << found[0].explanation;
}

/// So many in vain are no lost last packet, and no slow responder.
TEST_F(TimeoutsThenDisconnect, GuessesAtOnePacketOnlyWhereItWasAnswered) {
  for (const bool answered : {true, false}) {
    chain().answered = answered;
    chain().resends = 5;
    const std::vector<Finding> found = maker_.run("timeouts");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(says(found[0], "or the responder was slow"), answered) << found[0].explanation;
  }
}

/// What it acknowledged was sent again for good reason: the sender did not hear of it.
TEST_F(TimeoutsThenDisconnect, NamesANakThatDidNotCome) {
  happen(connection_.sent[0], Event::spurious, 2);
  EXPECT_TRUE(maker_.run("timeouts").empty());
  RequesterTrouble& trouble = *connection_.requester[0].trouble;
  trouble.needless[static_cast<std::size_t>(SpuriousReason::unheard_nak)] = 2;
  trouble.worst_chain.unheard_nak = 95;
  const std::vector<Finding> found = maker_.run("timeouts");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0],
                   "after a timeout, without a NAK or with one that did not arrive: the timer expired twice"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "a NAK (packet 95) had requested what is missing")) << found[0].explanation;
  const std::vector<Finding> needless = maker_.run("spurious_retransmission");
  ASSERT_EQ(needless.size(), 1U);
  EXPECT_TRUE(
      says(needless[0], "a NAK that requested a later packet was lost or late on its way to 10.0.0.1"))
      << needless[0].explanation;
}

/// The rest of a READ: its first transmission has another PSN.
TEST_F(TimeoutsThenDisconnect, NamesBothRequestsOfARead) {
  chain().opcode = 0x0c;
  chain().reissued_after = 7;
  EXPECT_TRUE(says(maker_.run("timeouts").at(0),
                   "Longest series: RDMA READ Request with PSN 150 was reissued twice from PSN 157 on (from "
                   "packet 94 to 96), 17.0 ms apart"))
      << maker_.run("timeouts").at(0).explanation;
}

/// Asked again because a later answer came: where answers were seen, no timer ran out.
TEST_F(TimeoutsThenDisconnect, NotForWhatALaterAnswerTells) {
  connection_.requester[0].trouble->timeouts = 0;
  connection_.requester[0].acks = 40;
  EXPECT_TRUE(maker_.run("timeouts").empty());
  connection_.requester[0].acks = 0;  // one direction alone
  EXPECT_EQ(maker_.run("timeouts").size(), 1U);
}

TEST_F(TimeoutsThenDisconnect, NotWithTriesLeft) {
  cm().retry_count = 7;
  EXPECT_FALSE(told());
}

TEST_F(TimeoutsThenDisconnect, NotAfterAnAnswer) {
  chain().answered = true;
  EXPECT_FALSE(told());
}

TEST_F(TimeoutsThenDisconnect, NotWhereTheDreqCameBeforeTheTimerRanOut) {
  cm().dreq.time_ns = 50 * ms;
  EXPECT_FALSE(told());
}

TEST_F(TimeoutsThenDisconnect, NotWhereTheSenderWentOn) {
  sender().last_time_ns = 61 * ms;
  EXPECT_FALSE(told());
}

TEST_F(TimeoutsThenDisconnect, NotWithoutADisconnect) {
  cm().dreq = {};
  EXPECT_FALSE(told());
}

}  // namespace
}  // namespace roce::analyze

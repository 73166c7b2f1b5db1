// SPDX-License-Identifier: Apache-2.0
// Rules on CNPs and the CE marks that they answer.
#include "tests/analyze/findings/mark_maker.hpp"

namespace roce::analyze {
namespace {

/// A connection whose side 0 is slowed down.
Connection& congest(MarkMaker& maker, std::uint64_t ces, std::uint64_t cnps, std::uint64_t without_ce = 0) {
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::ce_marked, ces);
  happen(c.sent[1], Event::cnp, cnps, 1000);
  c.cnps[1] = cnps;
  CongestionSide& side = *c.congestion[0];
  side.ce = ces;
  side.cnps = cnps;
  side.cnps_without_ce = without_ce;
  return c;
}

TEST(CeWithoutCnpFinding, Trigger) {
  MarkMaker maker;
  congest(maker, 100, 0);
  const auto found = maker.run("ce_without_cnp");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_LT(found[0].confidence, 0.8);
  EXPECT_TRUE(says(found[0], "100 of 10000 packets (1.0 %) sent by 10.0.0.1 were marked CE"))
      << found[0].explanation;
}

TEST(CeWithoutCnpFinding, NearMiss) {
  MarkMaker maker;
  congest(maker, 100, 1);
  congest(maker, 2, 0);  // the CNP may come behind the end
  Connection& one_way = congest(maker, 100, 0);
  one_way.packets[1] = 0;
  (*congest(maker, 100, 0).congestion[0]).left_out = 1;  // a filter may hide the CNPs
  EXPECT_TRUE(maker.run("ce_without_cnp").empty());
}

/// A Fast CNP has the receiver's queue pair, and comes from another address.
TEST(CeWithoutCnpFinding, SwitchesMayHaveSentThem) {
  MarkMaker maker;
  Connection& c = congest(maker, 100, 0);
  const FlowKey key = maker.of(c, 0).key;
  FastCnpFlow named{key.dst, key.src, key.dst, key.dst_qp + 1};
  maker.snapshot.totals.fast_cnps[named].packets = 20;
  EXPECT_EQ(maker.run("ce_without_cnp").size(), 1U);  // for another queue pair
  named.dst_qp = key.dst_qp;
  maker.snapshot.totals.fast_cnps[named].packets = 20;
  EXPECT_TRUE(maker.look("ce_without_cnp").empty());
}

/// What the NIC of 10.0.0.2 keeps apart: the CNPs of a queue pair, whatever others get.
void limit_by_flow(CnpSender& sender) {
  constexpr unsigned cnps = 30;
  sender.flows = 2;
  sender.pairs = 1;
  for (unsigned i = 0; i < cnps; ++i) {
    sender.flow_spacing_ns.add(50'000);
    sender.port_spacing_ns.add(i % 2 == 0 ? 10 : 50'000);
  }
}

TEST(CeWithoutCnpFinding, CnpsToAnotherQueuePairMayBeForAllOfThem) {
  MarkMaker maker;
  congest(maker, 100, 0);
  Connection& answered = congest(maker, 100, 20);
  maker.send(answered, 1, {cnp, 48}, 20);
  CnpSender& sender = maker.snapshot.congestion.senders.emplace_back();
  sender.address = maker.of(answered, 1).key.src;
  EXPECT_TRUE(maker.look("ce_without_cnp").empty());
  limit_by_flow(sender);
  ASSERT_EQ(sender.limited_by(), CnpSender::Limit::flow);
  EXPECT_EQ(maker.look("ce_without_cnp").size(), 1U);
}

TEST(CeWithoutCnpFinding, AcknowledgementsSlowNobody) {
  MarkMaker maker;
  Connection& c = congest(maker, 100, 0);
  maker.send(c, 0, {acknowledge, 26, ce}, 98);
  EXPECT_TRUE(maker.look("ce_without_cnp").empty());
}

TEST(CeWithoutCnpFinding, TheCaptureEndsBeforeAnAnswer) {
  MarkMaker maker;
  Connection& c = congest(maker, 100, 0);
  Flow& answers = maker.of(c, 1);
  const std::int64_t first = c.sent[0].find(Event::ce_marked)->first_time_ns;
  answers.last_time_ns = first + 99'999;
  EXPECT_TRUE(maker.look("ce_without_cnp").empty());
  answers.last_time_ns = first + 100'000;
  EXPECT_EQ(maker.look("ce_without_cnp").size(), 1U);
}

/// A UD or UC flow with marks, and what comes back from its receiver after so long.
Flow& mark_datagrams(MarkMaker& maker, dissect::Service service, std::int64_t back_after_ns) {
  Connection& c = maker.join(1, 2);
  c.service = service;
  Flow& flow = maker.of(c, 0);
  flow.service = service;
  const std::uint8_t opcode = service == dissect::Service::ud ? ud_send : uc_send;
  maker.send(flow, {opcode, 26, ect0}, 90);
  const auto first = static_cast<std::int64_t>(maker.number + 1) * 1000;
  maker.send(flow, {opcode, 26, ce}, 10);
  Flow& back = maker.of(maker.join(2, 1), 0);
  maker.send(back, {ud_send, 0, not_ect});
  back.last_time_ns = first + back_after_ns;
  return flow;
}

TEST(CeWithoutCnpFinding, OfUdAndUc) {
  for (const dissect::Service service : {dissect::Service::ud, dissect::Service::uc}) {
    MarkMaker maker;
    mark_datagrams(maker, service, 100'000);
    const auto found = maker.look("ce_without_cnp");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, Severity::notice);
    EXPECT_EQ(found[0].count, 10U);
    EXPECT_TRUE(says(found[0], service == dissect::Service::ud
                                   ? "10 of 100 packets (10.0 %) of UD from 10.0.0.1"
                                   : "10 of 100 packets (10.0 %) of UC from 10.0.0.1"))
        << found[0].explanation;
  }
}

TEST(CeWithoutCnpFinding, OfUdAndUcNearMiss) {
  MarkMaker soon;  // the capture may end before an answer
  mark_datagrams(soon, dissect::Service::ud, 99'999);
  EXPECT_TRUE(soon.look("ce_without_cnp").empty());
  MarkMaker answered;
  mark_datagrams(answered, dissect::Service::ud, 100'000);
  answered.send(answered.join(2, 1), 0, {cnp, 48});
  EXPECT_TRUE(answered.look("ce_without_cnp").empty());
  MarkMaker one_way;
  Flow& flow = mark_datagrams(one_way, dissect::Service::uc, 100'000);
  flow.key.dst = host(9);  // of whom nothing was captured
  EXPECT_TRUE(one_way.look("ce_without_cnp").empty());
  MarkMaker chosen;
  mark_datagrams(chosen, dissect::Service::ud, 100'000);
  chosen.snapshot.filter = "roce.ecn == 3";
  EXPECT_TRUE(chosen.look("ce_without_cnp").empty());
}

TEST(CnpWithoutCeFinding, Trigger) {
  MarkMaker maker;
  congest(maker, 0, 40, 40);
  const auto found = maker.run("cnp_without_ce");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::info);
  EXPECT_TRUE(says(found[0], "40 of 40 CNPs (100 %) to 10.0.0.1 came without")) << found[0].explanation;
}

TEST(CnpWithoutCeFinding, NearMiss) {
  MarkMaker maker;
  congest(maker, 100, 40, 1);  // the first one answers what came before the capture
  Connection& alone = congest(maker, 0, 40, 40);
  alone.packets[0] = 0;  // nothing of the packets that may be marked
  EXPECT_TRUE(maker.run("cnp_without_ce").empty());
}

/// CNPs every 50 us to a sender with these rates in Gb/s, who fell after so many of them.
CongestionSide& slow(Connection& c, std::uint64_t before, std::uint64_t between, std::uint32_t fell) {
  CongestionSide& side = *c.congestion[0];
  side.before = {before * 125'000, 1'000'000};
  side.between = {between * 125'000, 1'000'000};
  for (std::uint64_t i = 1; i < side.cnps; ++i) side.cnp_spacing.add(50'000);
  side.fell = fell;
  side.held = static_cast<std::uint32_t>(side.cnps) - 1 - fell;
  return side;
}

TEST(CnpIgnoredFinding, Trigger) {
  MarkMaker maker;
  slow(congest(maker, 100, 40), 90, 91, 1);
  const auto found = maker.run("cnp_ignored");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_LT(found[0].confidence, 0.7);
  EXPECT_TRUE(says(found[0], "90.0 Gb/s before the first CNP, 91.0 Gb/s between the CNPs"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "The rate fell after 1 of 39 CNPs")) << found[0].explanation;
}

TEST(CnpIgnoredFinding, NearMiss) {
  MarkMaker maker;
  slow(congest(maker, 100, 40), 90, 40, 1);   // slower on the whole
  slow(congest(maker, 100, 40), 40, 40, 15);  // slowed down before, up and down since
  slow(congest(maker, 100, 9), 90, 90, 0);    // too few
  CongestionSide& rare = slow(congest(maker, 100, 40), 90, 90, 0);
  rare.cnp_spacing.sum_ns *= 11;  // 550 us apart: it has time to speed up again
  slow(congest(maker, 100, 40), 90, 90, 0).left_out = 1;
  EXPECT_TRUE(maker.run("cnp_ignored").empty());
}

// A limit above what a sender has to send does not show.
TEST(CnpIgnoredFinding, NotOfASenderWithLittleToSend) {
  MarkMaker slow_one;  // what a NIC need not go below
  CongestionSide& side = slow(congest(slow_one, 400, 400), 1, 1, 0);
  side.before.bytes = side.between.bytes = 124'999;
  EXPECT_TRUE(slow_one.run("cnp_ignored").empty());
  side.before.bytes = side.between.bytes = 125'001;
  EXPECT_EQ(slow_one.run("cnp_ignored").size(), 1U);
  MarkMaker few;  // 800 Gb/s times 0.9, twenty times, are still above 90 Gb/s
  slow(congest(few, 100, 20), 90, 90, 0);
  EXPECT_TRUE(few.run("cnp_ignored").empty());
  MarkMaker enough;
  slow(congest(enough, 100, 21), 90, 90, 0);
  EXPECT_EQ(enough.run("cnp_ignored").size(), 1U);
}

TEST(CnpIgnoredFinding, ACaptureThatBeginsUnderCnpsIsNoWarning) {
  MarkMaker maker;
  CongestionSide& side = slow(congest(maker, 100, 40), 90, 91, 1);
  side.before = {side.before.bytes * 149'999 / 1'000'000, 149'999};
  auto found = maker.run("cnp_ignored");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_LT(found[0].confidence, 0.4);
  EXPECT_TRUE(says(found[0], "it may have been slowed down before")) << found[0].explanation;
  side.before = {90 * 18'750, 150'000};
  found = maker.run("cnp_ignored");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
}

}  // namespace
}  // namespace roce::analyze

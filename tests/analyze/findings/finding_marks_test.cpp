// SPDX-License-Identifier: Apache-2.0
// Rules on marks.
#include <memory>

#include "analyze/policy/marking_policy.hpp"
#include "tests/analyze/findings/mark_maker.hpp"

namespace roce::analyze {
namespace {

TEST(MarkingDirectionsFinding, Trigger) {
  MarkMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 26}, 100);
  maker.send(c, 1, {acknowledge, 0}, 25);
  const auto found = maker.look("marking_directions");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].subject, "10.0.0.2 > 10.0.0.1");
  EXPECT_EQ(found[0].count, 25U);
  EXPECT_EQ(found[0].packets.front(), 101U);
  EXPECT_TRUE(says(found[0], "data from 10.0.0.1: DSCP 26, ack from 10.0.0.2: DSCP 0"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "-Y 'roce.flow == 1 && roce.class == ack && roce.dscp == 0 && !roce.vlan'"))
      << found[0].advice;
}

TEST(MarkingDirectionsFinding, AClassOfItsOwnIsOnlyWorthKnowing) {
  MarkMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 24}, 100);
  maker.send(c, 1, {acknowledge, 16}, 25);
  const auto found = maker.look("marking_directions");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
}

TEST(MarkingDirectionsFinding, AMissingTagIsNoMatterOfTheDscp) {
  for (const bool same_dscp : {true, false}) {
    MarkMaker maker;
    const Connection& c = maker.join(1, 2);
    maker.send(c, 0, {write_only, 26, ect0, 3}, 100);
    maker.send(c, 1, {write_only, static_cast<std::uint8_t>(same_dscp ? 26 : 24), ect0}, 100);
    const auto found = maker.look("marking_directions");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(says(found[0], "The DSCP is the same, the VLAN tag is not."), same_dscp) << found[0].advice;
    EXPECT_EQ(says(found[0], "cma_roce_tos"), !same_dscp) << found[0].advice;
  }
}

TEST(MarkingDirectionsFinding, ManyPairsAreToldOnce) {
  MarkMaker maker;
  for (unsigned i = 0; i < 20; ++i) {
    const Connection& c = maker.join(1, 2 + i);
    maker.send(c, 0, {write_only, 26}, 10);
    maker.send(c, 1, {acknowledge, 0}, i == 7 ? 50 : 3);
  }
  const auto found = maker.look("marking_directions");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 50U + 19 * 3);
  EXPECT_EQ(found[0].subject, "20 directions from host to host");
  EXPECT_TRUE(says(found[0], "most of them from 10.0.0.9 to 10.0.0.1")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "Those (50): roceanalyze packets")) << found[0].advice;
}

TEST(MarkingDirectionsFinding, NearMiss) {
  MarkMaker maker;
  const Connection& alike = maker.join(1, 2);
  maker.send(alike, 0, {write_only, 26, ect0}, 100);
  maker.send(alike, 1, {acknowledge, 26}, 25);  // another ECN only
  const Connection& other = maker.join(3, 4);   // another mark, in both directions
  maker.send(other, 0, {write_only, 34}, 100);
  maker.send(other, 1, {acknowledge, 34}, 25);
  maker.send(other, 1, {cnp, 48}, 2);
  EXPECT_TRUE(maker.look("marking_directions").empty());
}

TEST(MarkingDirectionsFinding, BothChangedTheSameWay) {
  MarkMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 26, ect0}, 20);
  maker.send(c, 1, {acknowledge, 26}, 6);
  maker.send(c, 0, {write_only, 10, ect0}, 22);
  maker.send(c, 1, {acknowledge, 10}, 5);
  EXPECT_TRUE(maker.look("marking_directions").empty());
  EXPECT_EQ(maker.look("marking_changes").size(), 2U);
}

TEST(MarkingChangesFinding, Trigger) {
  MarkMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 26}, 100);
  maker.send(c, 0, {write_only, 0}, 7);
  maker.send(c, 0, {write_only, 26}, 100);
  const auto found = maker.look("marking_changes");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 7U);
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{101}));
  EXPECT_TRUE(says(found[0], "packet 101 (data) has DSCP 0, most have DSCP 26")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "7 of 207 packets")) << found[0].explanation;
}

TEST(MarkingChangesFinding, CallsNeitherRightWhereNoneIsThatOfMost) {
  MarkMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 26, not_ect, 3}, 50);
  maker.send(c, 0, {write_only, 26}, 50);
  const auto found = maker.look("marking_changes");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "50 of 100 packets (50.0 %)")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "has DSCP 26, PCP 3, as 50 do; 50 have DSCP 26, untagged.") ||
              says(found[0], "has DSCP 26, untagged, as 50 do; 50 have DSCP 26, PCP 3."))
      << found[0].explanation;
  EXPECT_FALSE(says(found[0], "most have")) << found[0].explanation;
}

TEST(MarkingChangesFinding, ATagOnSomePackets) {
  MarkMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 26, not_ect, 3}, 100);
  maker.send(c, 0, {write_only, 26}, 4);
  const auto found = maker.look("marking_changes");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 4U);
  EXPECT_TRUE(says(found[0], "has DSCP 26, untagged, most have DSCP 26, PCP 3")) << found[0].explanation;
}

TEST(MarkingChangesFinding, NearMiss) {
  MarkMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 26, ect0}, 100);
  maker.send(c, 0, {write_only, 26, ce}, 3);  // by the network
  maker.send(c, 0, {acknowledge, 16}, 3);     // a class of its own
  maker.send(c, 0, {cnp, 48}, 3);             // another one
  const Connection& d = maker.join(1, 2);     // another flow
  maker.send(d, 0, {write_only, 10}, 100);
  Flow& gsi = maker.of(maker.join(1, 2), 0);  // the CM speaks for many programs
  gsi.key.dst_qp = 1;
  maker.send(gsi, {ud_send, 0}, 3);
  maker.send(gsi, {ud_send, 26}, 3);
  Flow& ud = maker.of(maker.join(1, 2), 0);  // several senders
  ud.service = dissect::Service::ud;
  maker.send(ud, {ud_send, 0}, 3);
  maker.send(ud, {ud_send, 26, not_ect, std::nullopt, 50'001}, 3);
  EXPECT_TRUE(maker.look("marking_changes").empty());
}

TEST(MarkingChangesFinding, OfOneUdSenderAsFarAsItsPortTells) {
  MarkMaker maker;
  Flow& ud = maker.of(maker.join(1, 2), 0);
  ud.service = dissect::Service::ud;
  maker.send(ud, {ud_send, 0}, 3);
  maker.send(ud, {ud_send, 26}, 9);
  const auto found = maker.look("marking_changes");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_EQ(found[0].count, 3U);
  EXPECT_TRUE(says(found[0], "other queue pairs of the host may send to it too")) << found[0].explanation;
}

TEST(MarkingChangesFinding, AnotherVlan) {
  MarkMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 26, not_ect, 3}, 100);
  maker.send(c, 0, {write_only, 26, not_ect, 3, 50'000, 200}, 4);
  const auto found = maker.look("marking_changes");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 4U);
  EXPECT_TRUE(says(found[0], "has DSCP 26, PCP 3, VLAN 200, most have DSCP 26, PCP 3, VLAN 100"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "roce.pcp == 3 && roce.vlan == 200'")) << found[0].advice;
  EXPECT_TRUE(says(found[0], "GIDs of several interfaces")) << found[0].advice;
}

TEST(RetransmissionMarkingFinding, Trigger) {
  MarkMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::retransmitted_nak, 9);
  happen(c.sent[0], Event::repeat_marked_otherwise, 4);
  const auto found = maker.look("retransmission_marking");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 4U);
  EXPECT_TRUE(says(found[0], "4 of 9 packets (44.4 %)")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "All retransmissions (9): ")) << found[0].advice;
}

TEST(RetransmissionMarkingFinding, NearMiss) {
  MarkMaker maker;
  happen(maker.connect(1, 2).sent[0], Event::retransmitted_nak, 9);
  EXPECT_TRUE(maker.look("retransmission_marking").empty());
}

TEST(RetransmissionMarkingFinding, RepeatsAreMarkedAsTheirOriginals) {
  MarkMaker maker;
  Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 26, ect0}, 100);
  maker.send(c, 0, {write_only, 10, ect0}, 100);  // three of these are repeats
  happen(c.sent[0], Event::retransmitted_nak, 3);
  happen(c.sent[0], Event::repeat_marked_otherwise, 3);
  EXPECT_TRUE(maker.look("retransmission_marking").empty());
  MarkMaker policed;  // only repeats have the other marks
  Connection& d = policed.join(1, 2);
  policed.send(d, 0, {write_only, 26, ect0}, 100);
  policed.send(d, 0, {write_only, 10, ect0}, 3);
  happen(d.sent[0], Event::retransmitted_nak, 3);
  happen(d.sent[0], Event::repeat_marked_otherwise, 3);
  EXPECT_EQ(policed.look("retransmission_marking").size(), 1U);
}

TEST(NotEctFinding, Trigger) {
  MarkMaker maker;
  const Connection& good = maker.join(1, 2);
  maker.send(good, 0, {write_only, 26, ect0}, 300);
  const Connection& bad = maker.join(3, 2);
  maker.send(bad, 0, {write_only, 26, not_ect}, 100);
  const auto found = maker.look("not_ect");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].subject, "10.0.0.3 > 10.0.0.2");
  EXPECT_EQ(found[0].count, 100U);
  EXPECT_TRUE(says(found[0], "while 75.0 % of RoCE data in the capture is ECN-capable"))
      << found[0].explanation;
}

TEST(NotEctFinding, EverywhereAlthoughThereAreCnps) {
  MarkMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 26, not_ect}, 300);
  maker.send(c, 1, {cnp, 48, not_ect}, 20);
  const auto found = maker.look("not_ect");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 300U);
  EXPECT_TRUE(says(found[0], "while there are 20 CNPs in the capture")) << found[0].explanation;
  // As long as such packets are sent, not only when the first was.
  EXPECT_EQ(found[0].first_time_ns, 1'000);
  EXPECT_EQ(found[0].last_time_ns, 300'000);
}

TEST(NotEctFinding, NearMiss) {
  MarkMaker nobody;  // nobody uses ECN
  nobody.send(nobody.join(1, 2), 0, {write_only, 26, not_ect}, 300);
  EXPECT_TRUE(nobody.look("not_ect").empty());
  MarkMaker acks;  // only acknowledgements are without
  const Connection& c = acks.join(1, 2);
  acks.send(c, 0, {write_only, 26, ect0}, 300);
  acks.send(c, 1, {acknowledge, 26, not_ect}, 300);
  EXPECT_TRUE(acks.look("not_ect").empty());
}

TEST(EcnOffFinding, Trigger) {
  MarkMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 26, not_ect}, 999);
  maker.send(c, 1, {acknowledge, 26, not_ect}, 300);
  EXPECT_TRUE(maker.look("ecn_off").empty());
  maker.send(maker.join(3, 4), 0, {write_only, 26, not_ect}, 1);
  const auto found = maker.look("ecn_off");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::info);
  EXPECT_EQ(found[0].count, 1000U);
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{1, 1300}));
  EXPECT_TRUE(says(found[0], "All 1000 packets of RoCE data (2 flows) are Not-ECT")) << found[0].explanation;
  maker.send(c, 0, {write_only, 26, not_ect}, 500);
  EXPECT_EQ(maker.look("ecn_off")[0].last_time_ns, 1'800'000);
}

TEST(EcnOffFinding, NearMiss) {
  const Look marked[] = {{write_only, 26, ect0}, {write_only, 26, ce}, {cnp, 48}, {acknowledge, 26, ect0}};
  for (const Look& one : marked) {
    MarkMaker maker;
    maker.send(maker.join(1, 2), 0, {write_only, 26, not_ect}, 2000);
    maker.send(maker.join(1, 2), 1, one);
    EXPECT_TRUE(maker.look("ecn_off").empty());
  }
  MarkMaker v1;  // has no ECN
  Flow& flow = v1.of(v1.join(1, 2), 0);
  flow.key.transport = dissect::Transport::roce_v1;
  v1.send(flow, {write_only, 0, not_ect}, 2000);
  EXPECT_TRUE(v1.look("ecn_off").empty());
  MarkMaker chosen;
  chosen.send(chosen.join(1, 2), 0, {write_only, 26, not_ect}, 2000);
  chosen.snapshot.filter = "roce.ecn == 0";
  EXPECT_TRUE(chosen.look("ecn_off").empty());
  chosen.snapshot.filter.clear();
  EXPECT_EQ(chosen.look("ecn_off").size(), 1U);
  PolicyModel model;  // it was thought of
  model.classes[static_cast<std::size_t>(TrafficClass::data)].emplace().ecn.emplace().add(not_ect);
  chosen.snapshot.policy = std::make_shared<const MarkingPolicy>(std::move(model));
  EXPECT_TRUE(chosen.look("ecn_off").empty());
}

TEST(CnpMarkingFinding, Trigger) {
  MarkMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 26, ect0}, 300);
  maker.send(c, 1, {cnp, 0}, 5);
  maker.send(c, 1, {cnp, 48, ce}, 2);
  const auto found = maker.look("cnp_marking");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(says(found[0], "5 of 7 CNPs (71.4 %) from 10.0.0.2 to 10.0.0.1 are not marked (DSCP 0)"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[1], "2 CNPs from 10.0.0.2 to 10.0.0.1 are marked CE")) << found[1].explanation;
  EXPECT_EQ(found[1].title, "CNPs marked CE");
}

TEST(CnpMarkingFinding, NearMiss) {
  MarkMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {write_only, 26, ect0}, 300);
  maker.send(c, 1, {cnp, 48}, 5);
  EXPECT_TRUE(maker.look("cnp_marking").empty());
  MarkMaker plain;  // nothing is marked: that is another matter
  const Connection& d = plain.join(1, 2);
  plain.send(d, 0, {write_only, 0}, 300);
  plain.send(d, 1, {cnp, 0}, 5);
  EXPECT_TRUE(plain.look("cnp_marking").empty());
}

TEST(PcpWithoutDscpFinding, Trigger) {
  MarkMaker maker;
  maker.send(maker.join(1, 2), 0, {write_only, 0, not_ect, 5}, 80);
  maker.send(maker.join(3, 4), 0, {write_only, 26, not_ect, 0}, 20);
  const auto found = maker.look("pcp_without_dscp");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_TRUE(says(found[0], "DSCP 0, PCP 5 (data): past the first router")) << found[0].explanation;
  EXPECT_TRUE(says(found[1], "DSCP 26, PCP 0 (data): on every switch that trusts the tag"))
      << found[1].explanation;
}

TEST(PcpWithoutDscpFinding, OneDscpWithSeveralPriorities) {
  MarkMaker maker;
  maker.send(maker.join(1, 2), 0, {write_only, 26, not_ect, 3}, 80);
  maker.send(maker.join(1, 5), 0, {write_only, 26, not_ect, 4}, 20);
  maker.send(maker.join(6, 7), 0, {write_only, 26, not_ect, 4}, 20);  // another host, one priority
  const auto found = maker.look("pcp_without_dscp");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_EQ(found[0].subject, "10.0.0.1 > 10.0.0.5");
  EXPECT_EQ(found[0].count, 20U);
  EXPECT_TRUE(
      says(found[0], "for example DSCP 26, PCP 4 (data), while most of its packets with DSCP 26 have PCP 3"))
      << found[0].explanation;
}

TEST(PcpWithoutDscpFinding, APolicyMayWantSeveralPriorities) {
  MarkMaker maker;
  maker.send(maker.join(1, 2), 0, {write_only, 26, not_ect, 3}, 80);
  maker.send(maker.join(1, 5), 0, {write_only, 26, not_ect, 4}, 20);
  PolicyModel model;
  PrioritySet& allowed = model.classes[static_cast<std::size_t>(TrafficClass::data)].emplace().pcp.emplace();
  allowed.add(3);
  allowed.add(4);
  model.trust = Trust::pcp;
  maker.snapshot.policy = std::make_shared<const MarkingPolicy>(std::move(model));
  EXPECT_TRUE(maker.look("pcp_without_dscp").empty());
}

TEST(PcpWithoutDscpFinding, NearMiss) {
  MarkMaker maker;
  maker.send(maker.join(1, 2), 0, {write_only, 26, not_ect, 3}, 80);
  maker.send(maker.join(1, 2), 0, {write_only, 0, not_ect, 0}, 80);
  maker.send(maker.join(1, 2), 0, {write_only, 26}, 80);
  Flow& v1 = maker.of(maker.join(1, 2), 0);
  v1.key.transport = dissect::Transport::roce_v1;
  maker.send(v1, {write_only, 0, not_ect, 3}, 80);
  EXPECT_TRUE(maker.look("pcp_without_dscp").empty());
}

/// Of the connection's CM exchange.
void agree(MarkMaker& maker, Connection& connection, std::uint8_t traffic_class, std::uint8_t sl) {
  CmExchange exchange;
  exchange.traffic_class = traffic_class;
  exchange.sl = sl;
  exchange.req = {1, 1000, 1};
  connection.cm = static_cast<std::uint32_t>(maker.snapshot.exchanges.size());
  maker.snapshot.exchanges.push_back(exchange);
}

TEST(CmTrafficClassFinding, Trigger) {
  MarkMaker maker;
  Connection& c = maker.join(1, 2);
  agree(maker, c, 106, 3);
  maker.send(c, 0, {write_only, 0}, 80);
  maker.send(c, 1, {acknowledge, 26, not_ect, 5}, 20);
  const auto found = maker.look("cm_traffic_class");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].count, 80U);
  EXPECT_TRUE(says(found[0],
                   "the REQ (packet 1) has traffic class 106 (DSCP 26) and SL 3, but data packets go out "
                   "with DSCP 0, untagged"))
      << found[0].explanation;
  EXPECT_EQ(found[1].count, 20U);
  EXPECT_TRUE(says(found[1], "acknowledgements go out with DSCP 26, PCP 5")) << found[1].explanation;
}

TEST(CmTrafficClassFinding, NearMiss) {
  MarkMaker maker;
  Connection& c = maker.join(1, 2);
  agree(maker, c, 106, 3);
  maker.send(c, 0, {write_only, 26, ce, 3}, 80);
  maker.send(c, 1, {acknowledge, 26}, 20);
  maker.send(c, 1, {cnp, 48, not_ect, 6}, 2);  // CNPs are marked by the NIC
  Connection& plain = maker.join(1, 2);
  agree(maker, plain, 0, 0);
  maker.send(plain, 0, {write_only, 0}, 80);
  Connection& unknown = maker.join(1, 2);  // the REQ was not captured
  agree(maker, unknown, 0, 0);
  maker.snapshot.exchanges.back().req = {};
  maker.send(unknown, 0, {write_only, 26}, 80);
  EXPECT_TRUE(maker.look("cm_traffic_class").empty());
}

TEST(UdpSourcePortsFinding, Trigger) {
  MarkMaker maker;
  for (unsigned i = 0; i < 8; ++i) maker.send(maker.join(1, 2), 0, {write_only, 26}, 10);
  maker.send(maker.join(3, 4), 0, {write_only, 26, not_ect, std::nullopt, 0}, 5);
  const auto found = maker.look("udp_source_ports");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_EQ(found[0].count, 80U);
  EXPECT_TRUE(says(found[0],
                   "packets to 8 queue pairs use 1 UDP source port, the busiest port (50000) carries 100 % "
                   "of the bytes"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[1], "port 0: 5 packets")) << found[1].explanation;
}

TEST(UdpSourcePortsFinding, NearMiss) {
  MarkMaker maker;
  for (unsigned i = 0; i < 7; ++i) maker.send(maker.join(1, 2), 0, {write_only, 26}, 10);
  for (unsigned i = 0; i < 8; ++i) {  // three queue pairs a port
    const auto port = static_cast<std::uint16_t>(50'000 + i / 3);
    maker.send(maker.join(3, 4), 0, {write_only, 26, not_ect, std::nullopt, port}, 10);
  }
  for (unsigned i = 0; i < 8; ++i) maker.send(maker.join(5, 6), 1, {acknowledge, 26}, 10);
  EXPECT_TRUE(maker.look("udp_source_ports").empty());
}

}  // namespace
}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// Rules on order, duplicates, sizes, recovery, addresses, and on what sick connections share.
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

TEST(SpuriousRetransmissionFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::spurious, 600);
  OperationStats& operation = c.requester[0].operations.emplace_back();
  for (int i = 0; i < 100; ++i) operation.latency_ns.add(5'000'000);
  const std::vector<Finding> found = maker.run("spurious_retransmission");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(
      says(found[0],
           "600 of 10000 packets (6.0 %) sent by 10.0.0.1 are retransmissions of what had already been "
           "acknowledged"));
  EXPECT_TRUE(says(found[0], "Answers take 5.00 ms.")) << found[0].explanation;
}

TEST(SpuriousRetransmissionFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& needed = maker.connect(1, 2);
  happen(needed.sent[0], Event::retransmitted_timeout, 600);
  EXPECT_TRUE(maker.run("spurious_retransmission").empty());
  Connection& few = maker.connect(3, 4);
  few.packets[0] = 20;
  happen(few.sent[0], Event::spurious, 3);
  EXPECT_EQ(maker.run("spurious_retransmission")[0].severity, Severity::notice);
}

TEST(SlowRecoveryFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[1], Event::nak_sequence_error, 5);
  for (int i = 0; i < 5; ++i) {
    c.requester[0].trouble->nak_generation_ns.add(3'000);
    c.requester[0].trouble->nak_reaction_ns.add(8'000'000);
  }
  Connection& reads = maker.connect(1, 2);
  happen(reads.sent[0], Event::retransmitted_read_retry, 9, 1000);
  for (int i = 0; i < 9; ++i) reads.requester[0].trouble->read_rerequest_ns.add(80'000'000);
  const std::vector<Finding> found = maker.run("slow_recovery");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_TRUE(says(found[0], "From the NAK to the retransmission by 10.0.0.1: ")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "(median of 5)")) << found[0].explanation;
  EXPECT_FALSE(says(found[0], "From a gap")) << found[0].explanation;
  EXPECT_TRUE(says(found[1], "From a missing READ response to the retry by 10.0.0.1: "))
      << found[1].explanation;
}

TEST(SlowRecoveryFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& far = maker.connect(1, 2);  // slow only because the peer is far away
  happen(far.sent[1], Event::nak_sequence_error, 5);
  far.requester[0].fastest_answer_ns = 9'000'000;
  Connection& few = maker.connect(3, 4);
  happen(few.sent[1], Event::nak_sequence_error, 2);
  for (int i = 0; i < 5; ++i) far.requester[0].trouble->nak_reaction_ns.add(10'000'000);
  for (int i = 0; i < 2; ++i) few.requester[0].trouble->nak_reaction_ns.add(10'000'000);
  EXPECT_TRUE(maker.run("slow_recovery").empty());
}

TEST(ZeroCreditsFinding, Trigger) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[1], Event::zero_credits, 40);
  const std::vector<Finding> found = maker.run("zero_credits");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_TRUE(says(found[0], "40 of 10000 acknowledgements (0.4 %) by 10.0.0.2 grant no credit"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "Other WRITEs, READs and atomics are not limited by that."))
      << found[0].explanation;
}

TEST(ZeroCreditsFinding, NearMiss) {
  SnapshotMaker maker;
  maker.connect(1, 2).requester[0].credits_used = true;  // small credits are what they are for
  EXPECT_TRUE(maker.run("zero_credits").empty());
}

TEST(ReorderingFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::out_of_order, 150);
  EXPECT_EQ(maker.run("reordering")[0].severity, Severity::notice);  // borne, but frequent
  happen(c.sent[1], Event::nak_sequence_error, 40);
  happen(c.sent[0], Event::lost_after_capture, 3);
  const Finding for_nothing = maker.run("reordering")[0];
  EXPECT_EQ(for_nothing.severity, Severity::notice);
  EXPECT_TRUE(says(for_nothing, "so it treats late packets as lost, although nothing was retransmitted."))
      << for_nothing.explanation;
  happen(c.sent[0], Event::retransmitted_nak, 40);
  const std::vector<Finding> found = maker.run("reordering");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(says(found[0], "10.0.0.2 does not tolerate it: 40 sequence NAKs for 3 packets lost"))
      << found[0].explanation;
}

TEST(ReorderingFinding, TheFiguresAreOfThoseThatPay) {
  SnapshotMaker maker;
  for (int i = 0; i < 5; ++i) {
    Connection& c = maker.connect(1, 2);
    happen(c.sent[0], Event::out_of_order, 150);
    happen(c.sent[0], Event::lost_after_capture, i == 0 ? 3 : 45);
    happen(c.sent[1], Event::nak_sequence_error, i == 0 ? 40 : 1);
    happen(c.sent[0], Event::retransmitted_nak, 45);
  }
  const std::vector<Finding> found = maker.run("reordering");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(
      says(found[0],
           "10.0.0.2 does not tolerate it in 1 of 5 directions: 40 sequence NAKs for 3 packets lost, so it "
           "treats late packets as lost and causes retransmissions."))
      << found[0].explanation;
  for (unsigned i = 0; i < 5; ++i) {
    Connection& c = maker.connect(1, 3 + i);
    happen(c.sent[0], Event::out_of_order, 150);
    happen(c.sent[1], Event::nak_sequence_error, 40);
    happen(c.sent[0], Event::retransmitted_nak, 40);
  }
  bool several = false;
  for (const Finding& f : maker.run("reordering")) {
    several |= says(f, "the receivers do not tolerate it") &&
               says(f, "so they treat late packets as lost and cause");
  }
  EXPECT_TRUE(several);
}

TEST(ReorderingFinding, LateReadResponsesMakeTheRequesterAskAgain) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  OperationStats& reads = c.requester[0].operations.emplace_back();
  reads.kind = OperationKind::read;
  happen(c.sent[1], Event::out_of_order, 39);
  happen(c.sent[1], Event::retransmitted_read_retry, 800);
  happen(c.sent[1], Event::lost_before_capture, 20);
  reads.retried = 40;  // loss explains them
  EXPECT_EQ(maker.run("reordering")[0].severity, Severity::info);
  reads.retried = 80;
  const std::vector<Finding> found = maker.run("reordering");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(says(found[0], "10.0.0.1 does not tolerate it: 80 READ retries for 20 packets lost"))
      << found[0].explanation;
}

TEST(ReorderingFinding, CostsMessagesOfUc) {
  SnapshotMaker maker;
  happen(maker.connect_half(1, 2, dissect::Service::uc).sent[0], Event::out_of_order, 57);
  const std::vector<Finding> found = maker.run("reordering");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(says(found[0], "A UC receiver does not wait for them and discards their messages"))
      << found[0].explanation;
  EXPECT_FALSE(says(found[0], "nothing to do")) << found[0].advice;
}

TEST(ReorderingFinding, NearMiss) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_after_capture, 40);
  happen(c.sent[1], Event::nak_sequence_error, 40);
  EXPECT_TRUE(maker.run("reordering").empty());
  happen(c.sent[0], Event::out_of_order, 2);  // a few beside real loss: not the cause of the NAKs
  EXPECT_EQ(maker.run("reordering")[0].severity, Severity::info);
}

TEST(DuplicatesNetworkFinding, Trigger) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[1], Event::duplicate_network, 100);
  const std::vector<Finding> found = maker.run("duplicates_network");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].subject, "10.0.0.2 QP 0x000200 > 10.0.0.1 QP 0x000100");
}

TEST(DuplicatesNetworkFinding, SaysWhatReceiversDoWithCopies) {
  for (const auto service : {dissect::Service::rc, dissect::Service::uc}) {
    SnapshotMaker maker;
    happen(maker.connect(1, 2, service).sent[0], Event::duplicate_network, 100);
    const std::vector<Finding> found = maker.run("duplicates_network");
    ASSERT_EQ(found.size(), 1U);
    const bool reliable = service == dissect::Service::rc;
    EXPECT_EQ(says(found[0], "acknowledged again"), reliable) << found[0].explanation;
    EXPECT_EQ(says(found[0], "Over UC the receiver does not recognise them"), !reliable)
        << found[0].explanation;
  }
}

TEST(DuplicatesNetworkFinding, NearMiss) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[1], Event::duplicate_capture, 10'000);  // a mirror that sees both ports
  EXPECT_TRUE(maker.run("duplicates_network").empty());
}

TEST(PathMtuFinding, Trigger) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[0], Event::wrong_length, 7);
  const std::vector<Finding> found = maker.run("path_mtu");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_TRUE(says(found[0], "must carry exactly the path MTU (1024 bytes, the largest seen)"))
      << found[0].explanation;
  EXPECT_EQ(found[0].title, "payload sizes differ from the path MTU");
  EXPECT_TRUE(says(found[0], "10.0.0.2 accepted them: no NAK came and nothing was retransmitted."))
      << found[0].explanation;
}

TEST(PathMtuFinding, SaysWhatBecameOfThem) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  c.pmtu_by_cm = true;
  happen(c.sent[0], Event::wrong_length, 7);
  happen(c.sent[0], Event::retransmitted_timeout, 3);
  std::vector<Finding> found = maker.run("path_mtu");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(says(found[0], "the path MTU (1024 bytes, from the CM)")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "A responder refuses such packets (NAK invalid request) or drops them."))
      << found[0].explanation;
  happen(c.sent[1], Event::nak_invalid_request, 1);
  found = maker.run("path_mtu");
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(says(found[0], "1 NAK (invalid request) was sent by 10.0.0.2.")) << found[0].explanation;
  SnapshotMaker one_way;  // nobody saw what the responder said
  happen(one_way.connect_half(1, 2).sent[0], Event::wrong_length, 7);
  found = one_way.run("path_mtu");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "A responder refuses such packets")) << found[0].explanation;
}

TEST(PathMtuFinding, ASmallOneAmongLargerOnes) {
  SnapshotMaker maker;
  maker.connect(1, 2).pmtu = 4096;
  maker.connect(2, 1).pmtu = 1024;
  maker.connect(3, 4).pmtu = 256;
  const std::vector<Finding> found = maker.run("path_mtu");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].severity, Severity::info);
  EXPECT_EQ(found[0].title, "small path MTU");
  EXPECT_TRUE(
      says(found[0],
           "Path MTU 1024 bytes, 4096 on other connections of these hosts: 7.4 % of the bytes on the wire"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[1], "Path MTU 256 bytes: 24.3 %")) << found[1].explanation;
}

TEST(PathMtuFinding, ManySmallOnesAreOneFinding) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 100; ++i) maker.connect(i % 9, 10 + i % 7).pmtu = 256;
  const std::vector<Finding> found = maker.run("path_mtu");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 100U);
}

TEST(PathMtuFinding, NearMiss) {
  SnapshotMaker maker;
  maker.connect(1, 2);
  maker.connect(1, 3).pmtu = 4096;  // other hosts, another path
  maker.connect(1, 2).pmtu = 0;     // short messages only: unknown
  EXPECT_TRUE(maker.run("path_mtu").empty());
}

TEST(IpFragmentsFinding, Trigger) {
  SnapshotMaker maker;
  maker.connect(1, 2);
  maker.snapshot.flows[0].clear_df = 10'000;
  maker.snapshot.totals.roce_packets = 20'000;
  maker.snapshot.totals.diagnostics.add(DiagnosticId::fragment, 40);
  maker.snapshot.totals.fragments = {7, 8, 9};
  const std::vector<Finding> found = maker.run("ip_fragments");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{7, 8, 9}));
  EXPECT_TRUE(
      says(found[0],
           "10000 of 20000 RoCE packets (50.0 %) can be fragmented (DF clear), most of them from 10.0.0.1 to "
           "10.0.0.2."))
      << found[0].explanation;
}

TEST(IpFragmentsFinding, NearMiss) {
  SnapshotMaker maker;
  maker.connect(1, 2);
  maker.snapshot.flows[0].clear_df = 10'000;  // could be cut, but was not
  EXPECT_TRUE(maker.run("ip_fragments").empty());
  maker.snapshot.flows[0].clear_df = 0;  // fragments of something else
  maker.snapshot.totals.diagnostics.add(DiagnosticId::fragment, 40);
  maker.snapshot.totals.fragments = {7, 8, 9};
  EXPECT_EQ(maker.run("ip_fragments")[0].severity, Severity::notice);
}

TEST(IllegalSequenceFinding, Trigger) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::illegal_sequence, 7);
  EXPECT_EQ(maker.run("illegal_sequence")[0].severity, Severity::warning);
  happen(c.sent[0], Event::icrc_mismatch, 7);
  EXPECT_DOUBLE_EQ(maker.run("illegal_sequence")[0].confidence, 0.5);
}

TEST(IllegalSequenceFinding, OneIsANoticeUnlessItIsRefused) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::illegal_sequence, 1);
  EXPECT_EQ(maker.run("illegal_sequence")[0].severity, Severity::notice);
  happen(c.sent[1], Event::nak_invalid_request, 1);
  EXPECT_EQ(maker.run("illegal_sequence")[0].severity, Severity::warning);
}

TEST(IllegalSequenceFinding, NearMiss) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[0], Event::gap, 7);  // what follows a hole is no sequence
  EXPECT_TRUE(maker.run("illegal_sequence").empty());
}

TEST(MsnBackwardsFinding, Trigger) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[1], Event::msn_backwards, 7);
  const std::vector<Finding> found = maker.run("msn_backwards");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "7 of 10000 answers (<0.1 %) by 10.0.0.2 carry a lower"))
      << found[0].explanation;
}

TEST(MsnBackwardsFinding, NearMiss) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[1], Event::out_of_order, 7);
  EXPECT_TRUE(maker.run("msn_backwards").empty());
}

TEST(SourceMacChangedFinding, Trigger) {
  SnapshotMaker maker;
  happen(maker.connect(1, 2).sent[0], Event::mac_changed, 1);
  happen(maker.connect(3, 4).sent[0], Event::mac_changed, 900, 5000);
  const std::vector<Finding> found = maker.run("source_mac_changed");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_TRUE(says(found[0], "changed their source MAC address once. A bond or LAG failed over"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[1], "expect reordering")) << found[1].explanation;
}

TEST(SourceMacChangedFinding, NearMiss) {
  SnapshotMaker maker;
  maker.connect(1, 2);
  maker.connect(1, 2);
  maker.snapshot.flows[2].source_mac =
      0x020000000077;  // two queue pairs over two ports, each stays where it is
  EXPECT_TRUE(maker.run("source_mac_changed").empty());
}

dissect::IpAddress link_local(unsigned n) {
  std::uint8_t bytes[16] = {0xfe, 0x80, 0, 0,    0,    0, 0, 0,
                            0,    0,    0, 0xff, 0xfe, 0, 0, static_cast<std::uint8_t>(n)};
  return dissect::IpAddress::v6(bytes);
}

TEST(VersionMixFinding, Trigger) {
  SnapshotMaker maker;
  maker.connect(1, 2);  // v2, MACs 02:00:00:00:00:01 and :02
  maker.flow(1, 2, 1, dissect::Service::ud);
  Flow& v1 = maker.snapshot.flows.back();
  v1.key.transport = dissect::Transport::roce_v1;
  v1.packets = 30;
  maker.snapshot.totals.by_transport[static_cast<std::size_t>(dissect::Transport::roce_v1)] = 30;
  std::vector<Finding> found = maker.run("version_mix");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 30U);
  EXPECT_TRUE(
      says(found[0], "10.0.0.1 and 10.0.0.2 exchange RoCE v1 (30 packets) and RoCE v2 (20000 packets)"));
  v1.key.src = link_local(1);  // the same ports by their MACs, which these GIDs are made of
  v1.key.dst = link_local(2);
  found = maker.run("version_mix");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].packets, std::vector<std::uint64_t>{1});
}

TEST(VersionMixFinding, NearMiss) {
  SnapshotMaker maker;
  maker.connect(1, 2);
  maker.connect(3, 4);
  for (Flow& flow : maker.snapshot.flows) {
    if (flow.key.src == host(3) || flow.key.src == host(4)) flow.key.transport = dissect::Transport::roce_v1;
  }
  maker.flow(1, 3, 1, dissect::Service::ud);  // one host may use both, with different peers
  maker.snapshot.totals.by_transport[static_cast<std::size_t>(dissect::Transport::roce_v1)] = 30;
  EXPECT_TRUE(maker.run("version_mix").empty());
}

void make_sick(Connection& c, unsigned side = 0) {
  happen(c.sent[side], Event::lost_after_capture, 50, 1000 + c.id);
}

TEST(SickHostFinding, Trigger) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 40; ++i) make_sick(maker.connect(10 + i % 8, 2));
  for (unsigned i = 0; i < 10; ++i) maker.connect(10 + i % 8, 3);
  make_sick(maker.connect(10, 3));
  const std::vector<Finding> found = maker.run("sick_host");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "10.0.0.2");
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 40U);
  EXPECT_TRUE(says(found[0],
                   "40 of 41 degraded connections have one end at 10.0.0.2, with 8 different peers: 2000 "
                   "packets lost on the way to 10.0.0.2. 40 of the 40 connections of 10.0.0.2 are degraded, "
                   "of the 11 others 1: the cause is that host, its NIC or its link."))
      << found[0].explanation;
  EXPECT_GT(found[0].confidence, 0.8);
  EXPECT_TRUE(maker.run("sick_link").empty());
  // And the losses are not told forty times.
  EXPECT_EQ(maker.run("loss_after_capture").size(), 2U);
}

TEST(SickHostFinding, NearMiss) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 40; ++i) make_sick(maker.connect(10 + i % 8, 20 + i % 5));  // everybody
  EXPECT_TRUE(maker.run("sick_host").empty());
  SnapshotMaker busy;  // a server with much traffic, of which little is sick
  for (unsigned i = 0; i < 100; ++i) {
    Connection& c = busy.connect(10 + i % 8, 2);
    if (i % 10 == 0) make_sick(c);
  }
  EXPECT_TRUE(busy.run("sick_host").empty());
  SnapshotMaker normal;  // one lost packet, one timeout: no sickness
  for (unsigned i = 0; i < 40; ++i) {
    Connection& c = normal.connect(10 + i % 8, 2);
    happen(c.sent[0], Event::lost_after_capture, 1);
    happen(c.sent[0], Event::retransmitted_timeout, 2);
  }
  EXPECT_TRUE(normal.run("sick_host").empty());
}

TEST(SickLinkFinding, Trigger) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 30; ++i) make_sick(maker.connect(1, 2), i % 2);
  for (unsigned i = 0; i < 20; ++i) maker.connect(1 + i % 2, 10 + i);
  const std::vector<Finding> found = maker.run("sick_link");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "10.0.0.1 - 10.0.0.2");
  EXPECT_TRUE(says(
      found[0],
      "30 of 30 connections between 10.0.0.1 and 10.0.0.2 are degraded: 750 packets lost on the way to "
      "10.0.0.2, 750 packets lost on the way from 10.0.0.2. Of the 20 other connections of these hosts 0 are "
      "degraded"))
      << found[0].explanation;
  EXPECT_TRUE(maker.run("sick_host").empty());
}

TEST(SickLinkFinding, NearMiss) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 4; ++i) make_sick(maker.connect(1, 2));  // few are told one by one
  EXPECT_TRUE(maker.run("sick_link").empty());
  SnapshotMaker everywhere;
  for (unsigned i = 0; i < 60; ++i) make_sick(everywhere.connect(1 + i % 3, 2 + i % 3));
  EXPECT_TRUE(everywhere.run("sick_link").empty());
  SnapshotMaker artefact;  // the capture sees no right ICRC from one host
  for (unsigned i = 0; i < 20; ++i) {
    Connection& c = artefact.connect(1, 2);
    c.packets[0] = 10;
    happen(c.sent[0], Event::icrc_mismatch, 10);
  }
  EXPECT_TRUE(artefact.run("sick_link").empty());
}

TEST(SickLinkFinding, DeadConnectionsMakeItAnError) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 6; ++i) {
    Connection& c = maker.connect(1, 2);
    c.requester[0].retries_exhausted = true;
    c.requester[0].trouble->worst_chain.resends = 7;
    happen(c.sent[0], Event::retransmitted_timeout, 7);
    happen(c.sent[0], Event::retries_exhausted, 1);
  }
  const std::vector<Finding> found = maker.run("sick_link");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::error);
  EXPECT_DOUBLE_EQ(found[0].confidence, 0.5);
  EXPECT_TRUE(says(found[0],
                   "42 packets retransmitted without an answer from 10.0.0.2. Neither host has other "
                   "connections"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "6 connections failed because of it.")) << found[0].explanation;
}

}  // namespace
}  // namespace roce::analyze

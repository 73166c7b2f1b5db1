// SPDX-License-Identifier: Apache-2.0
// Findings about a policy: what triggers each, and what comes close without being one.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "analyze/policy/learn_policy.hpp"
#include "analyze/policy/violations.hpp"
#include "dissect/opcode.hpp"
#include "tests/analyze/findings/findings_support.hpp"
#include "tests/analyze/policy/policy_support.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint8_t write_only = 0x0a, acknowledge = 0x11;

/// Packets of a flow that are marked alike.
struct Sent {
  std::uint8_t opcode = write_only;
  std::uint8_t dscp = 26, ecn = 2, ttl = 64;
  int pcp = -1, vlan = -1;  ///< -1: untagged
  std::uint16_t p_key = 0xffff;
  unsigned packets = 10;
};

/// A capture of flows that a policy judges.
class PolicyCapture {
 public:
  /// A flow from host a to host b of these packets.
  void flow(unsigned a, unsigned b, const std::vector<Sent>& sent,
            dissect::Transport transport = dissect::Transport::roce_v2_ipv4) {
    const std::uint64_t id = maker.flow(a, b, 0x11, dissect::Service::rc);
    Flow& flow = maker.snapshot.flows[id];
    flow.packets = 0;
    flow.key.transport = transport;
    for (const Sent& each : sent) {
      PacketRecord r;
      r.key = flow.key;
      r.flags = PacketRecord::valid | PacketRecord::selected;
      r.opcode = each.opcode;
      r.traffic_class = static_cast<std::uint8_t>(each.dscp << 2U | each.ecn);
      r.ttl = each.ttl;
      r.p_key = each.p_key;
      if (each.vlan >= 0) {
        r.flags |= PacketRecord::tagged;
        r.tag = static_cast<std::uint16_t>(each.pcp << 13 | each.vlan);
      }
      for (unsigned i = 0; i < each.packets; ++i) {
        r.time_ns = static_cast<std::int64_t>(++number_ * 1000);
        flow.count(r, number_);
      }
    }
    flow.settle();
  }

  std::vector<Finding> run(std::string_view id, std::string_view policy) {
    Snapshot& s = maker.snapshot;
    s.policy = std::make_shared<MarkingPolicy>(policy_of(policy));
    s.markings = MarkingMatrix::of(s.flows);
    s.violations = find_violations(*s.policy, s.flows, s.markings);
    return maker.run(id);
  }

  SnapshotMaker maker;

 private:
  std::uint64_t number_ = 0;
};

Sent marked(std::uint8_t dscp, unsigned packets = 10) {
  Sent sent;
  sent.dscp = dscp;
  sent.packets = packets;
  return sent;
}

Sent tagged(int pcp, int vlan, std::uint8_t dscp = 26) {
  Sent sent = marked(dscp);
  sent.pcp = pcp;
  sent.vlan = vlan;
  return sent;
}

TEST(PolicyDscpFinding, Trigger) {
  PolicyCapture capture;
  capture.flow(1, 2, {marked(26), marked(0, 3), marked(24, 2)});  // packets 11-13 and 14-15 are wrong
  capture.flow(1, 3, {marked(0, 4)});                             // 16-19
  const auto found = capture.run("policy_dscp", "[class.data]\ndscp = 26\necn = [\"ect0\", \"ce\"]");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 9U);
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{11, 14, 16}));
  EXPECT_EQ(found[0].first_time_ns, 11'000);
  EXPECT_EQ(found[0].last_time_ns, 10 * test_second);  // when their flows end
  EXPECT_EQ(found[0].subject, "10.0.0.1 (2 flows)");
  EXPECT_EQ(
      found[0].sentence,
      "10.0.0.1 → several hosts: 9 data packets of 2 flows show DSCP 0 (7), DSCP 24 (2), expected DSCP 26 "
      "(class.data.dscp)");
  EXPECT_TRUE(says(found[0], "class.data.dscp")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "9 packets of 2 flows show DSCP 0 (7), DSCP 24 (2), expected DSCP 26"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "echo 106 > /sys/class/infiniband/DEV/tc/PORT/traffic_class"))
      << found[0].advice;
  EXPECT_TRUE(says(found[0], "-Y 'roce.marking.violation == \"class.data.dscp\"'")) << found[0].advice;
}

TEST(PolicyDscpFinding, NearMiss) {
  PolicyCapture capture;
  Sent ack = marked(0);
  ack.opcode = acknowledge;
  capture.flow(1, 2, {marked(26), marked(24), ack});  // nothing is asked of acknowledgements
  EXPECT_TRUE(capture.run("policy_dscp", "[class.data]\ndscp = [24, 26]").empty());
  capture.maker.snapshot.policy.reset();
  EXPECT_TRUE(capture.maker.run("policy_dscp").empty());
}

TEST(PolicyDscpFinding, OneForEachRule) {
  PolicyCapture capture;
  Sent ack = marked(0, 3), cnp = marked(26, 2);
  ack.opcode = acknowledge;
  cnp.opcode = dissect::opcode_cnp;
  capture.flow(1, 2, {marked(8), ack, cnp});
  const auto found =
      capture.run("policy_dscp", "[class.data]\ndscp = 26\n[class.ack]\ndscp = 26\n[class.cnp]\ndscp = 48\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_TRUE(says(found[0], "class.data.dscp"));
  EXPECT_TRUE(says(found[1], "class.ack.dscp"));
  EXPECT_TRUE(says(found[2], "class.cnp.dscp"));
  EXPECT_TRUE(says(found[2], "echo 48 > /sys/class/net/NETDEV/ecn/roce_np/cnp_dscp")) << found[2].advice;
}

TEST(PolicyEcnFinding, Trigger) {
  PolicyCapture capture;
  Sent not_ect = marked(26), ce_ack = marked(26, 5);
  not_ect.ecn = 0;
  ce_ack.opcode = acknowledge;
  ce_ack.ecn = 3;
  capture.flow(1, 2, {not_ect, ce_ack});
  const auto found = capture.run("policy_ecn",
                                 "[class.data]\ndscp = 26\necn = [\"ect0\", \"ce\"]\n[class.ack]\necn = "
                                 "[\"not_ect\", \"ect0\"]");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(says(found[0], "show ECN Not-ECT, expected ECN ECT(0) or CE")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "echo 1 > /sys/class/net/NETDEV/ecn/roce_rp/enable/3")) << found[0].advice;
  EXPECT_TRUE(says(found[0], "echo 106 >")) << found[0].advice;
  EXPECT_EQ(found[1].count, 5U);
  EXPECT_TRUE(says(found[1], "A switch on the path marks them")) << found[1].advice;
}

TEST(PolicyEcnFinding, NearMiss) {
  PolicyCapture capture;
  Sent ce = marked(26, 3);
  ce.ecn = 3;
  capture.flow(1, 2, {marked(26), ce, marked(26)});
  EXPECT_TRUE(capture.run("policy_ecn", "[class.data]\necn = [\"ect0\", \"ce\"]").empty());
}

TEST(PolicyPcpFinding, Trigger) {
  PolicyCapture capture;
  capture.flow(1, 2, {tagged(3, 100), tagged(5, 100)});
  const auto found = capture.run("policy_pcp", "[class.data]\npcp = 3");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 10U);
  EXPECT_EQ(found[0].packets, std::vector<std::uint64_t>{11});
  EXPECT_TRUE(says(found[0], "PCP 5, expected PCP 3")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "vlan egress 3:3")) << found[0].advice;
  const auto by_tos = capture.run("policy_pcp", "[checks]\npcp_from_tos = true");
  ASSERT_EQ(by_tos.size(), 1U);
  EXPECT_TRUE(says(by_tos[0], "checks.pcp_from_tos")) << by_tos[0].explanation;
}

TEST(PolicyPcpFinding, AdviceKeepsTheDscp) {
  constexpr std::string_view nvidia = "[class.data]\ndscp = 26\npcp = 3\necn = [\"ect0\", \"ce\"]";
  PolicyCapture right;
  right.flow(1, 2, {tagged(5, 100)});
  const auto found = right.run("policy_pcp", nvidia);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "by a ToS of 106 (cma_roce_tos -d DEV -t 106")) << found[0].advice;
  PolicyCapture wrong;  // the DSCP of the policy, not of the packets
  wrong.flow(1, 2, {tagged(5, 100, 40)});
  const auto both = wrong.run("policy_pcp", nvidia);
  ASSERT_EQ(both.size(), 1U);
  EXPECT_TRUE(says(both[0], "by a ToS of 106")) << both[0].advice;
  const auto none = wrong.run("policy_pcp", "[class.data]\ndscp = 40\npcp = 3");
  ASSERT_EQ(none.size(), 1U);
  EXPECT_TRUE(says(none[0], "and no DSCP of the policy yields that")) << none[0].advice;
}

TEST(MarkingFindings, WhatThePolicyWantsIsOnlyInformation) {
  const Sent ack{acknowledge, 0, 0};
  constexpr std::string_view meant = "[class.data]\ndscp = 26\n[class.ack]\ndscp = 0";
  const auto capture = [&] {
    PolicyCapture made;
    Connection& c = made.maker.connect(1, 2);
    c.flow[0] = made.maker.snapshot.flows.size();
    made.flow(1, 2, {tagged(3, 100), tagged(4, 100)});
    c.flow[1] = made.maker.snapshot.flows.size();
    made.flow(2, 1, {ack});
    return made;
  };
  for (const auto& [policy, severity] :
       {std::pair{meant, Severity::info},
        std::pair{std::string_view("[class.data]\ndscp = 26"), Severity::warning},
        std::pair{std::string_view("[class.data]\nttl = 64\n[class.ack]\nttl = 64"), Severity::warning}}) {
    PolicyCapture made = capture();
    const auto found = made.run("marking_directions", policy);
    ASSERT_EQ(found.size(), 1U) << policy;
    EXPECT_EQ(found[0].severity, severity) << policy;
  }
  PolicyCapture tags = capture();
  const auto either = tags.run("marking_changes", "[class.data]\npcp = [3, 4]");
  ASSERT_EQ(either.size(), 1U);
  EXPECT_EQ(either[0].severity, Severity::info);
  PolicyCapture one = capture();
  const auto wrong = one.run("marking_changes", "[class.data]\npcp = 3");
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].severity, Severity::warning);
}

TEST(PolicyPcpFinding, NearMiss) {
  PolicyCapture capture;
  capture.flow(1, 2, {tagged(3, 100), marked(26)});
  EXPECT_TRUE(capture.run("policy_pcp", "[class.data]\npcp = 3\n[checks]\npcp_from_tos = true").empty());
}

TEST(PolicyPriorityFinding, Trigger) {
  PolicyCapture capture;
  capture.flow(1, 2, {marked(8)});
  const auto found = capture.run("policy_priority", "lossless = 3\n[class.data]\nlossless = true");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "priority 1 (of DSCP 8), expected a priority that is lossless (3)"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "--dscp2prio set,8,3")) << found[0].advice;
  EXPECT_TRUE(says(found[0], "--pfc 0,0,0,1,0,0,0,0")) << found[0].advice;
}

TEST(PolicyPriorityFinding, NearMiss) {
  PolicyCapture capture;
  capture.flow(1, 2, {marked(26)});
  const char* policy = "lossless = 3\n[class.data]\nlossless = true\npriority = 3";
  EXPECT_TRUE(capture.run("policy_priority", policy).empty());
  // A wrong DSCP leads to a wrong priority: that is told once, as the DSCP.
  PolicyCapture other;
  other.flow(1, 2, {marked(8)});
  EXPECT_TRUE(other.run("policy_priority", std::string(policy) + "\ndscp = 26").empty());
}

TEST(PolicyVlanFinding, Trigger) {
  PolicyCapture capture;
  capture.flow(1, 2, {tagged(3, 100), marked(26, 4)});
  const auto found = capture.run("policy_vlan", "[class.data]\nvlan = \"required\"");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 4U);
  EXPECT_TRUE(says(found[0], "show no VLAN tag, expected a VLAN tag")) << found[0].explanation;
  const auto other = capture.run("policy_vlan", "[class.data]\nvlan = \"forbidden\"");
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other[0].count, 10U);
}

TEST(PolicyVlanFinding, NearMiss) {
  PolicyCapture capture;
  capture.flow(1, 2, {tagged(3, 100), tagged(3, 0)});
  EXPECT_TRUE(capture.run("policy_vlan", "[class.data]\nvlan = \"required\"").empty());
  EXPECT_TRUE(capture.run("policy_vlan", "[class.data]\nvlan = [0, 100]").empty());
}

TEST(PolicyTtlFinding, Trigger) {
  PolicyCapture capture;
  Sent far = marked(26);
  far.ttl = 59;
  capture.flow(1, 2, {marked(26), far});
  const auto found = capture.run("policy_ttl", "[class.data]\nttl = \"60-64\"");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "TTL 59, expected TTL 60-64")) << found[0].explanation;
}

TEST(PolicyTtlFinding, NearMiss) {
  PolicyCapture capture;
  Sent far = marked(26);
  far.ttl = 60;
  capture.flow(1, 2, {marked(26), far});
  EXPECT_TRUE(capture.run("policy_ttl", "[class.data]\nttl = \"60-64\"").empty());
}

TEST(PolicyAddressFinding, Trigger) {
  PolicyCapture capture;
  capture.flow(1, 2, {marked(26)});
  capture.flow(1, 9, {marked(26)});
  capture.flow(9, 1, {marked(26)});
  const auto found = capture.run("policy_address", "[allow]\naddresses = [\"10.0.0.1\", \"10.0.0.2\"]");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::error);
  EXPECT_EQ(found[0].count, 20U);
  EXPECT_TRUE(says(found[0], "10.0.0.9 (destination) (10), 10.0.0.9 (source) (10)")) << found[0].explanation;
}

TEST(PolicyAddressFinding, NearMiss) {
  PolicyCapture capture;
  capture.flow(1, 2, {marked(26)});
  EXPECT_TRUE(capture.run("policy_address", "[allow]\naddresses = \"10.0.0.0/30\"").empty());
}

TEST(PolicyPkeyFinding, Trigger) {
  PolicyCapture capture;
  Sent tenant = marked(26);
  tenant.p_key = 0x8002;
  capture.flow(1, 2, {marked(26), tenant});
  const auto found = capture.run("policy_pkey", "[allow]\np_keys = 0xffff");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "P_Key 0x8002")) << found[0].explanation;
}

TEST(PolicyPkeyFinding, NearMiss) {
  PolicyCapture capture;
  Sent limited = marked(26);
  limited.p_key = 0x7fff;
  capture.flow(1, 2, {marked(26), limited});
  EXPECT_TRUE(capture.run("policy_pkey", "[allow]\np_keys = 0xffff").empty());
}

TEST(PolicyVersionFinding, Trigger) {
  PolicyCapture capture;
  capture.flow(1, 2, {marked(0)}, dissect::Transport::roce_v1);
  const auto found = capture.run("policy_version", "roce_version = \"v2\"");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "RoCE v1, expected RoCE v2")) << found[0].explanation;
}

TEST(PolicyVersionFinding, NearMiss) {
  PolicyCapture capture;
  capture.flow(1, 2, {marked(0)}, dissect::Transport::roce_v1);
  capture.flow(1, 2, {marked(0)}, dissect::Transport::native_ib);
  EXPECT_TRUE(capture.run("policy_version", "roce_version = [\"v1\", \"v2\"]").empty());
}

TEST(PolicyMatrix, SaysWhatIsExpectedAndWhetherItIs) {
  PolicyCapture capture;
  Sent ack = marked(26);
  ack.opcode = acknowledge;
  capture.flow(1, 2, {marked(26), marked(0, 1), ack});
  (void)capture.run("policy_dscp", "[class.data]\ndscp = 26\necn = [\"ect0\", \"ce\"]");
  const std::vector<Marking>& rows = capture.maker.snapshot.markings.rows;
  ASSERT_EQ(rows.size(), 3U);  // data DSCP 0, data DSCP 26, ack
  EXPECT_EQ(rows[0].verdict, "violation");
  EXPECT_EQ(rows[0].expected, "DSCP 26, ECN ECT(0) or CE");
  EXPECT_EQ(rows[1].verdict, "ok");
  EXPECT_EQ(rows[1].expected, "DSCP 26, ECN ECT(0) or CE");
  EXPECT_EQ(rows[2].verdict, "");
  EXPECT_EQ(rows[2].expected, "");
}

TEST(PolicyMatrix, ACellOfBothIsAViolation) {
  PolicyCapture capture;
  Sent other_vlan = tagged(3, 200);
  capture.flow(1, 2, {tagged(3, 100), other_vlan});  // the matrix does not tell VLANs apart
  (void)capture.run("policy_vlan", "[class.data]\nvlan = 100");
  const std::vector<Marking>& rows = capture.maker.snapshot.markings.rows;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].verdict, "violation");
  EXPECT_EQ(rows[0].expected, "VLAN 100");
}

TEST(PolicyViolations, NameFewAndCountAll) {
  PolicyCapture capture;
  for (unsigned i = 0; i < 300; ++i) {
    Sent wrong = marked(static_cast<std::uint8_t>(i % 20), 2);
    capture.flow(1 + i % 200, 500, {wrong});
  }
  const auto found = capture.run("policy_dscp", "[class.data]\ndscp = 26");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 600U);
  const RuleViolation& violation = capture.maker.snapshot.violations.front();
  EXPECT_EQ(violation.flow_count, 300U);
  EXPECT_EQ(violation.flows.size(), RuleViolation::named);
  EXPECT_EQ(violation.found.size(), RuleViolation::named);
  EXPECT_EQ(violation.found_otherwise, (20U - RuleViolation::named) * 30U);
  EXPECT_EQ(violation.first_packets.size(), RuleViolation::named);
}

TEST(LearnPolicy, AllowsWhatWasSeenAndNothingElse) {
  PolicyCapture capture;
  Sent ack = marked(26, 5), cnp = tagged(6, 100, 48);
  ack.opcode = acknowledge;
  ack.ecn = 0;
  cnp.opcode = dissect::opcode_cnp;
  cnp.ecn = 0;
  capture.flow(1, 2, {tagged(3, 100), tagged(3, 100, 24), ack, cnp});
  const std::string text = learned_from(capture.maker.snapshot);
  EXPECT_EQ(text, learned_from(capture.maker.snapshot));
  EXPECT_NE(text.find("# DSCP 24: 10, 26: 10\n"), std::string::npos) << text;
  for (const FindingRule& rule : finding_rules()) {
    if (rule.id.starts_with("policy_")) {
      EXPECT_TRUE(capture.run(rule.id, text).empty()) << rule.id << '\n' << text;
    }
  }
  EXPECT_EQ(policy_of(text).model().classes[0]->ecn,
            policy_of("[class.data]\necn=[\"ect0\",\"ce\"]").model().classes[0]->ecn);
  // Each mark that was not seen is found.
  const std::pair<const char*, Sent> others[] = {
      {"policy_dscp", tagged(3, 100, 10)}, {"policy_pcp", tagged(4, 100)}, {"policy_vlan", tagged(3, 101)}};
  for (const auto& [id, sent] : others) {
    PolicyCapture other;
    other.flow(1, 2, {sent});
    EXPECT_EQ(other.run(id, text).size(), 1U) << id;
  }
  PolicyCapture stranger;
  stranger.flow(1, 3, {tagged(3, 100)});
  EXPECT_EQ(stranger.run("policy_address", text).size(), 1U);
}

}  // namespace
}  // namespace roce::analyze

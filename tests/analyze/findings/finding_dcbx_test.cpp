// SPDX-License-Identifier: Apache-2.0
// Rules on DCBX, each with a capture written out as bytes that triggers it and a near miss.
#include "tests/analyze/link/link_packets.hpp"

namespace roce::analyze {
namespace {

TEST(DcbxMismatchFinding, TriggerNeitherWilling) {
  Link link;
  link.at(0, lldp(host_mac, ieee_pfc(false, 0x10))).at(ms, lldp(switch_mac, ieee_pfc(false, 0x08)));
  const auto found = link.run("dcbx_mismatch");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_TRUE(says(found[0],
                   "PFC priorities are 4 at 02:00:00:00:00:01 and 3 at 02:00:00:00:00:f1, and neither is "
                   "willing"))
      << found[0].explanation;
}

TEST(DcbxMismatchFinding, TriggerWillingButUnmoved) {
  Link link;
  link.at(0, lldp(switch_mac, ieee_pfc(false, 0x08))).at(ms, lldp(host_mac, ieee_pfc(true, 0)));
  const auto found = link.run("dcbx_mismatch");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "02:00:00:00:00:01 is willing and should have adopted the other's"))
      << found[0].explanation;
}

TEST(DcbxMismatchFinding, TriggerOneEndSilent) {
  Link link;
  link.at(0, lldp(switch_mac, ieee_pfc(false, 0x08))).at(ms, lldp(host_mac, ""));
  const auto found = link.run("dcbx_mismatch");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
}

TEST(DcbxMismatchFinding, TriggerRocePriority) {
  Link link;
  link.at(0, lldp(switch_mac, ieee_pfc(false, 0x08) + ieee_application(3, 3, 4791)));
  link.at(ms, lldp(host_mac, ieee_pfc(false, 0x08) + ieee_application(5, 4, 4791)));
  const auto found = link.run("dcbx_mismatch");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "RoCE is mapped to priority 3 at 02:00:00:00:00:f1 and priority 5"))
      << found[0].explanation;
}

TEST(DcbxMismatchFinding, NearMiss) {
  Link same;
  same.at(0, lldp(switch_mac, ieee_pfc(false, 0x08))).at(ms, lldp(host_mac, ieee_pfc(true, 0x08)));
  EXPECT_TRUE(same.run("dcbx_mismatch").empty());
  Link moved;  // it takes over what it hears
  moved.at(0, lldp(host_mac, ieee_pfc(true, 0))).at(ms, lldp(switch_mac, ieee_pfc(false, 0x08)));
  EXPECT_TRUE(moved.run("dcbx_mismatch").empty());
  Link three;  // whose ends are whose?
  three.at(0, lldp(host_mac, ieee_pfc(false, 0x10))).at(ms, lldp(switch_mac, ieee_pfc(false, 0x08)));
  three.at(2 * ms, lldp("0200000000aa", ieee_pfc(false, 0x08)));
  EXPECT_TRUE(three.run("dcbx_mismatch").empty());
  Link no_dcbx;
  no_dcbx.at(0, lldp(host_mac, "")).at(ms, lldp(switch_mac, ""));
  EXPECT_TRUE(no_dcbx.run("dcbx_mismatch").empty());
}

// What is said to be set is what they announce, not nothing.
TEST(DcbxMismatchFinding, TheCommandNamesWhatIsAnnounced) {
  Link silent;
  silent.at(0, lldp(switch_mac, ieee_pfc(false, 0x08))).at(ms, lldp(host_mac, ""));
  const auto found = silent.run("dcbx_mismatch");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].advice.find("--pfc 0,0,0,1,0,0,0,0"), std::string::npos) << found[0].advice;
  Link priorities;
  priorities.at(0, lldp(switch_mac, ieee_application(3, 3, 4791)));
  priorities.at(ms, lldp(host_mac, ieee_application(5, 3, 4791)));
  const auto applications = priorities.run("dcbx_mismatch");
  ASSERT_EQ(applications.size(), 1U);
  EXPECT_NE(applications[0].advice.find("--pfc 0,0,0,1,0,1,0,0"), std::string::npos)
      << applications[0].advice;
}

/// The host's MAC address with an agent that calls its port otherwise.
std::vector<std::uint8_t> other_agent(const std::string& tlvs, unsigned ttl = 120) {
  return padded("0180c200000e" + host_mac + "88cc" + "020704" + host_mac + "0405 05 66773030" + "0602" +
                hex_of(ttl, 4) + tlvs + "0000");
}

TEST(DcbxMismatchFinding, AnAgentThatAnnouncesNothingHidesNoLink) {
  Link link;
  link.at(0, lldp(host_mac, ieee_pfc(false, 0x10))).at(ms, other_agent(""));
  link.at(2 * ms, lldp(switch_mac, ieee_pfc(false, 0x08))).at(3 * ms, other_agent(""));
  const auto found = link.run("dcbx_mismatch");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "PFC priorities are 4 at 02:00:00:00:00:01 and 3 at 02:00:00:00:00:f1"))
      << found[0].explanation;
  // Of an agent that took leave and its successor the successor counts.
  Link restarted;
  restarted.at(0, lldp(host_mac, ieee_pfc(false, 0x10))).at(ms, lldp(host_mac, "", 0));
  restarted.at(2 * ms, other_agent(ieee_pfc(false, 0x08)));
  restarted.at(3 * ms, lldp(switch_mac, ieee_pfc(false, 0x08)));
  EXPECT_TRUE(restarted.run("dcbx_mismatch").empty());
  EXPECT_TRUE(restarted.run("dcbx_two_agents").empty());
}

TEST(DcbxTwoAgentsFinding, TriggerTwoNames) {
  Link link;
  for (unsigned i = 0; i < 2; ++i) {
    link.at(i * 10 * ms, lldp(host_mac, ieee_pfc(true, 0x08)));
    link.at(i * 10 * ms + ms, other_agent(ieee_pfc(true, 0x10)));
  }
  const auto found = link.run("dcbx_two_agents");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{1, 2, 3, 4}));
  EXPECT_TRUE(says(found[0],
                   "announces PFC on 3, willing (IEEE), the other (chassis 02:00:00:00:00:01, port "
                   "fw00) PFC on 4, willing (IEEE)"))
      << found[0].explanation;
  Link alike;
  for (unsigned i = 0; i < 2; ++i) {
    alike.at(i * 10 * ms, lldp(host_mac, ieee_pfc(true, 0x08)));
    alike.at(i * 10 * ms + ms, other_agent(ieee_pfc(true, 0x08)));
  }
  const auto same = alike.run("dcbx_two_agents");
  ASSERT_EQ(same.size(), 1U);
  EXPECT_EQ(same[0].severity, Severity::notice);
}

TEST(DcbxTwoAgentsFinding, TriggerOneNameTakingTurns) {
  Link link;
  for (unsigned i = 0; i < 4; ++i) link.at(i * ms, lldp(host_mac, ieee_pfc(true, i % 2 == 0 ? 0x08 : 0x10)));
  const auto found = link.run("dcbx_two_agents");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(
      says(found[0], "alternates between PFC on 3, willing (IEEE) and PFC on 4, willing (IEEE), twice"))
      << found[0].explanation;
}

TEST(DcbxTwoAgentsFinding, NearMiss) {
  Link back;  // somebody tries something out
  for (unsigned i = 0; i < 3; ++i) back.at(i * ms, lldp(host_mac, ieee_pfc(true, i % 2 == 0 ? 0x08 : 0x10)));
  EXPECT_TRUE(back.run("dcbx_two_agents").empty());
  Link renamed;  // one after the other
  renamed.at(0, lldp(host_mac, ieee_pfc(true, 0x08))).at(ms, lldp(host_mac, ieee_pfc(true, 0x08)));
  renamed.at(2 * ms, other_agent(ieee_pfc(true, 0x10))).at(3 * ms, other_agent(ieee_pfc(true, 0x10)));
  EXPECT_TRUE(renamed.run("dcbx_two_agents").empty());
  Link inventory;  // a second agent that has nothing to do with DCBX
  inventory.at(0, lldp(host_mac, ieee_pfc(true, 0x08))).at(ms, other_agent(""));
  inventory.at(2 * ms, lldp(host_mac, ieee_pfc(true, 0x08))).at(3 * ms, other_agent(""));
  EXPECT_TRUE(inventory.run("dcbx_two_agents").empty());
}

TEST(DcbxPriorityDiffersFinding, Trigger) {
  Link link;
  link.at(0, lldp(switch_mac, ieee_application(3, 3, 4791))).at(ms, data_on(5)).at(2 * ms, data_on(3));
  const auto found = link.run("dcbx_priority_differs");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 1U);
  EXPECT_EQ(found[0].packets, std::vector<std::uint64_t>{2});
  EXPECT_TRUE(says(found[0], "announces RoCE on priority 3, but 1 of 2 packets (50.0 %)"))
      << found[0].explanation;
}

TEST(DcbxPriorityDiffersFinding, AGuessedPriorityIsNoWarning) {
  Link link;
  link.at(0, lldp(switch_mac, ieee_application(3, 3, 4791))).at(ms, data_with(3)).at(2 * ms, data_with(4));
  const auto found = link.run("dcbx_priority_differs");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_TRUE(says(found[0], "DSCP >> 3, a guess")) << found[0].explanation;
  Link unmarked;
  unmarked.at(0, lldp(switch_mac, ieee_application(3, 3, 4791))).at(ms, data_with(0));
  EXPECT_EQ(unmarked.run("dcbx_priority_differs").at(0).severity, Severity::warning);
}

TEST(DcbxPriorityDiffersFinding, EachVersionHasItsOwnAnnouncement) {
  const std::string v1_on_4 = ieee_application(4, 1, 0x8915);
  Link only_v1;  // says nothing of v2
  only_v1.at(0, lldp(switch_mac, v1_on_4)).at(ms, data_on(3));
  EXPECT_TRUE(only_v1.run("dcbx_priority_differs").empty());
  for (const unsigned v2 : {3U, 4U}) {
    Link both;  // 4 is v1's
    both.at(0, lldp(switch_mac, v1_on_4 + ieee_application(v2, 3, 4791))).at(ms, data_on(4));
    EXPECT_EQ(both.run("dcbx_priority_differs").size(), v2 == 3 ? 1U : 0U);
  }
}

TEST(DcbxMismatchFinding, AVersionIsComparedWithItself) {
  Link link;
  link.at(0, lldp(switch_mac, ieee_pfc(false, 0x18) + ieee_application(3, 3, 4791)));
  link.at(ms, lldp(host_mac, ieee_pfc(false, 0x18) + ieee_application(4, 1, 0x8915)));
  EXPECT_TRUE(link.run("dcbx_mismatch").empty());
}

TEST(DcbxPriorityDiffersFinding, NearMiss) {
  Link link;  // the announced DSCP leads to the announced priority
  link.at(0, lldp(switch_mac, ieee_application(3, 3, 4791) + ieee_application(3, 5, 10)));
  link.at(ms, data_with(10)).at(2 * ms, data_with(26));
  link.at(3 * ms, plain_roce(host_mac, switch_mac, 48U << 2U));
  EXPECT_TRUE(link.run("dcbx_priority_differs").empty());
  Link other;  // another application
  other.at(0, lldp(switch_mac, ieee_application(4, 2, 3260))).at(ms, data_on(5));
  EXPECT_TRUE(other.run("dcbx_priority_differs").empty());
}

std::shared_ptr<const MarkingPolicy> policy_with_lossless(unsigned priority) {
  PolicyModel model;
  model.lossless.emplace();
  model.lossless->add(priority);
  model.dscp_to_priority[26] = 3;
  return std::make_shared<const MarkingPolicy>(std::move(model));
}

TEST(DcbxPolicyDiffersFinding, Trigger) {
  Link link;
  link.options_.policy = policy_with_lossless(3);
  link.at(0, lldp(switch_mac, ieee_pfc(false, 0x10) + ieee_application(5, 5, 26))).at(ms, data_with(26));
  const auto found = link.run("dcbx_policy_differs");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(says(found[0], "PFC on 4 instead of 3, DSCP 26 on 5 instead of 3.")) << found[0].explanation;
}

TEST(DcbxPolicyDiffersFinding, EachVersionHasItsOwnAnnouncement) {
  const std::string both = ieee_application(4, 1, 0x8915) + ieee_application(3, 3, 4791);
  constexpr std::uint8_t allowed[] = {roce_v2_allowed, roce_v1_allowed, roce_v1_allowed | roce_v2_allowed};
  for (const std::uint8_t versions : allowed) {
    Link link;
    PolicyModel model;
    model.versions = versions;
    model.classes[static_cast<std::size_t>(TrafficClass::data)].emplace().priority.emplace().add(3);
    link.options_.policy = std::make_shared<const MarkingPolicy>(std::move(model));
    link.at(0, lldp(switch_mac, both)).at(ms, data_with(26));
    const auto found = link.run("dcbx_policy_differs");
    const bool v1 = (versions & roce_v1_allowed) != 0;
    ASSERT_EQ(found.size(), v1 ? 1U : 0U);
    if (v1) {
      EXPECT_TRUE(says(found[0], "RoCE v1 on 4 instead of 3")) << found[0].explanation;
    }
  }
}

TEST(DcbxPolicyDiffersFinding, NearMiss) {
  Link same;
  same.options_.policy = policy_with_lossless(3);
  same.at(0, lldp(switch_mac, ieee_pfc(false, 0x08) + ieee_application(3, 5, 26))).at(ms, data_with(26));
  EXPECT_TRUE(same.run("dcbx_policy_differs").empty());
  Link no_policy;
  no_policy.at(0, lldp(switch_mac, ieee_pfc(false, 0x10))).at(ms, data_with(26));
  EXPECT_TRUE(no_policy.run("dcbx_policy_differs").empty());
}

}  // namespace
}  // namespace roce::analyze

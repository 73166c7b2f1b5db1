// SPDX-License-Identifier: Apache-2.0
// Rules on pauses, each with a capture written out as bytes that triggers it and a near miss.
#include "tests/analyze/link/link_packets.hpp"

namespace roce::analyze {
namespace {

/// XOFF of 65535 quanta from 0 to `end`, often enough to be one pause at 100 Gb/s.
void hold(Link& link, const std::string& mac, unsigned priority, std::int64_t end, std::int64_t from = 0) {
  for (std::int64_t t = from; t < end; t += 300 * us) link.at(t, pfc(mac, {{priority, 65535}}));
}

TEST(PauseStormFinding, Trigger) {
  Link link;
  hold(link, host_mac, 3, 250 * ms);
  link.at(250 * ms, pfc(host_mac, {{3, 0}})).at(500 * ms, data_on(3));
  const auto found = link.run("pause_storm");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::error);
  EXPECT_EQ(found[0].subject, "02:00:00:00:00:01, priority 3");
  EXPECT_EQ(found[0].packets, std::vector<std::uint64_t>{1});
  EXPECT_TRUE(says(found[0], "pauses priority 3 for 250 ms without interruption")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "50.0 % of the capture time")) << found[0].explanation;
}

TEST(PauseStormFinding, TriggerWithoutASpeed) {
  Link link(0);  // at 800 Gb/s a pause lasts 41.9 µs at least
  for (std::int64_t t = 0; t < 210 * ms; t += 40 * us) link.at(t, pfc(host_mac, {{3, 65535}}));
  link.at(300 * ms, data_on(3));
  const auto found = link.run("pause_storm");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "for at least 210 ms")) << found[0].explanation;
}

TEST(PauseStormFinding, NearMiss) {
  Link link;  // 190 ms, a gap, 190 ms
  hold(link, host_mac, 3, 190 * ms);
  link.at(190 * ms, pfc(host_mac, {{3, 0}}));
  hold(link, host_mac, 3, 390 * ms, 200 * ms);
  link.at(390 * ms, pfc(host_mac, {{3, 0}})).at(500 * ms, data_on(3));
  EXPECT_TRUE(link.run("pause_storm").empty());
}

TEST(PauseHeavyFinding, Trigger) {
  Link link;
  for (int i = 0; i < 20; ++i) {
    link.at(i * ms, pfc(host_mac, {{3, 65535}}));
    link.at(i * ms + 200 * us, pfc(host_mac, {{3, 0}}));
  }
  link.at(20 * ms, data_on(3));
  const auto found = link.run("pause_heavy");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(says(found[0], "20.0 % of the capture time: 4.00 ms in 20 pauses, the longest 200 µs"))
      << found[0].explanation;
}

TEST(PauseHeavyFinding, NearMiss) {
  Link rare;
  for (int i = 0; i < 20; ++i) {
    rare.at(i * ms, pfc(host_mac, {{3, 65535}}));
    rare.at(i * ms + 5 * us, pfc(host_mac, {{3, 0}}));  // 0.5 %
  }
  rare.at(20 * ms, data_on(3));
  EXPECT_TRUE(rare.run("pause_heavy").empty());
  Link unknown(0);  // nobody knows how long
  for (int i = 0; i < 20; ++i) unknown.at(i * ms, pfc(host_mac, {{3, 65535}}));
  EXPECT_TRUE(unknown.run("pause_heavy").empty());
}

TEST(PauseMutualFinding, Trigger) {
  Link link;
  hold(link, host_mac, 3, 250 * ms);
  hold(link, switch_mac, 3, 250 * ms, 250 * ms);  // no time with the other's
  hold(link, host_mac, 3, 700 * ms, 260 * ms);    // until 510 with the other's
  link.at(800 * ms, data_on(3));
  auto sorted = link.run("pause_mutual");
  ASSERT_EQ(sorted.size(), 0U);  // the switch's ends at 250 ms

  Link both;
  for (std::int64_t t = 0; t < 250 * ms; t += 300 * us) {
    both.at(t, pfc(host_mac, {{3, 65535}})).at(t + us, pfc(switch_mac, {{3, 65535}}));
  }
  both.at(300 * ms, data_on(3));
  const auto found = both.run("pause_mutual");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::error);
  EXPECT_EQ(found[0].packets, std::vector<std::uint64_t>{2});
  EXPECT_TRUE(says(found[0], "this is what a PFC deadlock looks like")) << found[0].explanation;
}

TEST(PauseMutualFinding, TriggerForAMoment) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 65535}})).at(10 * us, pfc(switch_mac, {{3, 65535}})).at(ms, data_on(3));
  const auto found = link.run("pause_mutual");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
}

TEST(PauseMutualFinding, NearMiss) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 65535}})).at(us, pfc(switch_mac, {{4, 65535}}));  // another priority
  link.at(ms, pfc(switch_mac, {{3, 65535}})).at(2 * ms, data_on(3));              // another time
  EXPECT_TRUE(link.run("pause_mutual").empty());
}

TEST(PauseMutualFinding, TwoHostsOnAMirrorNeedNotFaceEachOther) {
  const std::string far = "0200000000aa";
  for (const bool peers : {false, true}) {
    Link link;
    for (std::int64_t t = 0; t < 250 * ms; t += 300 * us) {
      link.at(t, pfc(host_mac, {{3, 65535}})).at(t + us, pfc(switch_mac, {{3, 65535}}));
      link.at(t + 2 * us, as_request(tagged_roce(peers ? far : switch_mac, host_mac, 2), next_psn()));
    }
    const auto found = link.run("pause_mutual");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, peers ? Severity::notice : Severity::error);
    EXPECT_DOUBLE_EQ(found[0].confidence, peers ? 0.4 : 0.9);
    EXPECT_EQ(says(found[0], "a mirror of two links looks the same"), peers) << found[0].explanation;
  }
}

TEST(PauseUnusedPriorityFinding, Trigger) {
  Link link;
  link.at(0, pfc(host_mac, {{4, 100}}));
  link.at(ms, data_on(3));
  const auto found = link.run("pause_unused_priority");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(says(found[0], "RoCE is on priority 3. So RoCE is not protected")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "--pfc 0,0,0,1,0,0,0,0")) << found[0].advice;
  EXPECT_TRUE(says(found[0], "all:off 3:on")) << found[0].advice;
}

TEST(PauseUnusedPriorityFinding, AGuessedPriorityIsNoWarning) {
  for (const bool announced : {false, true}) {
    Link link;  // DSCP 24 may lead to priority 2
    link.at(0, pfc(host_mac, {{2, 100}}));
    if (announced) link.at(us, lldp(switch_mac, ieee_application(3, 5, 24)));
    link.at(ms, data_with(24));
    const auto found = link.run("pause_unused_priority");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, announced ? Severity::warning : Severity::notice);
    EXPECT_DOUBLE_EQ(found[0].confidence, announced ? 0.8 : 0.4);
    EXPECT_EQ(says(found[0], "DSCP >> 3, a guess"), !announced) << found[0].explanation;
  }
}

TEST(PauseUnusedPriorityFinding, TriggerBesideAUsedOne) {
  Link link;  // priority 4 may be storage's
  link.at(0, pfc(host_mac, {{3, 100}, {4, 100}})).at(ms, data_with(26));
  const auto found = link.run("pause_unused_priority");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
}

TEST(PauseUnusedPriorityFinding, NearMiss) {
  Link used;
  used.at(0, pfc(host_mac, {{3, 100}})).at(ms, data_on(3));
  EXPECT_TRUE(used.run("pause_unused_priority").empty());
  Link no_roce;
  no_roce.at(0, pfc(host_mac, {{3, 100}}));
  EXPECT_TRUE(no_roce.run("pause_unused_priority").empty());
  Link xon_only;
  xon_only.at(0, pfc(host_mac, {{4, 0}})).at(ms, data_on(3));
  EXPECT_TRUE(xon_only.run("pause_unused_priority").empty());
}

TEST(RoceNotLosslessFinding, Trigger) {
  Link link;
  link.at(0, lldp(switch_mac, ieee_pfc(false, 0x08)));
  link.at(ms, data_with(26)).at(2 * ms, data_with(0)).at(3 * ms, data_with(2));
  const auto found = link.run("roce_not_lossless");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 2U);
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{3, 4}));
  EXPECT_TRUE(
      says(found[0], "2 of 3 packets (66.7 %) that carry RoCE requests or READ responses use priority 0"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "announced: priority 3")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "DSCP 26")) << found[0].advice;
  EXPECT_TRUE(says(found[0], "cma_roce_tos -d DEV -t 106")) << found[0].advice;  // 26 x 4 + ECT(0)
  EXPECT_TRUE(
      says(found[0], "infiniband.bth && (roce.pcp == 0 || (!vlan && (roce.dscp >= 0 && roce.dscp <= 7)))"))
      << found[0].advice;
}

TEST(RoceNotLosslessFinding, TriggerByPausesAlone) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 100}})).at(ms, data_with(26)).at(2 * ms, data_with(0));
  const auto found = link.run("roce_not_lossless");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
}

TEST(RoceNotLosslessFinding, AGuessedPriorityIsNoWarning) {
  for (const bool announced : {false, true}) {
    Link link;  // DSCP 3 on priority 3 is a usual map, though DSCP >> 3 is 0
    link.at(0, lldp(switch_mac, ieee_pfc(false, 0x08) + (announced ? ieee_application(0, 5, 3) : "")));
    link.at(ms, data_with(3));
    const auto found = link.run("roce_not_lossless");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, announced ? Severity::warning : Severity::notice);
    EXPECT_DOUBLE_EQ(found[0].confidence, announced ? 0.9 : 0.3);
    EXPECT_EQ(says(found[0], "DSCP >> 3, a guess"), !announced) << found[0].explanation;
  }
}

TEST(RoceNotLosslessFinding, NearMiss) {
  Link link;  // acknowledgements and CNPs may go where they want
  link.at(0, lldp(switch_mac, ieee_pfc(false, 0x08))).at(ms, data_with(26));
  link.at(2 * ms, plain_roce(host_mac, switch_mac, 48U << 2U));
  EXPECT_TRUE(link.run("roce_not_lossless").empty());
  Link unknown;  // nothing says what is lossless
  unknown.at(0, data_with(0));
  EXPECT_TRUE(unknown.run("roce_not_lossless").empty());
  Link global;
  global.at(0, global_pause(host_mac, 100)).at(ms, data_with(0));
  EXPECT_TRUE(global.run("roce_not_lossless").empty());
}

TEST(TrafficWhilePausedFinding, Trigger) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 65535}}));
  for (int i = 0; i < 12; ++i) link.at((20 + i) * us, data_on(3));
  const auto found = link.run("traffic_while_paused");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 12U);
  EXPECT_EQ(found[0].packets.front(), 2U);
  EXPECT_TRUE(says(found[0], "later than the 8.11 µs after an XOFF")) << found[0].explanation;
}

TEST(TrafficWhilePausedFinding, TheOtherEndIsBelievedLess) {
  Link link;  // two ports pause; what one of them sends to somebody else need not reach the other
  link.at(0, pfc(switch_mac, {{3, 65535}})).at(us, pfc(host_mac, {{5, 65535}}));
  for (int i = 0; i < 12; ++i)
    link.at((20 + i) * us, as_request(tagged_roce("0200000000aa", host_mac, 3), next_psn()));
  const auto found = link.run("traffic_while_paused");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_DOUBLE_EQ(found[0].confidence, 0.4);
  EXPECT_EQ(found[0].count, 12U);
  EXPECT_TRUE(says(found[0], "None is addressed to the port itself")) << found[0].explanation;
}

TEST(TrafficWhilePausedFinding, AGuessedPriorityIsNoWarning) {
  for (const bool tagged : {false, true}) {
    Link link;  // DSCP 26 may lead to another priority than 3
    link.at(0, pfc(host_mac, {{3, 65535}}));
    for (int i = 0; i < 12; ++i) link.at((20 + i) * us, tagged ? data_on(3) : data_with(26));
    const auto found = link.run("traffic_while_paused");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, tagged ? Severity::warning : Severity::notice);
    EXPECT_DOUBLE_EQ(found[0].confidence, tagged ? 0.7 : 0.4);
    EXPECT_EQ(says(found[0], "12 of them are untagged, and assumed to be on priority DSCP >> 3, a guess"),
              !tagged)
        << found[0].explanation;
  }
}

TEST(TrafficWhilePausedFinding, NearMiss) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 65535}}));
  link.at(5 * us, data_on(3)).at(50 * us, data_on(2)).at(51 * us, data_with(16)).at(400 * us, data_on(3));
  EXPECT_TRUE(link.run("traffic_while_paused").empty());
}

TEST(GlobalPauseBesidePfcFinding, Trigger) {
  Link link;
  link.at(0, global_pause(switch_mac, 100)).at(us, pfc(host_mac, {{3, 100}})).at(ms, data_on(3));
  const auto found = link.run("global_pause_beside_pfc");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].subject, "02:00:00:00:00:f1");
}

TEST(GlobalPauseBesidePfcFinding, NearMiss) {
  Link link;
  link.at(0, global_pause(switch_mac, 100)).at(ms, data_on(3));
  EXPECT_TRUE(link.run("global_pause_beside_pfc").empty());
  Link xon;  // an XON of PAUSE stops nobody
  xon.at(0, global_pause(switch_mac, 0)).at(us, pfc(host_mac, {{3, 100}})).at(ms, data_on(3));
  EXPECT_TRUE(xon.run("global_pause_beside_pfc").empty());
}

/// All but the first `of_first` frames are of a second capture point, where another link is.
void split(Link& link, std::size_t of_first) {
  auto& interfaces = link.source_.interfaces_;
  interfaces.push_back(interfaces[0]);
  interfaces[1].point = 1;
  for (std::size_t i = of_first; i < link.source_.frames_.size(); ++i) {
    link.source_.frames_[i].point = 1;
    link.source_.frames_[i].interface = 1;
  }
}

TEST(GlobalPauseBesidePfcFinding, PfcOfAnotherLinkIsNoReason) {
  for (const bool apart : {false, true}) {
    Link link;
    link.at(0, pfc(host_mac, {{3, 100}})).at(us, data_on(3)).at(ms, global_pause(switch_mac, 100));
    if (apart) split(link, 2);
    EXPECT_EQ(link.run("global_pause_beside_pfc").size(), apart ? 0U : 1U);
  }
}

TEST(LosslessPriorities, AnotherLinksAreBelievedLess) {
  for (const bool apart : {false, true}) {
    Link link;
    link.at(0, data_on(3))
        .at(ms, lldp(switch_mac, ieee_pfc(false, 0x10)))
        .at(2 * ms, pfc(host_mac, {{4, 9}}));
    if (apart) split(link, 1);
    for (const char* rule : {"roce_not_lossless", "pause_unused_priority"}) {
      const auto found = link.run(rule);
      ASSERT_EQ(found.size(), 1U) << rule;
      EXPECT_EQ(found[0].severity, apart ? Severity::notice : Severity::warning) << rule;
      EXPECT_EQ(says(found[0], "need not cross the links of another"), apart) << found[0].explanation;
    }
  }
}

TEST(LosslessPriorities, AWillingEndTakesTheOthers) {
  for (const bool willing : {false, true}) {
    Link link;  // PFC runs on 4, though the host announces 3
    link.at(0, lldp(host_mac, ieee_pfc(willing, 0x08))).at(ms, lldp(switch_mac, ieee_pfc(false, 0x10)));
    link.at(2 * ms, data_on(3));
    const auto found = link.run("roce_not_lossless");
    ASSERT_EQ(found.size(), willing ? 1U : 0U);
    if (willing) {
      EXPECT_EQ(found[0].severity, Severity::warning);
      EXPECT_TRUE(says(found[0], "announced: priority 4")) << found[0].explanation;
    }
  }
  Link unmoved;  // it has heard the other and still announces its own
  unmoved.at(0, lldp(switch_mac, ieee_pfc(false, 0x10))).at(ms, lldp(host_mac, ieee_pfc(true, 0x08)));
  unmoved.at(2 * ms, data_on(3));
  EXPECT_TRUE(unmoved.run("roce_not_lossless").empty());
}

TEST(PauseMalformedFinding, Trigger) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 100}}, 1)).at(us, pfc(host_mac, {})).at(ms, data_on(3));
  const auto found = link.run("pause_malformed");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 2U);
  EXPECT_TRUE(says(found[0],
                   "1 packet with reserved bits set in the class enable vector (its high byte must be 0), 1 "
                   "packet of PFC with no priority enabled"))
      << found[0].explanation;
}

TEST(PauseMalformedFinding, NearMiss) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 100}})).at(us, global_pause(host_mac, 0));
  link.source_.add(bytes_of("0180c2000001" + host_mac + "8808 0101 0008"), Link::base + ms, 64);  // cut
  EXPECT_TRUE(link.run("pause_malformed").empty());
}

TEST(PauseFindings, APolicyKnowsWhichPriorityAPacketTakes) {
  for (const bool with_policy : {false, true}) {
    Link link;
    if (with_policy) {
      PolicyModel model;
      model.dscp_to_priority[10] = 3;  // else 1
      link.options_.policy = std::make_shared<const MarkingPolicy>(std::move(model));
    }
    link.at(0, pfc(host_mac, {{3, 65535}})).at(50 * us, data_with(10));
    EXPECT_EQ(link.run("pause_unused_priority").size(), with_policy ? 0U : 1U);
    EXPECT_EQ(link.run("traffic_while_paused").size(), with_policy ? 1U : 0U);
  }
}

TEST(PortFindings, ManyPortsAreToldOnce) {
  Link link;
  for (unsigned i = 0; i < 30; ++i) link.at(i, pfc(hex_of(0x020000000100 + i, 12), {}));
  link.at(ms, data_on(3));
  const auto found = link.run("pause_malformed");
  ASSERT_EQ(found.size(), 4U);
  std::uint64_t sum = 0;
  for (const Finding& finding : found) sum += finding.count;
  EXPECT_EQ(sum, 30U);
}

}  // namespace
}  // namespace roce::analyze

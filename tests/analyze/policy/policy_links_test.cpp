// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/policy_links.hpp"

#include <gtest/gtest.h>

namespace roce::analyze {
namespace {

PolicyModel policy() {
  PolicyModel model;
  model.trust = Trust::dscp;
  model.lossless.emplace();
  model.lossless->add(3);
  model.dscp_to_priority[10] = 3;
  MarkRule data;
  data.dscp.emplace();
  data.dscp->add(26);
  data.dscp->add(10);
  model.classes[static_cast<std::size_t>(TrafficClass::data)] = data;
  return model;
}

DcbxSettings settings(std::uint8_t enabled, std::vector<DcbxApplication> applications = {}) {
  DcbxSettings s;
  s.pfc.emplace();
  s.pfc->enabled = enabled;
  s.applications = std::move(applications);
  return s;
}

TEST(PolicyLinks, ThePolicysMap) {
  PriorityMap map = priority_map_of(policy());
  EXPECT_EQ(map.priority_of(10, std::nullopt), 3);
  EXPECT_EQ(map.priority_of(26, 5), 3);
  EXPECT_EQ(map.priority_of(48, std::nullopt), 6);
  PolicyModel by_tag = policy();
  by_tag.trust = Trust::pcp;
  map = priority_map_of(by_tag);
  EXPECT_EQ(map.priority_of(26, 5), 5);
  EXPECT_EQ(map.priority_of(26, std::nullopt), 0);
}

TEST(PolicyLinks, WhereDataGoes) {
  EXPECT_EQ(data_priorities_of(policy()), 0x08);
  EXPECT_EQ(data_priorities_of(PolicyModel{}), std::nullopt);
  PolicyModel named = policy();
  named.classes[0]->priority.emplace();
  named.classes[0]->priority->add(4);
  EXPECT_EQ(data_priorities_of(named), 0x10);
  EXPECT_EQ(lossless_of(policy()), 0x08);
  EXPECT_EQ(lossless_of(PolicyModel{}), std::nullopt);
}

TEST(PolicyLinks, WhatPortsAnnounce) {
  using Texts = std::vector<std::string>;
  constexpr std::uint8_t udp = DcbxApplication::udp;
  constexpr std::uint8_t dscp = DcbxApplication::dscp;
  EXPECT_EQ(announced_against(policy(), settings(0x08, {{udp, 4791, 0x08}, {dscp, 10, 0x08}})), Texts{});
  EXPECT_EQ(announced_against(policy(), settings(0x18)), (Texts{"PFC on 3, 4 instead of 3"}));
  EXPECT_EQ(announced_against(policy(), settings(0x08, {{udp, 4791, 0x20}, {udp, 1, 0x01}})),
            (Texts{"RoCE on 5 instead of 3"}));
  EXPECT_EQ(announced_against(policy(), settings(0x08, {{dscp, 26, 0x20}})),
            (Texts{"DSCP 26 on 5 instead of 3"}));
  DcbxSettings off = settings(0x08);
  off.pfc->in_use = false;
  EXPECT_EQ(announced_against(policy(), off), (Texts{"PFC on none instead of 3"}));
  EXPECT_EQ(announced_against(PolicyModel{}, settings(0x10, {{udp, 4791, 0x10}})), Texts{});
}

}  // namespace
}  // namespace roce::analyze

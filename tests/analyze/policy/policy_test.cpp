// SPDX-License-Identifier: Apache-2.0
// What policies say of packets.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "analyze/policy/traffic_class_file.hpp"
#include "tests/analyze/policy/policy_support.hpp"

namespace roce::analyze {
namespace {

using dissect::Transport;

TEST(Policy, JudgesEachMarkOfEachClass) {
  const MarkingPolicy p = policy_of(R"(
lossless = 3
[class.data]
dscp = [26, "cs3"]
ecn = ["ect0", "ce"]
pcp = 3
ttl = "60-64"
[class.cnp]
dscp = 48
vlan = "forbidden"
)");
  MarkingSubject s = subject();
  EXPECT_EQ(violations(p, s), "");
  s.marks.dscp = 24;
  s.marks.ecn = 3;
  EXPECT_EQ(violations(p, s), "");
  s.marks.dscp = 0;
  EXPECT_EQ(violations(p, s), "class.data.dscp: DSCP 24 or 26, not DSCP 0");
  s.marks.ecn = 0;
  s.marks.ttl = 1;
  s.marks.vlan = 100;
  s.marks.pcp = 5;
  EXPECT_EQ(violations(p, s),
            "class.data.dscp: DSCP 24 or 26, not DSCP 0; class.data.ecn: ECN ECT(0) or CE, not ECN Not-ECT; "
            "class.data.pcp: PCP 3, not PCP 5; class.data.ttl: TTL 60-64, not TTL 1");
  s = subject(TrafficClass::cnp);
  s.marks.dscp = 48;
  EXPECT_EQ(violations(p, s), "");
  s.marks.vlan = 0;
  s.marks.pcp = 6;
  EXPECT_EQ(violations(p, s), "class.cnp.vlan: no VLAN tag, not VLAN 0");
  // Nothing is said of the other classes.
  for (const TrafficClass other :
       {TrafficClass::ack, TrafficClass::atomic, TrafficClass::cm, TrafficClass::other}) {
    s = subject(other);
    s.marks.dscp = 1;
    EXPECT_EQ(violations(p, s), "");
  }
}

TEST(Policy, ResponsesAreDataUnlessNamed) {
  MarkingSubject s = subject(TrafficClass::response);
  s.marks.dscp = 0;
  EXPECT_EQ(violations(policy_of("[class.data]\ndscp = 26"), s), "class.data.dscp: DSCP 26, not DSCP 0");
  const MarkingPolicy named = policy_of("[class.data]\ndscp = 26\n[class.response]\nttl = 64");
  EXPECT_EQ(violations(named, s), "");
}

TEST(Policy, Vlans) {
  MarkingSubject untagged = subject(), priority_tag = subject(), tagged = subject();
  priority_tag.marks.vlan = 0;
  tagged.marks.vlan = 100;
  priority_tag.marks.pcp = tagged.marks.pcp = 3;
  const MarkingPolicy required = policy_of("[class.data]\nvlan = \"required\"");
  EXPECT_EQ(violations(required, untagged), "class.data.vlan: a VLAN tag, not no VLAN tag");
  EXPECT_EQ(violations(required, priority_tag) + violations(required, tagged), "");
  const MarkingPolicy some = policy_of("[class.data]\nvlan = [7, \"90-100\"]");
  EXPECT_EQ(violations(some, tagged), "");
  EXPECT_EQ(violations(some, priority_tag), "class.data.vlan: VLAN 7 or 90-100, not VLAN 0");
  EXPECT_EQ(violations(some, untagged), "class.data.vlan: VLAN 7 or 90-100, not no VLAN tag");
  EXPECT_EQ(violations(policy_of("[class.data]\nvlan = \"any\""), untagged), "");
}

TEST(Policy, PrioritiesByTrust) {
  const char* text = R"(
lossless = 3
[dscp_to_priority]
26 = 3
[class.data]
priority = 3
[class.atomic]
lossless = true
[class.cnp]
lossless = false
)";
  const MarkingPolicy by_dscp = policy_of(std::string("trust = \"dscp\"\n") + text);
  const MarkingPolicy by_pcp = policy_of(std::string("trust = \"pcp\"\n") + text);
  MarkingSubject s = subject();
  EXPECT_EQ(violations(by_dscp, s), "");
  EXPECT_EQ(violations(by_pcp, s), "class.data.priority: priority 3, not priority 0 (untagged)");
  s.marks.pcp = 3;
  s.marks.vlan = 100;
  EXPECT_EQ(violations(by_pcp, s), "");
  s.marks.dscp = 34;  // not in the map: 34 >> 3
  EXPECT_EQ(violations(by_dscp, s), "class.data.priority: priority 3, not priority 4 (of DSCP 34)");
  s.marks.dscp = 31;  // 31 >> 3 is 3 as well
  EXPECT_EQ(violations(by_dscp, s), "");
  s = subject(TrafficClass::atomic);
  s.marks.dscp = 8;
  EXPECT_EQ(violations(by_dscp, s),
            "class.atomic.lossless: a priority that is lossless (3), not priority 1 (of DSCP 8)");
  s = subject(TrafficClass::cnp);
  EXPECT_EQ(violations(by_dscp, s),
            "class.cnp.lossless: a priority that is not lossless (3), not priority 3 (of DSCP 26)");
  EXPECT_EQ(violations(by_pcp, s), "");
}

TEST(Policy, OneMistakeIsToldOnce) {
  // The DSCP is wrong, and so is, by consequence, the priority that it leads to.
  const MarkingPolicy p = policy_of(
      "lossless = 3\n[class.data]\ndscp = 26\npriority = 3\nlossless = true\n[checks]\npcp_from_dscp = true");
  MarkingSubject s = subject();
  s.marks.dscp = 0;
  EXPECT_EQ(violations(p, s), "class.data.dscp: DSCP 26, not DSCP 0");
}

TEST(Policy, PcpFromTosAndFromDscp) {
  const MarkingPolicy tos = policy_of("[checks]\npcp_from_tos = true");
  const MarkingPolicy map = policy_of("[dscp_to_priority]\n26 = 5\n[checks]\npcp_from_dscp = true");
  MarkingSubject s = subject();                        // TOS 106: SL 3
  EXPECT_EQ(violations(tos, s) + violations(map, s), "");  // untagged
  s.marks.vlan = 0;
  s.marks.pcp = 3;
  EXPECT_EQ(violations(tos, s), "");
  EXPECT_EQ(violations(map, s), "checks.pcp_from_dscp: PCP 5 (of DSCP 26), not PCP 3");
  s.marks.pcp = 5;
  EXPECT_EQ(violations(tos, s), "checks.pcp_from_tos: PCP 3 (TOS >> 5), not PCP 5");
  EXPECT_EQ(violations(map, s), "");
  s.marks.dscp = 63;  // TOS 254: SL 7
  s.marks.pcp = 7;
  EXPECT_EQ(violations(tos, s), "");
}

TEST(Policy, RoceVersions) {
  MarkingSubject v1 = subject();
  v1.transport = Transport::roce_v1;
  v1.marks.dscp = 0;
  v1.marks.ttl = 0;
  const MarkingPolicy p =
      policy_of("roce_version = \"v2\"\n[class.data]\ndscp = 26\necn = \"ect0\"\nttl = 64");
  EXPECT_EQ(violations(p, v1), "roce_version: RoCE v2, not RoCE v1");
  EXPECT_EQ(violations(policy_of("[class.data]\ndscp = 26\npcp = 3"), v1), "");
  v1.marks.pcp = 5;
  v1.marks.vlan = 1;
  EXPECT_EQ(violations(policy_of("[class.data]\ndscp = 26\npcp = 3"), v1),
            "class.data.pcp: PCP 3, not PCP 5");
  EXPECT_EQ(violations(policy_of("roce_version = \"v1\""), subject()), "roce_version: RoCE v1, not RoCE v2");
  MarkingSubject native = subject();
  native.transport = Transport::native_ib;
  native.marks.dscp = 0;
  EXPECT_EQ(violations(p, native), "");
}

TEST(Policy, AllowLists) {
  const MarkingPolicy p = policy_of(R"(
[allow]
addresses = ["10.0.0.0/30", "fe80::/10"]
p_keys = [0xffff, "0x8001-0x8003"]
)");
  MarkingSubject s = subject();
  EXPECT_EQ(violations(p, s), "");
  s.dst = ip("10.0.0.4");
  EXPECT_EQ(violations(p, s), "allow.addresses: an address of the allow list, not 10.0.0.4 (destination)");
  s.src = ip("fec0::1");
  s.dst = ip("febf::1");
  EXPECT_EQ(violations(p, s), "allow.addresses: an address of the allow list, not fec0::1 (source)");
  s = subject();
  s.p_key = 0x0002;  // a limited member of a partition that is allowed
  EXPECT_EQ(violations(p, s), "");
  s.p_key = 0x8004;
  EXPECT_EQ(violations(p, s), "allow.p_keys: a P_Key of the allow list, not P_Key 0x8004");
}

TEST(Policy, SaysWhatItExpects) {
  const MarkingPolicy p =
      policy_of("[class.data]\ndscp = 26\npcp = 3\nvlan = \"any\"\n[class.ack]\nvlan = \"required\"");
  MarkingSubject s = subject();
  EXPECT_EQ(p.expected(s), "DSCP 26");
  s.marks.pcp = 5;
  s.marks.vlan = 1;
  EXPECT_EQ(p.expected(s), "DSCP 26, PCP 3");
  s.traffic_class = TrafficClass::ack;
  EXPECT_EQ(p.expected(s), "a VLAN tag");
  s.traffic_class = TrafficClass::cm;
  EXPECT_EQ(p.expected(s), "");
}

TEST(Policy, RulesInTheirOrder) {
  const MarkingPolicy p = policy_of(R"(
[class.data]
dscp = 26
ttl = 64
[[rule]]
name = "tenant"
p_key = 0x8005
dscp = 10
[[rule]]
name = "from"
src = "10.0.0.0/24"
dscp = 12
[[rule]]
name = "pair"
src = ["10.0.0.1", "10.0.0.9"]
dst = "10.0.0.0/28"
dscp = 14
[[rule]]
name = "qp"
qp = ["0x10-0x20", 0x40]
class = "ack"
dscp = 16
)");
  MarkingSubject s = subject();
  EXPECT_EQ(violations(p, s),
            "rule.pair.dscp: DSCP 14, not DSCP 26");  // both ends before one, whatever the order
  s.dst = ip("10.0.0.99");
  EXPECT_EQ(violations(p, s), "rule.from.dscp: DSCP 12, not DSCP 26");
  s.p_key = 0x8005;
  EXPECT_EQ(violations(p, s), "rule.tenant.dscp: DSCP 10, not DSCP 26");  // the first of the rest
  s.src = ip("192.168.0.1");
  s.p_key = 0xffff;
  EXPECT_EQ(violations(p, s), "");
  s.marks.ttl = 1;  // a rule replaces what it names, the class keeps the rest
  s.p_key = 0x0005;
  EXPECT_EQ(violations(p, s), "rule.tenant.dscp: DSCP 10, not DSCP 26; class.data.ttl: TTL 64, not TTL 1");
  s = subject(TrafficClass::ack);
  s.src = ip("192.168.0.1");
  EXPECT_EQ(violations(p, s), "rule.qp.dscp: DSCP 16, not DSCP 26");
  s.dst_qp = 0x21;
  EXPECT_EQ(violations(p, s), "");
  s.dst_qp = 0x40;
  EXPECT_EQ(violations(p, s), "rule.qp.dscp: DSCP 16, not DSCP 26");
  // One without conditions holds for all, before all others.
  const MarkingPolicy global = policy_of(
      "[[rule]]\nsrc=\"10.0.0.1\"\ndst=\"10.0.0.2\"\ndscp=1\n[[rule]]\nname=\"all\"\nclass=\"data\"\ndscp=2");
  EXPECT_EQ(violations(global, subject()), "rule.all.dscp: DSCP 2, not DSCP 26");
  EXPECT_EQ(violations(global, subject(TrafficClass::ack)), "rule.1.dscp: DSCP 1, not DSCP 26");
}

TEST(PolicyProfiles, AreThoseOfTheTable) {
  std::vector<std::string_view> names;
  for (const PolicyProfile& profile : policy_profiles()) names.push_back(profile.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"nvidia", "broadcom-thor2", "cisco-nxos", "arista", "sonic",
                                                  "gaudi3", "huawei-hccl", "ucx"}));
}

TEST(PolicyProfiles, EveryOneRoundTrips) {
  for (const PolicyProfile& profile : policy_profiles()) {
    const auto model = parse_policy(profile.text, std::string(profile.name), {});
    ASSERT_TRUE(model.has_value()) << describe_all(model.error());
    EXPECT_EQ(model->name, profile.name);
    const std::string written = policy_toml(*model);
    const auto again = parse_policy(written, "again", {});
    ASSERT_TRUE(again.has_value()) << written << describe_all(again.error());
    EXPECT_EQ(*model, *again) << written;
    EXPECT_EQ(policy_toml(*again), written);
    const auto loaded = load_policy(std::string(profile.name));
    ASSERT_TRUE(loaded.has_value());
    EXPECT_EQ((*loaded)->model(), *model);
    EXPECT_EQ((*loaded)->name(), profile.name);
  }
}

TEST(PolicyProfiles, AcceptWhatTheTableSaysAndNothingElse) {
  struct Row {
    const char* profile;
    TrafficClass traffic_class;
    std::uint8_t dscp, ecn;
    bool good;
  };
  using enum TrafficClass;
  constexpr Row rows[] = {
      {"nvidia", data, 26, 2, true},
      {"nvidia", data, 26, 3, true},
      {"nvidia", data, 26, 0, false},
      {"nvidia", data, 24, 2, false},
      {"nvidia", response, 26, 3, true},
      {"nvidia", response, 0, 2, false},
      {"nvidia", ack, 26, 0, true},
      {"nvidia", ack, 26, 3, false},
      {"nvidia", ack, 0, 0, false},
      {"nvidia", cnp, 48, 0, true},
      {"nvidia", cnp, 48, 3, false},
      {"nvidia", cnp, 26, 0, false},
      {"broadcom-thor2", data, 26, 2, true},
      {"broadcom-thor2", data, 24, 2, false},
      {"broadcom-thor2", cnp, 48, 0, true},
      {"broadcom-thor2", cnp, 0, 0, false},
      {"cisco-nxos", data, 24, 2, true},
      {"cisco-nxos", data, 26, 2, true},
      {"cisco-nxos", data, 0, 2, false},
      {"cisco-nxos", cnp, 48, 0, true},
      {"cisco-nxos", cnp, 46, 0, false},
      {"arista", data, 24, 2, true},
      {"arista", data, 26, 2, true},
      {"arista", data, 34, 2, false},
      {"arista", cnp, 26, 0, false},
      {"arista", cnp, 48, 0, true},
      {"sonic", data, 3, 2, true},
      {"sonic", data, 4, 2, true},
      {"sonic", data, 26, 2, false},
      {"sonic", ack, 48, 0, true},
      {"sonic", ack, 3, 0, false},
      {"sonic", cnp, 46, 0, true},
      {"sonic", cnp, 48, 0, false},
      {"gaudi3", data, 24, 0, true},
      {"gaudi3", data, 16, 0, false},
      {"gaudi3", ack, 16, 0, true},
      {"gaudi3", ack, 24, 0, false},
      {"huawei-hccl", data, 33, 0, true},
      {"huawei-hccl", data, 26, 0, false},
      {"ucx", data, 26, 2, true},
      {"ucx", data, 26, 3, true},
      {"ucx", data, 26, 1, false},
      {"ucx", data, 26, 0, false},
  };
  for (const Row& row : rows) {
    const auto policy = load_policy(row.profile);
    ASSERT_TRUE(policy.has_value());
    MarkingSubject s = subject(row.traffic_class);
    s.marks.dscp = row.dscp;
    s.marks.ecn = row.ecn;
    EXPECT_EQ(violations(**policy, s).empty(), row.good)
        << row.profile << ' ' << traffic_class_name(row.traffic_class) << ' ' << int{row.dscp} << ' '
        << int{row.ecn} << ": " << violations(**policy, s);
  }
}

TEST(PolicyWriter, EveryKeyRoundTrips) {
  const char* text = R"(
name = "all \"of\" it\nand more"
description = "täglich"
roce_version = "v1"
trust = "pcp"
lossless = []
traffic_class = ["tclass=106", "tclass=16,src_ip=1.1.1.2,dst_ip=1.1.1.0/24", "tclass=4,src_ip6=fe80::1"]
[dscp_to_priority]
"24-26" = 3
ef = 5
[class.data]
dscp = "0-63"
ecn = "CE"
pcp = [1, 2, 5]
vlan = ["10-20", 4094]
ttl = [1, "62-64"]
priority = "1-3"
lossless = false
[class.ack]
vlan = "required"
[class.cm]
vlan = "forbidden"
[class.other]
vlan = "any"
[class.cnp]
[allow]
addresses = ["10.0.0.0/8", "fe80::/10", "::/0", "::ffff:0:0/90"]
p_keys = [0x7fff, 1, 2, 3, "0x8010"]
[checks]
pcp_from_tos = true
pcp_from_dscp = true
[[rule]]
src = ["10.0.0.0/24", "fe80::1"]
dst = "10.1.0.0/16"
p_key = [3, 4]
qp = [1, "16-31"]
class = ["data", "cnp"]
ecn = ["not_ect", 1]
lossless = false
)";
  const auto model = parse_policy(text, "p", {});
  ASSERT_TRUE(model.has_value()) << describe_all(model.error());
  const std::string written = policy_toml(*model);
  const auto again = parse_policy(written, "again", {});
  ASSERT_TRUE(again.has_value()) << written << describe_all(again.error());
  EXPECT_EQ(*model, *again) << written;
}

TEST(PolicyPage, ItsExampleIsAPolicy) {
  std::ifstream file(std::string(ROCE_SOURCE_DIR) + "/docs/policy.md");
  std::stringstream content;
  content << file.rdbuf();
  const std::string page = content.str();
  const std::size_t begin = page.find("```toml\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string text = page.substr(begin + 8, page.find("```", begin + 8) - begin - 8);
  const PolicyFiles files{{"tc_mlx5_0", "tclass=106\n"}};
  const auto model = parse_policy(text, "example.toml", reader_of(files));
  ASSERT_TRUE(model.has_value()) << describe_all(model.error());
  EXPECT_EQ(model->traffic_class.size(), 2U);
  EXPECT_EQ(model->rules.size(), 1U);
}

TEST(AddressPrefix, ContainsAndPrints) {
  const auto prefix = [](const char* text) {
    const auto parsed = AddressPrefix::parse(text);
    EXPECT_TRUE(parsed.has_value()) << text;
    return parsed.value_or(AddressPrefix{});
  };
  EXPECT_EQ(prefix("10.1.2.3/20").text(), "10.1.0.0/20");
  EXPECT_TRUE(prefix("10.1.2.3/20").contains(ip("10.1.15.255")));
  EXPECT_FALSE(prefix("10.1.2.3/20").contains(ip("10.1.16.0")));
  EXPECT_TRUE(prefix("0.0.0.0/0").contains(ip("203.0.113.9")));
  EXPECT_FALSE(prefix("0.0.0.0/0").contains(ip("fe80::1")));
  EXPECT_TRUE(prefix("::/0").contains(ip("10.0.0.1")));
  EXPECT_EQ(prefix("fe80::1").text(), "fe80::1");
  EXPECT_FALSE(AddressPrefix::parse("10.0.0.0/ 8").has_value());
  EXPECT_FALSE(AddressPrefix::parse("10.0.0.0/-1").has_value());
  EXPECT_FALSE(AddressPrefix::parse("").has_value());
  EXPECT_FALSE(AddressPrefix::parse(std::string_view("10.0.0.1\0x", 10)).has_value());
}

}  // namespace
}  // namespace roce::analyze

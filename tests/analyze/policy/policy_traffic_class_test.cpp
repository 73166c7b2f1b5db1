// SPDX-License-Identifier: Apache-2.0
// OFED's traffic_class files: what they say of packets, and what their lines do to each other.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analyze/policy/traffic_class_file.hpp"
#include "tests/analyze/policy/policy_support.hpp"

namespace roce::analyze {
namespace {

using dissect::Transport;

TEST(TrafficClassFile, PrecedenceOfTheDriver) {
  // The global value first; rules with both ends; with a destination, the longest first; with a source.
  const MarkingPolicy p = policy_of(
      "tclass=4,src_ip=10.0.0.1\n"
      "tclass=8,dst_ip=10.0.0.0/16\n"
      "tclass=12,dst_ip=10.0.1.0/24\n"
      "tclass=16,src_ip=10.0.0.1,dst_ip=10.0.2.0/24\n"
      "tclass=20,src_ip6=fe80::1,dst_ip6=fe80::2\n");
  const auto expected = [&](const char* src, const char* dst) {
    MarkingSubject s = subject();
    s.src = ip(src);
    s.dst = ip(dst);
    return p.expected(s);
  };
  EXPECT_EQ(expected("10.0.0.1", "10.0.2.5"), "DSCP 4");
  EXPECT_EQ(expected("10.0.0.1", "10.0.1.5"), "DSCP 3");
  EXPECT_EQ(expected("10.0.0.1", "10.0.9.5"), "DSCP 2");
  EXPECT_EQ(expected("10.0.0.1", "10.1.0.1"), "DSCP 1");
  EXPECT_EQ(expected("10.9.0.1", "10.1.0.1"), "");
  EXPECT_EQ(expected("fe80::1", "fe80::2"), "DSCP 5");
  EXPECT_EQ(expected("fe80::1", "fe80::3"), "");
  MarkingSubject s = subject();
  s.dst = ip("10.0.2.5");
  EXPECT_EQ(violations(p, s), "traffic_class[src_ip=10.0.0.1,dst_ip=10.0.2.0/24].dscp: DSCP 4, not DSCP 26");
  s.transport = Transport::roce_v1;  // the driver's rules are for RoCE v2
  EXPECT_EQ(violations(p, s), "");

  const MarkingPolicy global = policy_of("tclass=16,src_ip=10.0.0.1,dst_ip=10.0.0.2\ntclass=106\n");
  s = subject();
  EXPECT_EQ(violations(global, s), "");
  s.marks.ecn = 3;
  EXPECT_EQ(violations(global, s), "");
  s.marks.ecn = 0;
  s.marks.dscp = 4;
  EXPECT_EQ(
      violations(global, s),
      "traffic_class.global.dscp: DSCP 26, not DSCP 4; traffic_class.global.ecn: ECN ECT(0) or CE, not ECN "
      "Not-ECT");
  s.traffic_class = TrafficClass::ack;  // ToS chooses the ECN of data, not of acknowledgements
  EXPECT_EQ(violations(global, s), "traffic_class.global.dscp: DSCP 26, not DSCP 4");
  for (const TrafficClass other : {TrafficClass::cm, TrafficClass::cnp, TrafficClass::other}) {
    s.traffic_class = other;
    EXPECT_EQ(violations(global, s), "");
  }
}

TEST(TrafficClassFile, LaterLinesReplaceAndRemove) {
  const auto rules = [](std::string_view text) {
    TrafficClassLines lines;
    PolicyErrors errors;
    lines.add_file(text, "f", errors);
    EXPECT_EQ(describe_all(errors), "");
    std::string out;
    for (const TrafficClassRule& rule : lines.take()) out += traffic_class_line(rule) + '\n';
    return out;
  };
  EXPECT_EQ(rules("tclass=106\ntclass=104\n"), "tclass=104\n");
  EXPECT_EQ(rules("106\n"), "tclass=106\n");
  EXPECT_EQ(rules("0x6a"), "tclass=106\n");
  EXPECT_EQ(rules("tclass=0152"), "tclass=106\n");  // octal, as the kernel reads it
  EXPECT_EQ(rules("tclass=106\ntclass=-1\n"), "");
  EXPECT_EQ(rules("Global tclass=106\nsrc_ip=1.1.1.2,dst_ip=1.1.1.0/24,tclass=16\n"),  // as the file is read
            "tclass=106\ntclass=16,src_ip=1.1.1.2,dst_ip=1.1.1.0/24\n");
  EXPECT_EQ(rules("tclass=1,dst_ip=1.1.1.0/24\ntclass=2,dst_ip=1.1.1.0/28\n"),
            "tclass=2,dst_ip=1.1.1.0/28\n");
  EXPECT_EQ(rules("tclass=1,dst_ip=1.1.1.0/24\ntclass=-1,dst_ip=1.1.1.0\n"), "");
  EXPECT_EQ(rules("tclass=1,dst_ip=1.1.1.0/24\ntclass=-1,src_ip=1.1.1.0\n"), "tclass=1,dst_ip=1.1.1.0/24\n");
  EXPECT_EQ(rules("tclass=1 , src_ip=1.1.1.1 ,\n"), "tclass=1,src_ip=1.1.1.1\n");
}

TEST(TrafficClassFile, IsBounded) {
  TrafficClassLines lines;
  PolicyErrors errors;
  for (std::size_t i = 0; i <= TrafficClassLines::limit; ++i) {
    EXPECT_TRUE(errors.empty());
    lines.add("tclass=1,src_ip=10.0." + std::to_string(i / 256) + '.' + std::to_string(i % 256), errors);
  }
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(lines.take().size(), TrafficClassLines::limit);
}

TEST(TrafficClassFile, IsToldFromToml) {
  for (const char* text : {"tclass=106", "# x\n\n  tclass=1,src_ip=1.1.1.1", "106\n", "0x6a",
                           "Global tclass=3", "src_ip=1.1.1.1,tclass=3", "\xef\xbb\xbftclass=3"})
    EXPECT_TRUE(is_traffic_class_file(text)) << text;
  for (const char* text :
       {"", "# x", "trust = \"dscp\"", "[class.data]", "traffic_class = \"tclass=1\"", "name=\"x\""})
    EXPECT_FALSE(is_traffic_class_file(text)) << text;
}

TEST(TrafficClassFile, InsideOfAPolicy) {
  const PolicyFiles files{{"dir/tc", "tclass=16,src_ip=10.0.0.1\n"}};
  const auto model = parse_policy(
      "traffic_class = [\"tclass=40,dst_ip=10.0.0.7\"]\ntraffic_class_file = \"tc\"\n[class.data]\ndscp = 26",
      "dir/p.toml", reader_of(files));
  ASSERT_TRUE(model.has_value()) << describe_all(model.error());
  const MarkingPolicy p(*model);
  EXPECT_EQ(violations(p, subject()), "traffic_class[src_ip=10.0.0.1].dscp: DSCP 4, not DSCP 26");
  MarkingSubject s = subject();
  s.src = ip("10.0.0.3");
  EXPECT_EQ(violations(p, s), "");
  s.dst = ip("10.0.0.7");
  EXPECT_EQ(violations(p, s), "traffic_class[dst_ip=10.0.0.7].dscp: DSCP 10, not DSCP 26");
}

}  // namespace
}  // namespace roce::analyze

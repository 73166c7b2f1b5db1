// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "analyze/policy/learn_policy.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "analyze/policy/policy_parser.hpp"
#include "analyze/results/snapshot.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Files that a policy names, in place of the file system.
using PolicyFiles = std::map<std::string, std::string>;

inline ReadPolicyFile reader_of(const PolicyFiles& files) {
  return [&files](const std::string& path) -> tl::expected<std::string, std::string> {
    const auto at = files.find(path);
    if (at == files.end()) return tl::unexpected(std::string("No such file or directory"));
    return at->second;
  };
}

inline std::string describe_all(const PolicyErrors& errors) {
  std::string text;
  for (const PolicyError& error : errors) text += error.describe() + '\n';
  return text;
}

inline MarkingPolicy policy_of(std::string_view text, const PolicyFiles& files = {}) {
  auto model = parse_policy(text, "p.toml", reader_of(files));
  if (!model) ADD_FAILURE() << describe_all(model.error());
  return MarkingPolicy(model ? std::move(*model) : PolicyModel{});
}

inline std::string learned_from(const Snapshot& snapshot) {
  return learn_policy(snapshot.flows, snapshot.flow_points, snapshot.evicted_packets);
}

inline dissect::IpAddress ip(const char* text) {
  const auto prefix = AddressPrefix::parse(text);
  return prefix ? prefix->address() : dissect::IpAddress{};
}

/// RoCE v2 data from 10.0.0.1 to 10.0.0.2, DSCP 26, ECT(0), TTL 64, untagged.
inline MarkingSubject subject(TrafficClass traffic_class = TrafficClass::data) {
  MarkingSubject s;
  s.traffic_class = traffic_class;
  s.src = ip("10.0.0.1");
  s.dst = ip("10.0.0.2");
  s.dst_qp = 0x11;
  s.p_key = 0xffff;
  s.transport = dissect::Transport::roce_v2_ipv4;
  s.marks.dscp = 26;
  s.marks.ecn = 2;
  s.marks.ttl = 64;
  return s;
}

/// "class.data.dscp: DSCP 26, not DSCP 0", joined by "; ".
inline std::string violations(const MarkingPolicy& policy, const MarkingSubject& s) {
  std::string text;
  for (const Violation& b : policy.judge(s)) {
    if (!text.empty()) text += "; ";
    text += std::string(b.key) + ": " + b.expected + ", not " + b.found;
  }
  EXPECT_EQ(policy.test(s).broken(), !text.empty());
  return text;
}

}  // namespace roce::analyze

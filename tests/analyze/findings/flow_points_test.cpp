// SPDX-License-Identifier: Apache-2.0
// Captures of several points: what each of them shows of a flow, and what is re-marked on the way between
// them.
#include "analyze/flow/flow_points.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "analyze/pipeline/analysis.hpp"
#include "analyze/policy/learn_policy.hpp"
#include "tests/analyze/findings/findings_support.hpp"
#include "tests/analyze/pipeline/memory_source.hpp"
#include "tests/analyze/policy/policy_support.hpp"

namespace roce::analyze {
namespace flow_points_test {
namespace {

constexpr std::uint8_t designed = 26U << 2U | 2U;  // ECT(0)
constexpr std::size_t tos_at = 15, ttl_at = 22, checksum_at = 24, source_at = 26, opcode_at = 42;
constexpr std::uint8_t acknowledge = 0x11;
using Bytes = std::vector<std::uint8_t>;

/// The IPv4 header's checksum as it must be.
void mend_checksum(Bytes& frame) {
  frame[checksum_at] = frame[checksum_at + 1] = 0;
  unsigned sum = 0;
  for (std::size_t i = 14; i < 34; i += 2) sum += static_cast<unsigned>(frame[i] << 8U | frame[i + 1]);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16U);
  frame[checksum_at] = static_cast<std::uint8_t>(~sum >> 8U & 0xffU);
  frame[checksum_at + 1] = static_cast<std::uint8_t>(~sum & 0xffU);
}

bool is_data(const Bytes& frame) {
  return frame[opcode_at] != acknowledge;
}

/// One traffic at two interfaces of a file; `change` is what happens to frames before the second one.
class TwoPoints {
 public:
  explicit TwoPoints(const std::function<void(Bytes&)>& change, std::size_t packets = 200) {
    source_.interfaces_.resize(2);
    source_.interfaces_[0].name = "eth0";
    source_.interfaces_[1] = source_.interfaces_[0];
    source_.interfaces_[1].name = "eth1";
    source_.interfaces_[1].point = 1;
    support::TrafficOptions traffic;
    traffic.gap = 10'000;
    support::TrafficGenerator generator(traffic);
    for (std::size_t i = 0; i < packets; ++i) {
      const support::GeneratedFrame made = generator.next();
      Bytes frame(made.bytes.begin(), made.bytes.end());
      const auto time = static_cast<std::int64_t>(made.time);
      if (first_source_.empty())
        first_source_.assign(frame.begin() + source_at, frame.begin() + source_at + 4);
      const bool there = std::equal(first_source_.begin(), first_source_.end(), frame.begin() + source_at);
      Bytes changed = frame;
      change(changed);
      mend_checksum(changed);
      // What goes to the second interface comes there later, what comes from there earlier.
      add(there ? frame : changed, time, there ? 0 : 1);
      add(there ? changed : frame, time + 2000, there ? 1 : 0);
    }
    for (auto& interface : source_.interfaces_) interface.packets = packets;
  }

  const Snapshot& look(std::string_view policy = {}) {
    if (snapshot_) return *snapshot_;
    AnalysisOptions options;
    options.jobs = 1;
    if (!policy.empty()) options.policy = std::make_shared<MarkingPolicy>(policy_of(policy));
    snapshot_ = analyze(source_, options);
    return *snapshot_;
  }
  std::vector<Finding> run(std::string_view id) {
    std::vector<Finding> found;
    for (const Finding& finding : look().findings) {
      if (finding.id != id) continue;
      expect_well_said(finding, *find_rule(id));
      found.push_back(finding);
    }
    return found;
  }

 private:
  void add(const Bytes& frame, std::int64_t time, std::uint16_t point) {
    source_.add(frame, time);
    source_.frames_.back().point = point;
    source_.frames_.back().interface = point;
  }

  MemorySource source_;
  Bytes first_source_;
  std::shared_ptr<const Snapshot> snapshot_;
};

TEST(FlowPoints, EachPointIsCounted) {
  TwoPoints same([](Bytes&) {});
  const Snapshot& s = same.look();
  ASSERT_EQ(s.flows.size(), 2U);
  ASSERT_EQ(s.flow_points.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(s.flow_points[i].flow, i / 2);
    EXPECT_EQ(s.flow_points[i].point, i % 2);
    EXPECT_EQ(s.flow_points[i].packets, s.flows[i / 2].packets);
    EXPECT_TRUE(s.flow_points[i].otherwise.empty());
  }
  EXPECT_TRUE(same.run("marking_between_points").empty());
}

TEST(FlowPoints, OnePointNeedsNone) {
  MemorySource source;
  source.add_traffic({}, 100);
  AnalysisOptions options;
  options.jobs = 1;
  EXPECT_TRUE(analyze(source, options)->flow_points.empty());
}

TEST(FlowPoints, AreBounded) {
  FlowPoints points(2);
  PacketRecord r;
  r.flags = PacketRecord::valid | PacketRecord::selected;
  for (std::uint32_t qp = 1; qp <= 3; ++qp) {
    r.key.dst_qp = qp;
    points.see(r, qp);
  }
  EXPECT_EQ(points.dropped(), 1U);
}

TEST(MarkingBetweenPointsFinding, Trigger) {
  TwoPoints remarked([](Bytes& frame) {
    if (is_data(frame)) frame[tos_at] = 0;
  });
  const Snapshot& s = remarked.look();
  const auto found = remarked.run("marking_between_points");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, s.flows[0].packets);
  EXPECT_EQ(found[0].packets, std::vector<std::uint64_t>{2});
  EXPECT_TRUE(says(found[0], "is marked DSCP 0, Not-ECT there, but DSCP 26, ECT(0) at memory eth0") ||
              says(found[0], "are marked DSCP 0, Not-ECT there, but DSCP 26, ECT(0) at memory eth0"))
      << found[0].explanation;
  EXPECT_TRUE(remarked.run("marking_changes").empty());
}

TEST(MarkingBetweenPointsFinding, TriggerEcnCleared) {
  TwoPoints cleared([](Bytes& frame) { frame[tos_at] &= 0xfc; });
  EXPECT_EQ(cleared.run("marking_between_points").size(), 2U);  // each direction
}

TEST(MarkingBetweenPointsFinding, NearMiss) {
  TwoPoints hop([](Bytes& frame) { --frame[ttl_at]; });
  EXPECT_FALSE(hop.look().flow_points[1].otherwise.empty() && hop.look().flow_points[0].otherwise.empty());
  EXPECT_TRUE(hop.run("marking_between_points").empty());
  TwoPoints congested([](Bytes& frame) { frame[tos_at] |= 3; });
  EXPECT_TRUE(congested.run("marking_between_points").empty());
}

// A capture passes only if all its points show what the policy wants.
TEST(FlowPoints, APolicyJudgesTheCopiesToo) {
  constexpr std::string_view policy = "[class.data]\ndscp = 26\nttl = 64\n[class.ack]\ndscp = 26\n";
  TwoPoints remarked([](Bytes& frame) {
    if (is_data(frame)) frame[tos_at] = 0;
    --frame[ttl_at];
  });
  const Snapshot& s = remarked.look(policy);
  const auto found = remarked.run("policy_dscp");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, s.flows[0].packets);
  EXPECT_TRUE(
      says(found[0], "at capture point memory eth1, where they are copies that were re-marked on the path"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "show DSCP 0, expected DSCP 26")) << found[0].explanation;
  EXPECT_TRUE(remarked.run("policy_ttl").empty());  // one less is a router's
}

TEST(FlowPoints, ALearnedPolicyAllowsWhatCopiesShow) {
  const auto remark = [](Bytes& frame) {
    if (is_data(frame)) frame[tos_at] = 0;
    --frame[ttl_at];
  };
  TwoPoints good(remark);
  const std::string learned = learned_from(good.look());
  TwoPoints again(remark);
  again.look(learned);
  for (const Finding& finding : again.look().findings)
    EXPECT_FALSE(finding.id.starts_with("policy_")) << finding.id;
}

// What was sent wrongly is wrong at every point, and told once.
TEST(FlowPoints, AWrongSenderIsToldOnce) {
  constexpr std::string_view policy = "[class.data]\ndscp = 24\n";
  TwoPoints hop([](Bytes& frame) { --frame[ttl_at]; });
  hop.look(policy);
  const auto found = hop.run("policy_dscp");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(says(found[0], "capture point")) << found[0].explanation;
}

TEST(FlowPoints, MarksOfTheNetworkAtAnotherPoint) {
  TwoPoints congested([](Bytes& frame) {
    if (is_data(frame)) frame[tos_at] = designed | 3U;
  });
  const Snapshot& s = congested.look();
  EXPECT_EQ(s.congestion.ce_packets, 0U);
  EXPECT_EQ(ce_copies(s), s.flows[0].packets);
  EXPECT_EQ(ce_copies(s, 0), s.flows[0].packets);
  EXPECT_EQ(ce_copies(s, 1), 0U);
  const auto found = congested.run("ce_without_cnp");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, s.flows[0].packets);
  EXPECT_TRUE(says(found[0], "marked CE by the network on the way to memory eth1")) << found[0].explanation;
}

}  // namespace
}  // namespace flow_points_test
}  // namespace roce::analyze

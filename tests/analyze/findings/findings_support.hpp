// SPDX-License-Identifier: Apache-2.0
// Snapshots made by hand, for the rules.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/filter/filter.hpp"
#include "analyze/results/finding.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

inline constexpr std::int64_t test_second = 1'000'000'000;

[[nodiscard]] inline dissect::IpAddress host(unsigned n) {
  const std::uint8_t bytes[] = {10, 0, static_cast<std::uint8_t>(n >> 8U), static_cast<std::uint8_t>(n)};
  return dissect::IpAddress::v4(bytes);
}

/// Every -Y '...' in a text must be a filter that compiles.
inline void expect_filters(const std::string& text) {
  constexpr std::string_view option = "-Y '";
  for (std::size_t at = text.find(option); at != std::string::npos; at = text.find(option, at + 1)) {
    const std::size_t begin = at + option.size();
    const std::string filter = text.substr(begin, text.find('\'', begin) - begin);
    const auto compiled = Filter::compile(filter);
    EXPECT_TRUE(compiled) << (compiled ? std::string() : compiled.error().describe(filter));
  }
}

/// What every finding must have.
inline void expect_well_said(const Finding& f, const FindingRule& rule) {
  EXPECT_EQ(f.id, rule.id);
  EXPECT_LE(f.severity, rule.severity) << f.explanation;
  EXPECT_FALSE(f.subject.empty());
  EXPECT_FALSE(f.packets.empty());
  EXPECT_LE(f.packets.size(), 10U);
  EXPECT_GT(f.count, 0U) << f.explanation;
  EXPECT_GE(f.confidence, 0.0);
  EXPECT_LE(f.confidence, 1.0);
  for (const std::string& text : {f.explanation, f.advice}) {
    expect_filters(text);
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find("  "), std::string::npos) << text;
    EXPECT_EQ(text.find(".."), std::string::npos) << text;
    EXPECT_EQ(text.find(" ."), std::string::npos) << text;
    EXPECT_NE(text.back(), ' ') << text;
    EXPECT_TRUE(text.front() < 'a' || text.front() > 'z') << text;
  }
}

/// A snapshot with flows and connections of ten thousand packets a direction in ten seconds, all well.
class SnapshotMaker {
 public:
  /// References to the first so many connections, exchanges and flows stay.
  static constexpr std::size_t stable = 1024;

  SnapshotMaker() {
    snapshot.connections.reserve(stable);
    snapshot.exchanges.reserve(stable);
    snapshot.flows.reserve(stable);
    snapshot.totals.packets = snapshot.frames_read = 1'000'000;
    snapshot.totals.any_time = true;
    snapshot.totals.first_time_ns = 0;
    snapshot.totals.last_time_ns = 10 * test_second;
  }

  /// An RC connection from host a to host b, both directions captured.
  Connection& connect(unsigned a, unsigned b, dissect::Service service = dissect::Service::rc) {
    const auto id = static_cast<std::uint32_t>(snapshot.connections.size());
    Connection& c = snapshot.connections.emplace_back();
    c.id = id;
    c.service = service;
    c.transport = dissect::Transport::roce_v2_ipv4;
    c.ends[0] = {host(a), 0x100 + id};
    c.ends[1] = {host(b), 0x200 + id};
    c.state = Connection::State::open;
    c.pmtu = 1024;
    c.first_time_ns = 0;
    c.last_time_ns = 10 * test_second;
    c.first_frame = 1 + id;
    c.packets = {10'000, 10'000};
    c.bytes = {10'000'000, 800'000};
    c.pairing.confidence = 1;
    c.pairing.answered = 10'000;
    Requester& r = c.requester[0];
    r.seen = true;
    r.requests = 10'000;
    r.acks = 10'000;
    r.new_bytes = 9'000'000;
    r.last_time_ns = c.last_time_ns;
    c.flow[0] = flow(a, b, 0x200 + id, service, id);
    c.flow[1] = flow(b, a, 0x100 + id, service, id);
    return c;
  }

  /// The same with one direction only: what host a sent.
  Connection& connect_half(unsigned a, unsigned b, dissect::Service service = dissect::Service::rc) {
    Connection& c = connect(a, b, service);
    snapshot.flows.pop_back();
    c.flow[1].reset();
    c.packets[1] = c.bytes[1] = 0;
    c.pairing = {};
    c.ends[0].qp.reset();
    c.state = Connection::State::half_seen;
    c.requester[0].acks = 0;
    return c;
  }

  std::uint64_t flow(unsigned src, unsigned dst, std::uint32_t qp, dissect::Service service,
                     std::optional<std::uint32_t> connection = std::nullopt) {
    Flow f;
    f.id = snapshot.flows.size();
    f.key.src = host(src);
    f.key.dst = host(dst);
    f.key.dst_qp = qp;
    f.key.transport = dissect::Transport::roce_v2_ipv4;
    f.service = service;
    f.service_known = true;
    f.packets = 10'000;
    f.bytes = 1'000'000;
    f.any_time = true;
    f.last_time_ns = 10 * test_second;
    f.connection = connection;
    f.source_mac = 0x020000000000U + src;
    snapshot.flows.push_back(std::move(f));
    return snapshot.flows.back().id;
  }

  /// What the rule of that id says, most severe first. Every finding is checked for what all must have.
  [[nodiscard]] std::vector<Finding> run(std::string_view id) const {
    const FindingRule* rule = find_rule(id);
    if (rule == nullptr) {
      ADD_FAILURE() << "no rule " << id;
      return {};
    }
    FindingSink sink;
    sink.begin(*rule);
    rule->find(snapshot, sink);
    std::vector<Finding> found = sink.take_sorted();
    for (const Finding& f : found) expect_well_said(f, *rule);
    return found;
  }

  Snapshot snapshot;
};

inline void happen(Events& events, Event event, std::uint64_t times, std::uint64_t first_frame = 100) {
  for (std::uint64_t i = 0; i < times; ++i) {
    events.add(event, first_frame + 10 * i, static_cast<std::int64_t>(first_frame + 10 * i) * 1000);
  }
}

inline bool says(const Finding& finding, std::string_view words) {
  return finding.explanation.find(words) != std::string::npos ||
         finding.advice.find(words) != std::string::npos;
}

}  // namespace roce::analyze

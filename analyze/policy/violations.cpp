// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/violations.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/flow/mark_times.hpp"
#include "analyze/policy/subject.hpp"
#include "capture/core/frame.hpp"

namespace roce::analyze {
namespace {

constexpr std::size_t most_values = 256;  // distinguished per rule; packets with further ones are counted

struct Entry {
  RuleViolation violation;
  std::map<std::string, std::uint64_t> found;
};

void keep_first(std::vector<std::uint64_t>& packets, std::uint64_t packet) {
  const auto at = std::lower_bound(packets.begin(), packets.end(), packet);
  if (at != packets.end() && *at == packet) return;
  packets.insert(at, packet);
  if (packets.size() > RuleViolation::named) packets.pop_back();
}

void add_time(RuleViolation& violation, std::int64_t time_ns) {
  if (time_ns == capture::no_time) return;
  violation.first_time_ns = std::min(violation.first_time_ns.value_or(time_ns), time_ns);
  violation.last_time_ns = std::max(violation.last_time_ns.value_or(time_ns), time_ns);
}

void add_flow(RuleViolation& violation, std::uint64_t flow, const MarkRow& row) {
  const auto known =
      std::find_if(violation.flows.begin(), violation.flows.end(),
                   [flow](const RuleViolation::FlowViolation& each) { return each.flow == flow; });
  if (known != violation.flows.end()) {
    known->packets += row.packets;
    known->first_packet = std::min(known->first_packet, row.first_packet);
    return;
  }
  if (violation.flows.size() < RuleViolation::named)
    violation.flows.push_back({flow, row.packets, row.first_packet});
}

void add_found(Entry& entry, std::string text, std::uint64_t packets) {
  const auto at = entry.found.find(text);
  if (at != entry.found.end()) {
    at->second += packets;
  } else if (entry.found.size() < most_values) {
    entry.found.emplace(std::move(text), packets);
  } else {
    entry.violation.found_otherwise += packets;
  }
}

/// Keeps the most frequent values and the sum of the rest.
void choose_found(Entry& entry) {
  std::vector<RuleViolation::Found>& found = entry.violation.found;
  for (auto& [text, packets] : entry.found) found.push_back({text, packets});
  std::stable_sort(
      found.begin(), found.end(),
      [](const RuleViolation::Found& a, const RuleViolation::Found& b) { return a.packets > b.packets; });
  while (found.size() > RuleViolation::named) {
    entry.violation.found_otherwise += found.back().packets;
    found.pop_back();
  }
}

/// Sets the row's verdict; of several flows in it, the first violation is kept.
void judge_cell(const MarkingPolicy& policy, const MarkingSubject& subject,
                const std::vector<Violation>& broken, Marking& cell) {
  constexpr std::string_view ok = "ok", violation = "violation";
  if (cell.verdict == violation || (broken.empty() && cell.verdict == ok)) return;
  std::string expected = policy.expected(subject);
  for (const Violation& each : broken) {
    if (expected.find(each.expected) != std::string::npos) continue;
    expected += (expected.empty() ? "" : ", ") + each.expected;
  }
  if (expected.empty()) return;
  cell.expected = std::move(expected);
  cell.verdict = broken.empty() ? ok : violation;
}

/// Violations by point, check and key.
class Entries {
 public:
  explicit Entries(std::optional<std::uint16_t> point = std::nullopt) : point_(point) {}

  void begin_flow() { of_flow_.clear(); }
  void add(const Flow& flow, const MarkRow& row, const MarkingSubject& subject, Violation&& violation) {
    const auto [at, fresh] = entries_.try_emplace({violation.check, violation.key});
    RuleViolation& rule = at->second.violation;
    if (fresh || row.first_packet < rule.first_packets.front()) {
      rule.check = violation.check;
      rule.point = point_;
      rule.key = violation.key;
      rule.expected = std::move(violation.expected);
      rule.example = subject;
    }
    rule.packets += row.packets;
    keep_first(rule.first_packets, row.first_packet);
    add_time(rule, row.first_time_ns);
    add_time(rule, latest_time(flow, row));
    add_flow(rule, flow.id, row);
    add_found(at->second, std::move(violation.found), row.packets);
    if (std::find(of_flow_.begin(), of_flow_.end(), &rule) == of_flow_.end()) {
      of_flow_.push_back(&rule);
      const auto meet = [&](std::optional<dissect::IpAddress>& common, const dissect::IpAddress& address) {
        if (rule.flow_count == 0) {
          common = address;
        } else if (common != address) {
          common.reset();
        }
      };
      meet(rule.sender, flow.key.src);
      meet(rule.receiver, flow.key.dst);
      ++rule.flow_count;
    }
  }
  void move_to(std::vector<RuleViolation>& violations) {
    for (auto& [key, entry] : entries_) {
      choose_found(entry);
      violations.push_back(std::move(entry.violation));
    }
  }

 private:
  std::optional<std::uint16_t> point_;
  std::map<std::pair<MarkCheck, std::string_view>, Entry> entries_;
  std::vector<RuleViolation*> of_flow_;
};

/// Whether the flow's own packets of that class have the same values for the check. Also true for checks that
/// do not apply at other points: tag and TTL differ from link to link.
bool is_own(const std::vector<MarkRow>& own, const MarkRow& row, MarkCheck check, Trust trust) {
  const auto any = [&](auto&& alike) {
    return std::any_of(own.begin(), own.end(), [&](const MarkRow& known) {
      return known.traffic_class == row.traffic_class && alike(known.marks, row.marks);
    });
  };
  switch (check) {
    case MarkCheck::dscp:
      return any([](const Marks& a, const Marks& b) { return a.dscp == b.dscp; });
    case MarkCheck::ecn:
      return any([](const Marks& a, const Marks& b) { return a.ecn == b.ecn; });
    case MarkCheck::pcp:
      return any([](const Marks& a, const Marks& b) { return a.pcp == b.pcp; });
    case MarkCheck::priority:
    case MarkCheck::lossless:
      if (trust == Trust::dscp) return any([](const Marks& a, const Marks& b) { return a.dscp == b.dscp; });
      return !row.marks.pcp || any([](const Marks& a, const Marks& b) { return a.pcp == b.pcp; });
    case MarkCheck::pcp_from_tos:
    case MarkCheck::pcp_from_dscp:
      return any([](const Marks& a, const Marks& b) { return a.dscp == b.dscp && a.pcp == b.pcp; });
    default:
      return true;
  }
}

}  // namespace

std::vector<RuleViolation> find_violations(const MarkingPolicy& policy, const std::vector<Flow>& flows,
                                           MarkingMatrix& matrix) {
  Entries entries;
  for (const Flow& flow : flows) {
    entries.begin_flow();
    for (const MarkRow& row : flow.marks()) {
      if (row.packets == 0) continue;
      const MarkingSubject subject = subject_of(flow.key, row);
      std::vector<Violation> broken;
      if (policy.test(subject).broken()) broken = policy.judge(subject);
      if (Marking* cell = matrix.find(flow, row)) judge_cell(policy, subject, broken, *cell);
      for (Violation& violation : broken) entries.add(flow, row, subject, std::move(violation));
    }
  }
  std::vector<RuleViolation> violations;
  entries.move_to(violations);
  return violations;
}

std::vector<RuleViolation> find_violations_elsewhere(const MarkingPolicy& policy,
                                                     const std::vector<Flow>& flows,
                                                     const std::vector<FlowAtPoint>& flow_points) {
  std::map<std::uint16_t, Entries> by_point;
  for (const FlowAtPoint& there : flow_points) {
    const auto flow =
        std::lower_bound(flows.begin(), flows.end(), there.flow,
                         [](const Flow& each, std::uint64_t wanted) { return each.id < wanted; });
    if (flow == flows.end() || flow->id != there.flow || there.otherwise.empty()) continue;
    Entries& entries = by_point.try_emplace(there.point, there.point).first->second;
    entries.begin_flow();
    const std::vector<MarkRow> own = flow->marks();
    for (const MarkRow& row : there.otherwise) {
      const MarkingSubject subject = subject_of(flow->key, row);
      if (!policy.test(subject).broken()) continue;
      for (Violation& violation : policy.judge(subject)) {
        if (!is_own(own, row, violation.check, policy.model().trust))
          entries.add(*flow, row, subject, std::move(violation));
      }
    }
  }
  std::vector<RuleViolation> violations;
  for (auto& [point, entries] : by_point) entries.move_to(violations);
  return violations;
}

}  // namespace roce::analyze

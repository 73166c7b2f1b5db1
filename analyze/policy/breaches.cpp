// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/breaches.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/policy/subject.hpp"
#include "capture/frame.hpp"

namespace roce::analyze {
namespace {

constexpr std::size_t most_values = 256;  // told apart of one rule; what is beyond is counted

struct Entry {
  RuleBreach breach;
  std::map<std::string, std::uint64_t> found;
};

void keep_first(std::vector<std::uint64_t>& packets, std::uint64_t packet) {
  const auto at = std::lower_bound(packets.begin(), packets.end(), packet);
  if (at != packets.end() && *at == packet) return;
  packets.insert(at, packet);
  if (packets.size() > RuleBreach::named) packets.pop_back();
}

void add_time(RuleBreach& breach, std::int64_t time_ns) {
  if (time_ns == capture::no_time) return;
  breach.first_time_ns = std::min(breach.first_time_ns.value_or(time_ns), time_ns);
  breach.last_time_ns = std::max(breach.last_time_ns.value_or(time_ns), time_ns);
}

void add_flow(RuleBreach& breach, std::uint64_t flow, const MarkRow& row) {
  const auto known = std::find_if(breach.flows.begin(), breach.flows.end(),
                                  [flow](const RuleBreach::FlowBreach& each) { return each.flow == flow; });
  if (known != breach.flows.end()) {
    known->packets += row.packets;
    known->first_packet = std::min(known->first_packet, row.first_packet);
    return;
  }
  if (breach.flows.size() < RuleBreach::named) breach.flows.push_back({flow, row.packets, row.first_packet});
}

void add_found(Entry& entry, std::string text, std::uint64_t packets) {
  const auto at = entry.found.find(text);
  if (at != entry.found.end()) {
    at->second += packets;
  } else if (entry.found.size() < most_values) {
    entry.found.emplace(std::move(text), packets);
  } else {
    entry.breach.found_otherwise += packets;
  }
}

/// The most frequent values, and the sum of the rest.
void choose_found(Entry& entry) {
  std::vector<RuleBreach::Found>& found = entry.breach.found;
  for (auto& [text, packets] : entry.found) found.push_back({text, packets});
  std::stable_sort(found.begin(), found.end(), [](const RuleBreach::Found& a, const RuleBreach::Found& b) {
    return a.packets > b.packets;
  });
  while (found.size() > RuleBreach::named) {
    entry.breach.found_otherwise += found.back().packets;
    found.pop_back();
  }
}

/// Of several rules that a cell breaks, or of several flows in it, what the first violation was.
void judge_cell(const MarkingPolicy& policy, const MarkingSubject& subject, const std::vector<Breach>& broken,
                Marking& cell) {
  constexpr std::string_view ok = "ok", violation = "violation";
  if (cell.verdict == violation || (broken.empty() && cell.verdict == ok)) return;
  std::string expected = policy.expected(subject);
  for (const Breach& breach : broken) {
    if (expected.find(breach.expected) != std::string::npos) continue;
    expected += (expected.empty() ? "" : ", ") + breach.expected;
  }
  if (expected.empty()) return;
  cell.expected = std::move(expected);
  cell.verdict = broken.empty() ? ok : violation;
}

}  // namespace

std::vector<RuleBreach> find_breaches(const MarkingPolicy& policy, const std::vector<Flow>& flows,
                                      MarkingMatrix& matrix) {
  std::map<std::pair<MarkCheck, std::string_view>, Entry> entries;
  for (const Flow& flow : flows) {
    std::vector<RuleBreach*> of_flow;
    for (const MarkRow& row : flow.marks()) {
      if (row.packets == 0) continue;
      const MarkingSubject subject = subject_of(flow.key, row);
      std::vector<Breach> broken;
      if (policy.test(subject).broken()) broken = policy.judge(subject);
      if (Marking* cell = matrix.find(flow, row)) judge_cell(policy, subject, broken, *cell);
      for (Breach& breach : broken) {
        const auto [at, fresh] = entries.try_emplace({breach.check, breach.key});
        RuleBreach& rule = at->second.breach;
        if (fresh || row.first_packet < rule.first_packets.front()) {
          rule.check = breach.check;
          rule.key = breach.key;
          rule.expected = std::move(breach.expected);
          rule.example = subject;
        }
        rule.packets += row.packets;
        keep_first(rule.first_packets, row.first_packet);
        add_time(rule, row.first_time_ns);
        add_flow(rule, flow.id, row);
        add_found(at->second, std::move(breach.found), row.packets);
        if (std::find(of_flow.begin(), of_flow.end(), &rule) == of_flow.end()) {
          of_flow.push_back(&rule);
          ++rule.flow_count;
        }
      }
    }
  }
  std::vector<RuleBreach> breaches;
  for (auto& [key, entry] : entries) {
    choose_found(entry);
    breaches.push_back(std::move(entry.breach));
  }
  return breaches;
}

}  // namespace roce::analyze

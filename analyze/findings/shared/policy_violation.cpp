// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/policy_violation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/commands.hpp"
#include "analyze/findings/shared/marked_traffic.hpp"
#include "analyze/findings/shared/texts.hpp"
#include "analyze/policy/traffic_class_file.hpp"
#include "analyze/results/capture_point_text.hpp"

namespace roce::analyze {
namespace {

const Flow* violating_flow(const Snapshot& snapshot, std::uint64_t id) {
  // Sorted by id; evicted flows are missing.
  const auto at = std::lower_bound(snapshot.flows.begin(), snapshot.flows.end(), id,
                                   [](const Flow& flow, std::uint64_t wanted) { return flow.id < wanted; });
  return at != snapshot.flows.end() && at->id == id ? &*at : nullptr;
}

std::string flow_text(const Flow& flow) {
  return fmt::format("{} > {} QP {:#08x}", address_text(flow.key.src), address_text(flow.key.dst),
                     flow.key.dst_qp);
}

std::string subject_of_violation(const Snapshot& snapshot, const RuleViolation& violation) {
  const Flow* first = violating_flow(snapshot, violation.flows.front().flow);
  if (first == nullptr) return "a flow";
  if (violation.flow_count == 1) return flow_text(*first);
  const bool from_one = violation.flow_count == violation.flows.size() &&
                        std::all_of(violation.flows.begin(), violation.flows.end(), [&](const auto& each) {
                          const Flow* flow = violating_flow(snapshot, each.flow);
                          return flow != nullptr && flow->key.src == first->key.src;
                        });
  if (from_one) return fmt::format("{} ({} flows)", address_text(first->key.src), violation.flow_count);
  return fmt::format("{} flows", violation.flow_count);
}

/// "DSCP 0 (17), DSCP 24 (3) and others (1)"; without numbers where there is one.
std::string found_list(const RuleViolation& violation) {
  if (violation.found.size() == 1 && violation.found_otherwise == 0) return violation.found.front().text;
  std::string text;
  for (const RuleViolation::Found& found : violation.found)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", found.text, found.packets);
  if (violation.found_otherwise != 0) text += fmt::format(" and others ({})", violation.found_otherwise);
  return text;
}

std::string_view class_words(TrafficClass traffic_class) {
  switch (traffic_class) {
    case TrafficClass::ack:
      return "ACK";
    case TrafficClass::cnp:
      return "CNP";
    case TrafficClass::cm:
      return "CM";
    default:
      return traffic_class_name(traffic_class);
  }
}

/// "10.0.0.1 → 10.0.0.2: 80 data packets of 2 flows show DSCP 48, expected DSCP 26 (class.data.dscp)"
std::string violation_sentence(const RuleViolation& violation, const std::string& where) {
  const auto who = [](const std::optional<dissect::IpAddress>& host) {
    return host ? address_text(*host) : std::string("several hosts");
  };
  return fmt::format("{} → {}: {} {} of {}{} {} {}, expected {} ({})", who(violation.sender),
                     who(violation.receiver), violation.packets,
                     fmt::format("{} {}", class_words(violation.example.traffic_class),
                                 violation.packets == 1 ? "packet" : "packets"),
                     plural(violation.flow_count, "flow", "flows"), where,
                     verb(violation.packets, "shows", "show"), found_list(violation), violation.expected,
                     violation.key);
}

std::string flow_list(const Snapshot& snapshot, const RuleViolation& violation) {
  std::string text;
  for (const RuleViolation::FlowViolation& each : violation.flows) {
    const Flow* flow = violating_flow(snapshot, each.flow);
    text += fmt::format("{}flow {} ({}, {} from packet {})", text.empty() ? "" : "; ", each.flow,
                        flow != nullptr ? flow_text(*flow) : std::string("gone"), packets_text(each.packets),
                        each.first_packet);
  }
  if (violation.flow_count > violation.flows.size())
    text +=
        fmt::format("; and {} more", plural(violation.flow_count - violation.flows.size(), "flow", "flows"));
  return text;
}

std::string show_violation(const Snapshot& snapshot, const RuleViolation& violation) {
  std::string test = fmt::format("roce.marking.violation == \"{}\"", violation.key);
  if (violation.point) {
    return "All copies that violate it: " +
           packets_command(snapshot, without_damaged(snapshot, test + " && roce.analysis.duplicate_capture"));
  }
  const bool copies = std::any_of(snapshot.flows.begin(), snapshot.flows.end(),
                                  [](const Flow& flow) { return flow.sequence().duplicate_captures != 0; });
  if (copies) test += " && !roce.analysis.duplicate_capture";
  return "The packets: " + packets_command(snapshot, without_damaged(snapshot, std::move(test)));
}

void add_connections(const Snapshot& snapshot, const RuleViolation& violation, Finding& finding) {
  std::set<std::uint32_t> ids;
  for (const RuleViolation::FlowViolation& each : violation.flows) {
    const Flow* flow = violating_flow(snapshot, each.flow);
    if (flow != nullptr && flow->connection) ids.insert(*flow->connection);
  }
  finding.connections.assign(ids.begin(), ids.end());
}

}  // namespace

void report_violations(const Snapshot& snapshot, FindingSink& sink, std::initializer_list<MarkCheck> checks,
                       Severity severity, PolicyAdvice advice) {
  if (!snapshot.policy) return;
  const std::string& name = snapshot.policy->name();
  for (const RuleViolation& violation : snapshot.violations) {
    if (std::find(checks.begin(), checks.end(), violation.check) == checks.end()) continue;
    Finding finding;
    finding.severity = severity;
    finding.subject = subject_of_violation(snapshot, violation);
    finding.count = violation.packets;
    finding.packets = violation.first_packets;
    finding.first_time_ns = violation.first_time_ns;
    finding.last_time_ns = violation.last_time_ns;
    add_connections(snapshot, violation, finding);
    finding.from = violation.sender;
    finding.to = violation.receiver;
    std::string where;
    if (violation.point) {
      const std::string point = point_name(snapshot.files, snapshot.interfaces, *violation.point);
      finding.subject += " at " + point;
      where =
          fmt::format(" at capture point {}, where they are copies that were re-marked on the path,", point);
    }
    finding.sentence = violation_sentence(violation, where);
    finding.explanation =
        fmt::format("Rule {} of the policy{}{}: {} of {}{} {} {}, expected {}. {} {}.", violation.key,
                    name.empty() ? "" : " ", name, packets_text(violation.packets),
                    plural(violation.flow_count, "flow", "flows"), where,
                    verb(violation.packets, "shows", "show"), found_list(violation), violation.expected,
                    violation.flow_count == 1 ? "It is" : "They are", flow_list(snapshot, violation));
    finding.advice = fmt::format("{} {}", advice(snapshot.policy->model(), violation),
                                 show_violation(snapshot, violation));
    sink.add(std::move(finding));
  }
}

MarkRule wanted_marks(const PolicyModel& policy, const RuleViolation& violation) {
  MarkRule marks;
  const auto fill = [](auto& to, const auto& from) {
    if (!to) to = from;
  };
  const auto fill_all = [&](const MarkRule& from) {
    fill(marks.dscp, from.dscp);
    fill(marks.ecn, from.ecn);
    fill(marks.pcp, from.pcp);
    fill(marks.vlan, from.vlan);
    fill(marks.ttl, from.ttl);
    fill(marks.priority, from.priority);
    fill(marks.lossless, from.lossless);
  };
  // The key names the rule.
  for (const FlowRule& rule : policy.rules) {
    if (violation.key.starts_with("rule." + rule.name + '.')) fill_all(rule.marks);
  }
  for (const TrafficClassRule& rule : policy.traffic_class) {
    std::string line = traffic_class_line(rule);
    line.erase(0, std::min(line.find(','), line.size() - 1) + 1);
    const std::string owner = rule.src || rule.dst ? "traffic_class[" + line + "]." : "traffic_class.global.";
    if (!violation.key.starts_with(owner)) continue;
    MarkRule from;
    from.dscp.emplace().add(rule.tos >> 2U);
    if ((rule.tos & 3U) != 0) from.ecn.emplace().add(rule.tos & 3U);
    fill_all(from);
  }
  const auto& own = policy.classes[static_cast<std::size_t>(violation.example.traffic_class)];
  const auto& data = policy.classes[static_cast<std::size_t>(TrafficClass::data)];
  if (own) {
    fill_all(*own);
  } else if (violation.example.traffic_class == TrafficClass::response && data) {
    fill_all(*data);
  }
  return marks;
}

std::string pfc_list(const PolicyModel& policy) {
  std::string text;
  for (unsigned priority = 0; priority < PrioritySet::limit; ++priority) {
    const bool lossless = policy.lossless && policy.lossless->contains(priority);
    text += fmt::format("{}{}", text.empty() ? "" : ",", lossless ? 1 : 0);
  }
  return text;
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/marking_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyze/policy/traffic_class_file.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

using dissect::Transport;

constexpr auto ce = static_cast<std::size_t>(dissect::Ecn::ce);

/// Behind the rule's name in a key; the last ones belong to the policy as a whole.
constexpr EnumNames<MarkCheck, mark_check_count> check_names({
    {MarkCheck::dscp, "dscp"},
    {MarkCheck::ecn, "ecn"},
    {MarkCheck::pcp, "pcp"},
    {MarkCheck::vlan, "vlan"},
    {MarkCheck::ttl, "ttl"},
    {MarkCheck::priority, "priority"},
    {MarkCheck::lossless, "lossless"},
    {MarkCheck::pcp_from_tos, "checks.pcp_from_tos"},
    {MarkCheck::pcp_from_dscp, "checks.pcp_from_dscp"},
    {MarkCheck::address, "allow.addresses"},
    {MarkCheck::p_key, "allow.p_keys"},
    {MarkCheck::version, "roce_version"},
});

constexpr bool of_rule(MarkCheck check) noexcept {
  return check <= MarkCheck::lossless;
}

std::array<std::string, mark_check_count> keys_of(const std::string& owner) {
  std::array<std::string, mark_check_count> keys;
  for (std::size_t i = 0; i < mark_check_count; ++i) {
    const std::string name(check_names[static_cast<MarkCheck>(i)]);
    keys[i] = of_rule(static_cast<MarkCheck>(i)) ? owner + '.' + name : name;
  }
  return keys;
}

constexpr bool is_roce_v2(Transport transport) noexcept {
  return transport == Transport::roce_v2_ipv4 || transport == Transport::roce_v2_ipv6;
}

bool any_contains(const std::vector<AddressPrefix>& prefixes, const dissect::IpAddress& address) noexcept {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const AddressPrefix& prefix) { return prefix.contains(address); });
}

bool applies(const FlowRule& rule, const MarkingSubject& s) noexcept {
  if ((rule.classes & class_bit(s.traffic_class)) == 0) return false;
  if (!rule.src.empty() && !any_contains(rule.src, s.src)) return false;
  if (!rule.dst.empty() && !any_contains(rule.dst, s.dst)) return false;
  const auto p_key = static_cast<std::uint16_t>(s.p_key & (p_key_membership - 1U));
  if (!rule.p_keys.empty() && !std::binary_search(rule.p_keys.begin(), rule.p_keys.end(), p_key))
    return false;
  return rule.qps.empty() || std::any_of(rule.qps.begin(), rule.qps.end(), [&](const QpRange& range) {
           return s.dst_qp >= range.first && s.dst_qp <= range.last;
         });
}

/// Order of evaluation as in the OFED driver: rules for all, rules with both ends, the rest.
int rank_of(const FlowRule& rule) {
  if (rule.src.empty() && rule.dst.empty() && rule.p_keys.empty() && rule.qps.empty()) return 0;
  return !rule.src.empty() && !rule.dst.empty() ? 1 : 2;
}

}  // namespace

MarkingPolicy::MarkingPolicy(PolicyModel model) : model_(std::move(model)) {
  add_rules();
  add_traffic_class();
  std::stable_sort(rules_.begin(), rules_.end(),
                   [](const Rule& a, const Rule& b) { return a.rank < b.rank; });
  for (std::size_t i = 0; i < traffic_class_count; ++i)
    class_keys_[i] = keys_of(fmt::format("class.{}", traffic_class_name(static_cast<TrafficClass>(i))));
  if (model_.p_keys) {
    p_keys_.resize(p_key_membership / 64);
    for (const std::uint16_t key : *model_.p_keys) p_keys_[key / 64U] |= std::uint64_t{1} << key % 64U;
  }
}

PriorityMap MarkingPolicy::priority_map() const noexcept {
  PriorityMap map;
  map.trust = model_.trust == Trust::dscp ? PriorityMap::Trust::dscp : PriorityMap::Trust::tag;
  for (std::size_t dscp = 0; dscp < map.by_dscp.size(); ++dscp)
    map.by_dscp[dscp] = priority_of_dscp(model_, static_cast<std::uint8_t>(dscp));
  return map;
}

void MarkingPolicy::add_rules() {
  for (const FlowRule& rule : model_.rules) {
    Rule compiled;
    compiled.match = rule;
    compiled.keys = keys_of("rule." + rule.name);
    compiled.rank = rank_of(rule);
    rules_.push_back(std::move(compiled));
  }
}

/// The value applies to what a queue pair sends: requests and all responses. The driver does not change the
/// GSI, and CNPs have a setting of their own in the NIC. ECN bits that are set apply to data only, not to
/// acknowledgements; 0 leaves the ECN of data to the NIC's congestion control.
void MarkingPolicy::add_traffic_class() {
  constexpr auto with_data =
      static_cast<TrafficClasses>(class_bit(TrafficClass::data) | class_bit(TrafficClass::response));
  constexpr auto answers =
      static_cast<TrafficClasses>(class_bit(TrafficClass::ack) | class_bit(TrafficClass::atomic));
  for (const TrafficClassRule& rule : model_.traffic_class) {
    std::string line = traffic_class_line(rule);
    line.erase(0, std::min(line.find(','), line.size() - 1) + 1);
    for (const TrafficClasses classes : {with_data, answers}) {
      Rule compiled;
      FlowRule& match = compiled.match;
      if (rule.src) match.src.push_back(*rule.src);
      if (rule.dst) match.dst.push_back(*rule.dst);
      compiled.rank = rank_of(match);
      compiled.v2_only = compiled.rank != 0;
      compiled.keys = keys_of(compiled.rank == 0 ? "traffic_class.global" : "traffic_class[" + line + "]");
      match.classes = classes;
      match.marks.dscp.emplace().add(rule.tos >> 2U);
      if (classes == with_data && (rule.tos & 3U) != 0) {
        match.marks.ecn.emplace().add(rule.tos & 3U);
        match.marks.ecn->add(ce);
      }
      rules_.push_back(std::move(compiled));
    }
  }
}

MarkingPolicy::Effective MarkingPolicy::effective(const MarkingSubject& s) const noexcept {
  Effective e;
  e.class_index = static_cast<std::size_t>(s.traffic_class);
  constexpr auto data = static_cast<std::size_t>(TrafficClass::data);
  if (s.traffic_class == TrafficClass::response && !model_.classes[e.class_index]) e.class_index = data;
  if (model_.classes[e.class_index]) e.of_class = &*model_.classes[e.class_index];
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].v2_only && !is_roce_v2(s.transport)) continue;
    if (!applies(rules_[i].match, s)) continue;
    e.rule = &rules_[i].match.marks;
    e.rule_number = static_cast<std::uint16_t>(i + 1);
    break;
  }
  return e;
}

bool MarkingPolicy::allowed(const dissect::IpAddress& address) const noexcept {
  return !model_.addresses || any_contains(*model_.addresses, address);
}

std::uint8_t MarkingPolicy::priority_of(const MarkingSubject& s) const noexcept {
  // Switches do not find a DSCP in RoCE v1.
  if (model_.trust == Trust::dscp && is_roce_v2(s.transport)) return priority_of_dscp(model_, s.marks.dscp);
  return s.marks.pcp.value_or(0);
}

void MarkingPolicy::test_marks(const MarkingSubject& s, const Effective& e, Judgement& out) const noexcept {
  const Marks& marks = s.marks;
  if (is_roce_v2(s.transport)) {
    if (const DscpSet* set = field(e, &MarkRule::dscp); set != nullptr && !set->contains(marks.dscp))
      out.fail(MarkCheck::dscp);
    if (const EcnSet* set = field(e, &MarkRule::ecn); set != nullptr && !set->contains(marks.ecn))
      out.fail(MarkCheck::ecn);
    if (const TtlSet* set = field(e, &MarkRule::ttl); set != nullptr && !set->contains(marks.ttl))
      out.fail(MarkCheck::ttl);
  }
  if (const VlanRule* vlan = field(e, &MarkRule::vlan)) {
    const bool good = vlan->need == VlanNeed::any ||
                      (vlan->need == VlanNeed::forbidden ? !marks.vlan
                       : !marks.vlan                     ? false
                                     : vlan->need == VlanNeed::required || vlan->ids.contains(*marks.vlan));
    if (!good) out.fail(MarkCheck::vlan);
  }
  // A tag that must not exist has no correct priority.
  if (!marks.pcp || out.broken(MarkCheck::vlan)) return;
  if (const PrioritySet* set = field(e, &MarkRule::pcp); set != nullptr && !set->contains(*marks.pcp))
    out.fail(MarkCheck::pcp);
}

/// Only for packets whose own markings are allowed; otherwise one mistake would be reported twice.
void MarkingPolicy::test_priority(const MarkingSubject& s, const Effective& e,
                                  Judgement& out) const noexcept {
  const Marks& marks = s.marks;
  if (out.broken(MarkCheck::dscp) || out.broken(MarkCheck::pcp) || out.broken(MarkCheck::vlan)) return;
  const std::uint8_t priority = priority_of(s);
  if (const PrioritySet* set = field(e, &MarkRule::priority); set != nullptr && !set->contains(priority)) {
    out.fail(MarkCheck::priority);
  } else if (const bool* lossless = field(e, &MarkRule::lossless);
             lossless != nullptr && model_.lossless && model_.lossless->contains(priority) != *lossless) {
    out.fail(MarkCheck::lossless);
  }
  if (!marks.pcp || !is_roce_v2(s.transport)) return;
  const unsigned tos = unsigned{marks.dscp} << 2U | marks.ecn;
  if (model_.pcp_from_tos && *marks.pcp != (tos >> 5U & 7U)) out.fail(MarkCheck::pcp_from_tos);
  if (model_.pcp_from_dscp && *marks.pcp != priority_of_dscp(model_, marks.dscp))
    out.fail(MarkCheck::pcp_from_dscp);
}

Judgement MarkingPolicy::test(const MarkingSubject& s) const noexcept {
  Judgement out;
  if (s.transport != Transport::native_ib) {
    const Effective e = effective(s);
    out.rule_ = e.rule_number;
    test_marks(s, e, out);
    test_priority(s, e, out);
    const unsigned version = is_roce_v2(s.transport) ? roce_v2_allowed : roce_v1_allowed;
    if ((model_.versions & version) == 0) out.fail(MarkCheck::version);
  }
  if (!allowed(s.src) || !allowed(s.dst)) out.fail(MarkCheck::address);
  const unsigned p_key = s.p_key & (p_key_membership - 1U);
  if (!p_keys_.empty() && (p_keys_[p_key / 64] >> p_key % 64 & 1U) == 0) out.fail(MarkCheck::p_key);
  return out;
}

std::string_view MarkingPolicy::key(const MarkingSubject& s, const Judgement& judgement,
                                    MarkCheck check) const noexcept {
  const auto index = static_cast<std::size_t>(check);
  if (!of_rule(check)) return check_names[check];
  if (judgement.rule_ != 0) {
    const Rule& rule = rules_[judgement.rule_ - 1U];
    const MarkRule& marks = rule.match.marks;
    const bool named[] = {marks.dscp.has_value(),    marks.ecn.has_value(), marks.pcp.has_value(),
                          marks.vlan.has_value(),    marks.ttl.has_value(), marks.priority.has_value(),
                          marks.lossless.has_value()};
    if (named[index]) return rule.keys[index];
  }
  auto owner = static_cast<std::size_t>(s.traffic_class);
  constexpr auto data = static_cast<std::size_t>(TrafficClass::data);
  if (s.traffic_class == TrafficClass::response && !model_.classes[owner]) owner = data;
  return class_keys_[owner][index];
}

}  // namespace roce::analyze

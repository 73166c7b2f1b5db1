// SPDX-License-Identifier: Apache-2.0
// Texts for what a policy expects of a packet, and for what the packet has instead.
#include <fmt/format.h>

#include "analyze/base/address_text.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::analyze {
namespace {

std::string ecn_set_text(const EcnSet& set) {
  std::string text, last;
  for (const dissect::ValueName& row : dissect::ecn_names) {
    if (!set.contains(row.value)) continue;
    if (!last.empty()) text += (text.empty() ? "" : ", ") + last;
    last = row.text;
  }
  return text.empty() ? last : text + " or " + last;
}

std::string vlan_text(const VlanRule& rule) {
  constexpr std::string_view names[] = {"", "a VLAN tag", "no VLAN tag"};
  if (rule.need == VlanNeed::one_of) return "VLAN " + set_text(rule.ids);
  return std::string(names[static_cast<std::size_t>(rule.need)]);
}

std::string_view version_of(dissect::Transport transport) {
  return transport == dissect::Transport::roce_v1 ? "RoCE v1" : "RoCE v2";
}

}  // namespace

// In the order of MarkCheck.
std::string MarkingPolicy::expected_text(const MarkingSubject& s, const Effective& e, MarkCheck check) const {
  const auto from = [&](auto member, const auto& text) {
    const auto* value = field(e, member);
    return value == nullptr ? std::string() : text(*value);
  };
  switch (check) {
    case MarkCheck::dscp:
      return from(&MarkRule::dscp, [](const DscpSet& set) { return "DSCP " + set_text(set); });
    case MarkCheck::ecn:
      return from(&MarkRule::ecn, [](const EcnSet& set) { return "ECN " + ecn_set_text(set); });
    case MarkCheck::pcp:
      return from(&MarkRule::pcp, [](const PrioritySet& set) { return "PCP " + set_text(set); });
    case MarkCheck::vlan:
      return from(&MarkRule::vlan, vlan_text);
    case MarkCheck::ttl:
      return from(&MarkRule::ttl, [](const TtlSet& set) { return "TTL " + set_text(set); });
    case MarkCheck::priority:
      return from(&MarkRule::priority, [](const PrioritySet& set) { return "priority " + set_text(set); });
    case MarkCheck::lossless: {
      const bool* wanted = field(e, &MarkRule::lossless);
      if (wanted == nullptr || !model_.lossless) return {};
      const std::string set = model_.lossless->empty() ? "none is" : set_text(*model_.lossless);
      return fmt::format("a priority that is {}lossless ({})", *wanted ? "" : "not ", set);
    }
    case MarkCheck::pcp_from_tos:
      return fmt::format("PCP {} (TOS >> 5)", s.marks.dscp >> 3U);
    case MarkCheck::pcp_from_dscp:
      return fmt::format("PCP {} (of DSCP {})", priority_of_dscp(model_, s.marks.dscp), s.marks.dscp);
    case MarkCheck::address:
      return "an address of the allow list";
    case MarkCheck::p_key:
      return "a P_Key of the allow list";
    case MarkCheck::version:
      return model_.versions == roce_v1_allowed ? "RoCE v1" : "RoCE v2";
    case MarkCheck::count_:
      break;
  }
  return {};
}

std::string MarkingPolicy::found_text(const MarkingSubject& s, MarkCheck check) const {
  const Marks& marks = s.marks;
  switch (check) {
    case MarkCheck::dscp:
      return fmt::format("DSCP {}", marks.dscp);
    case MarkCheck::ecn:
      return fmt::format("ECN {}", dissect::ecn_names[marks.ecn & 3U].text);
    case MarkCheck::pcp:
    case MarkCheck::pcp_from_tos:
    case MarkCheck::pcp_from_dscp:
      return fmt::format("PCP {}", marks.pcp.value_or(0));
    case MarkCheck::vlan:
      return marks.vlan ? fmt::format("VLAN {}", *marks.vlan) : std::string("no VLAN tag");
    case MarkCheck::ttl:
      return fmt::format("TTL {}", marks.ttl);
    case MarkCheck::priority:
    case MarkCheck::lossless: {
      const bool by_dscp = model_.trust == Trust::dscp && s.transport != dissect::Transport::roce_v1;
      return fmt::format("priority {} ({})", priority_of(s),
                         by_dscp     ? fmt::format("of DSCP {}", marks.dscp)
                         : marks.pcp ? fmt::format("of PCP {}", *marks.pcp)
                                     : std::string("untagged"));
    }
    case MarkCheck::address:
      if (allowed(s.dst)) return fmt::format("{} (source)", address_text(s.src));
      if (allowed(s.src)) return fmt::format("{} (destination)", address_text(s.dst));
      return fmt::format("{} (source) and {} (destination)", address_text(s.src), address_text(s.dst));
    case MarkCheck::p_key:
      return fmt::format("P_Key {:#06x}", s.p_key);
    case MarkCheck::version:
      return std::string(version_of(s.transport));
    case MarkCheck::count_:
      break;
  }
  return {};
}

std::vector<Violation> MarkingPolicy::judge(const MarkingSubject& subject) const {
  const Judgement judgement = test(subject);
  std::vector<Violation> violations;
  if (!judgement.broken()) return violations;
  const Effective e = effective(subject);
  for (std::size_t i = 0; i < mark_check_count; ++i) {
    const auto check = static_cast<MarkCheck>(i);
    if (!judgement.broken(check)) continue;
    violations.push_back({check, key(subject, judgement, check), expected_text(subject, e, check),
                          found_text(subject, check)});
  }
  return violations;
}

std::string MarkingPolicy::expected(const MarkingSubject& subject) const {
  std::string text;
  if (subject.transport == dissect::Transport::native_ib) return text;
  const Effective e = effective(subject);
  const bool v1 = subject.transport == dissect::Transport::roce_v1;
  constexpr MarkCheck of_v2[] = {MarkCheck::dscp, MarkCheck::ecn};
  constexpr MarkCheck of_all[] = {MarkCheck::pcp, MarkCheck::vlan, MarkCheck::priority};
  const auto add = [&](MarkCheck check) {
    const std::string part = expected_text(subject, e, check);
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  if (!v1) {
    for (const MarkCheck check : of_v2) add(check);
  }
  for (const MarkCheck check : of_all) {
    if (check != MarkCheck::pcp || subject.marks.pcp) add(check);  // without a tag there is none
  }
  return text;
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/learn_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyze/base/address_text.hpp"
#include "analyze/policy/policy_parser.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::analyze {
namespace {

using dissect::Transport;

constexpr std::size_t most_addresses = 256;  // a longer list would not be readable

using Counts = std::map<unsigned, std::uint64_t>;

/// The markings seen of one class.
struct ClassSeen {
  std::uint64_t packets = 0, flows = 0, untagged = 0, of_v2 = 0;
  Counts dscp, ecn, pcp, vlan, ttl;
};

struct SeenMarks {
  std::array<ClassSeen, traffic_class_count> classes;
  std::set<dissect::IpAddress> addresses;
  std::set<std::uint16_t> p_keys;                      ///< without the membership bit
  std::map<unsigned, std::set<unsigned>> pcp_of_dscp;  ///< of tagged packets
  std::uint64_t v1 = 0, v2 = 0, unlisted = 0, native = 0;
};

constexpr bool of_v2(Transport transport) noexcept {
  return transport == Transport::roce_v2_ipv4 || transport == Transport::roce_v2_ipv6;
}

void add_row(SeenMarks& seen, ClassSeen& of, Transport transport, const MarkRow& row) {
  of.packets += row.packets;
  if (row.marks.vlan) {
    of.vlan[*row.marks.vlan] += row.packets;
    of.pcp[row.marks.pcp.value_or(0)] += row.packets;
  } else {
    of.untagged += row.packets;
  }
  (of_v2(transport) ? seen.v2 : seen.v1) += row.packets;
  if (!of_v2(transport)) return;
  of.of_v2 += row.packets;
  of.dscp[row.marks.dscp] += row.packets;
  of.ecn[row.marks.ecn] += row.packets;
  of.ttl[row.marks.ttl] += row.packets;
  if (row.marks.pcp) seen.pcp_of_dscp[row.marks.dscp].insert(*row.marks.pcp);
}

/// Adds markings that were seen only at another capture point: `check` validates them too, except the TTL.
void add_copies(SeenMarks& seen, const std::vector<Flow>& flows,
                const std::vector<FlowAtPoint>& flow_points) {
  auto flow = flows.begin();
  for (const FlowAtPoint& there : flow_points) {
    while (flow != flows.end() && flow->id < there.flow) ++flow;
    if (flow == flows.end()) return;
    if (flow->id != there.flow || flow->key.transport == Transport::native_ib) continue;
    for (const MarkRow& row : there.otherwise) {
      ClassSeen& of = seen.classes[static_cast<std::size_t>(row.traffic_class)];
      if (of.packets == 0) continue;
      if (row.marks.vlan) {
        of.vlan[*row.marks.vlan] += row.packets;
        of.pcp[row.marks.pcp.value_or(0)] += row.packets;
      } else {
        of.untagged += row.packets;
      }
      if (!of_v2(flow->key.transport)) continue;
      of.dscp[row.marks.dscp] += row.packets;
      of.ecn[row.marks.ecn] += row.packets;
      if (row.marks.pcp) seen.pcp_of_dscp[row.marks.dscp].insert(*row.marks.pcp);
    }
  }
}

SeenMarks look_at(const std::vector<Flow>& flows, const std::vector<FlowAtPoint>& flow_points) {
  SeenMarks seen;
  for (const Flow& flow : flows) {
    if (flow.packets == 0) continue;
    if (flow.key.transport == Transport::native_ib) {
      seen.native += flow.packets;
      continue;
    }
    std::uint64_t listed = 0;
    TrafficClasses classes = 0;
    for (const MarkRow& row : flow.marks()) {
      if (row.packets == 0) continue;
      listed += row.packets;
      classes = static_cast<TrafficClasses>(classes | class_bit(row.traffic_class));
      add_row(seen, seen.classes[static_cast<std::size_t>(row.traffic_class)], flow.key.transport, row);
      seen.p_keys.insert(static_cast<std::uint16_t>(row.p_key & (p_key_membership - 1U)));
    }
    listed += flow.sequence().apart();
    seen.unlisted += flow.packets - std::min(flow.packets, listed);
    for (std::size_t i = 0; i < traffic_class_count; ++i)
      seen.classes[i].flows += (classes >> i & 1U) != 0 ? 1 : 0;
    seen.addresses.insert(flow.key.src);
    seen.addresses.insert(flow.key.dst);
  }
  add_copies(seen, flows, flow_points);
  return seen;
}

template <std::size_t N>
std::optional<NumberSet<N>> set_of(const Counts& counts) {
  if (counts.empty()) return std::nullopt;
  NumberSet<N> set;
  for (const auto& [value, packets] : counts) set.add(value);
  return set;
}

MarkRule rule_of(TrafficClass traffic_class, const ClassSeen& seen) {
  constexpr std::size_t ect1 = 1, ect0 = 2, ce = 3;
  MarkRule rule;
  rule.dscp = set_of<64>(seen.dscp);
  rule.ecn = set_of<4>(seen.ecn);
  rule.pcp = set_of<8>(seen.pcp);
  if (seen.ttl.find(0) == seen.ttl.end()) rule.ttl = set_of<256>(seen.ttl);
  VlanRule& vlan = rule.vlan.emplace();
  if (seen.vlan.empty()) {
    vlan.need = VlanNeed::forbidden;
  } else if (seen.untagged == 0) {
    vlan.need = VlanNeed::one_of;
    vlan.ids = *set_of<4096>(seen.vlan);
  }
  // CE marks of later congestion are no violation, and CE-marked packets were sent ECN-capable.
  const bool carries_data = traffic_class == TrafficClass::data || traffic_class == TrafficClass::response;
  if (rule.ecn && carries_data && (rule.ecn->contains(ect1) || rule.ecn->contains(ect0))) rule.ecn->add(ce);
  if (rule.ecn && seen.ecn.size() == 1 && rule.ecn->contains(ce)) rule.ecn->add(ect0);
  return rule;
}

/// "DSCP 26: 120 packets, 0: 3 packets".
std::string counts_text(std::string_view what, const Counts& counts) {
  constexpr std::size_t listed = 12;
  std::string text;
  std::size_t n = 0;
  for (const auto& [value, packets] : counts) {
    if (n++ == listed) return text + fmt::format(", and {} more", counts.size() - listed);
    const std::string shown =
        what == "ECN" ? std::string(dissect::ecn_names[value & 3U].text) : std::to_string(value);
    text += fmt::format("{} {}: {}", text.empty() ? std::string(what) : ",", shown, packets);
  }
  return text;
}

std::string class_comment(const ClassSeen& seen) {
  std::string text = fmt::format("{} packets of {} flows", seen.packets, seen.flows);
  for (const auto& [what, counts] : {std::pair<std::string_view, const Counts&>{"DSCP", seen.dscp},
                                     {"ECN", seen.ecn},
                                     {"VLAN", seen.vlan},
                                     {"PCP", seen.pcp},
                                     {"TTL", seen.ttl}}) {
    if (!counts.empty()) text += '\n' + counts_text(what, counts);
  }
  if (seen.untagged != 0) text += fmt::format("\nuntagged: {}", seen.untagged);
  return text;
}

/// Learns the priority of each DSCP from the tags. False if one DSCP has several priorities.
bool learn_map(const SeenMarks& seen, PolicyModel& model) {
  const bool one_each = std::all_of(seen.pcp_of_dscp.begin(), seen.pcp_of_dscp.end(),
                                    [](const auto& entry) { return entry.second.size() == 1; });
  if (seen.pcp_of_dscp.empty() || !one_each) return false;
  for (const auto& [dscp, priorities] : seen.pcp_of_dscp)
    model.dscp_to_priority[dscp] = static_cast<std::uint8_t>(*priorities.begin());
  model.pcp_from_dscp = true;
  return true;
}

}  // namespace

std::string learn_policy(const std::vector<Flow>& flows, const std::vector<FlowAtPoint>& flow_points,
                         std::uint64_t unlisted) {
  const SeenMarks seen = look_at(flows, flow_points);
  PolicyModel model;
  PolicyComments comments;
  model.name = "learned";
  model.description = "markings of a known-good capture";
  if (seen.v1 == 0 && seen.v2 != 0) model.versions = roce_v2_allowed;
  if (seen.v2 == 0 && seen.v1 != 0) {
    model.versions = roce_v1_allowed;
    model.trust = Trust::pcp;
  }
  comments.top = fmt::format(
      "Learned from a capture: {} packets in {} flows. Review it before use: markings that were wrong there "
      "are allowed here.\nAdd by hand: lossless = [...], the priorities with PFC, which packets do not show.",
      seen.v1 + seen.v2, flows.size());
  if (seen.unlisted + unlisted != 0) {
    comments.top +=
        fmt::format("\n{} packets are not included: too many flows, or too many markings in one flow.",
                    seen.unlisted + unlisted);
  }
  if (seen.native != 0)
    comments.top += fmt::format("\n{} native InfiniBand packets have no such markings.", seen.native);
  if (learn_map(seen, model)) comments.map = "As seen in VLAN tags.";
  for (std::size_t i = 0; i < traffic_class_count; ++i) {
    if (seen.classes[i].packets == 0) continue;
    model.classes[i] = rule_of(static_cast<TrafficClass>(i), seen.classes[i]);
    comments.classes[i] = class_comment(seen.classes[i]);
  }
  if (!seen.addresses.empty() && seen.addresses.size() <= most_addresses) {
    model.addresses.emplace();
    for (const dissect::IpAddress& address : seen.addresses) model.addresses->emplace_back(address, 128);
  } else if (!seen.addresses.empty()) {
    comments.allow = fmt::format("{} addresses were seen: too many for a list", seen.addresses.size());
  }
  if (!seen.p_keys.empty()) model.p_keys.emplace(seen.p_keys.begin(), seen.p_keys.end());
  return policy_toml(model, comments);
}

}  // namespace roce::analyze

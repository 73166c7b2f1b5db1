// SPDX-License-Identifier: Apache-2.0
// Writes a policy as TOML, the reverse of policy_parser.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/policy/policy_parser.hpp"
#include "analyze/policy/toml_tree.hpp"
#include "analyze/policy/traffic_class_file.hpp"

namespace roce::analyze {
namespace {

/// "26" or "[24, 26]": a single part has no brackets.
std::string list_of(const std::vector<std::string>& parts) {
  if (parts.size() == 1) return parts.front();
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

template <std::size_t N>
std::string numbers(const NumberSet<N>& set) {
  std::vector<std::string> parts;
  set.for_each_run([&](std::size_t first, std::size_t last) {
    if (last == first) {
      parts.push_back(std::to_string(first));
    } else if (last == first + 1) {
      parts.push_back(std::to_string(first));
      parts.push_back(std::to_string(last));
    } else {
      parts.push_back(fmt::format("\"{}-{}\"", first, last));
    }
  });
  return list_of(parts);
}

std::string words(const EcnSet& set) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < EcnSet::limit; ++i) {
    if (set.contains(i)) parts.push_back(toml_string(ecn_key(static_cast<std::uint8_t>(i))));
  }
  return list_of(parts);
}

std::string addresses(const std::vector<AddressPrefix>& prefixes) {
  std::vector<std::string> parts;
  for (const AddressPrefix& prefix : prefixes) parts.push_back(toml_string(prefix.text()));
  return list_of(parts);
}

/// Consecutive P_Keys as ranges, with the membership bit of full members.
std::string p_keys(const std::vector<std::uint16_t>& keys) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < keys.size();) {
    std::size_t last = i;
    while (last + 1 < keys.size() && keys[last + 1] == keys[last] + 1) ++last;
    const unsigned from = keys[i] | p_key_membership, to = keys[last] | p_key_membership;
    parts.push_back(i == last ? fmt::format("{:#06x}", from) : fmt::format("\"{:#06x}-{:#06x}\"", from, to));
    i = last + 1;
  }
  return list_of(parts);
}

std::string queue_pairs(const std::vector<QpRange>& ranges) {
  std::vector<std::string> parts;
  for (const QpRange& range : ranges) {
    parts.push_back(range.first == range.last ? fmt::format("{:#08x}", range.first)
                                              : fmt::format("\"{:#08x}-{:#08x}\"", range.first, range.last));
  }
  return list_of(parts);
}

std::string vlan(const VlanRule& rule) {
  constexpr std::string_view names[] = {"any", "required", "forbidden"};
  if (rule.need == VlanNeed::one_of) return numbers(rule.ids);
  return toml_string(names[static_cast<std::size_t>(rule.need)]);
}

void line(std::string& out, std::string_view key, std::string_view value) {
  out += fmt::format("{} = {}\n", key, value);
}

/// Control characters other than tab, which comments must not contain, become "?".
void append_comment(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out += "# ";
    for (const char c : text.substr(0, end)) {
      const auto byte = static_cast<unsigned char>(c);
      out += (byte < 0x20 && c != '\t') || byte >= 0x7f ? '?' : c;
    }
    out += '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

std::string class_names(TrafficClasses classes) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < traffic_class_count; ++i) {
    const auto each = static_cast<TrafficClass>(i);
    if ((classes & class_bit(each)) != 0) parts.push_back(toml_string(traffic_class_name(each)));
  }
  return list_of(parts);
}

void append_rule(std::string& out, const FlowRule& rule) {
  out += "\n[[rule]]\n";
  line(out, "name", toml_string(rule.name));
  if (!rule.src.empty()) line(out, "src", addresses(rule.src));
  if (!rule.dst.empty()) line(out, "dst", addresses(rule.dst));
  if (!rule.p_keys.empty()) line(out, "p_key", p_keys(rule.p_keys));
  if (!rule.qps.empty()) line(out, "qp", queue_pairs(rule.qps));
  if (rule.classes != all_traffic_classes) line(out, "class", class_names(rule.classes));
  append_mark_rule(out, rule.marks);
}

void append_top(std::string& out, const PolicyModel& model) {
  if (!model.name.empty()) line(out, "name", toml_string(model.name));
  if (!model.description.empty()) line(out, "description", toml_string(model.description));
  if (model.versions == roce_v1_allowed) line(out, "roce_version", "\"v1\"");
  if (model.versions == roce_v2_allowed) line(out, "roce_version", "\"v2\"");
  line(out, "trust", model.trust == Trust::dscp ? "\"dscp\"" : "\"pcp\"");
  if (model.lossless) line(out, "lossless", model.lossless->empty() ? "[]" : numbers(*model.lossless));
  if (!model.trimmed_dscp.empty()) line(out, "trimmed_dscp", numbers(model.trimmed_dscp));
  if (model.mrc_port) line(out, "mrc_port", std::to_string(*model.mrc_port));
  if (!model.traffic_class.empty()) {
    out += "traffic_class = [\n";
    for (const TrafficClassRule& rule : model.traffic_class)
      out += fmt::format("  {},\n", toml_string(traffic_class_line(rule)));
    out += "]\n";
  }
}

}  // namespace

void append_mark_rule(std::string& out, const MarkRule& marks) {
  if (marks.dscp) line(out, "dscp", numbers(*marks.dscp));
  if (marks.ecn) line(out, "ecn", words(*marks.ecn));
  if (marks.pcp) line(out, "pcp", numbers(*marks.pcp));
  if (marks.vlan) line(out, "vlan", vlan(*marks.vlan));
  if (marks.ttl) line(out, "ttl", numbers(*marks.ttl));
  if (marks.priority) line(out, "priority", numbers(*marks.priority));
  if (marks.lossless) line(out, "lossless", *marks.lossless ? "true" : "false");
}

std::string policy_toml(const PolicyModel& model, const PolicyComments& comments) {
  std::string out;
  append_comment(out, comments.top);
  append_top(out, model);
  const bool mapped = std::any_of(model.dscp_to_priority.begin(), model.dscp_to_priority.end(),
                                  [](const auto& priority) { return priority.has_value(); });
  if (mapped) out += "\n[dscp_to_priority]\n";
  if (mapped) append_comment(out, comments.map);
  for (std::size_t dscp = 0; dscp < model.dscp_to_priority.size(); ++dscp) {
    const auto& priority = model.dscp_to_priority[dscp];
    if (priority) line(out, std::to_string(dscp), std::to_string(*priority));
  }
  for (std::size_t i = 0; i < traffic_class_count; ++i) {
    if (!model.classes[i]) continue;
    out += fmt::format("\n[class.{}]\n", traffic_class_name(static_cast<TrafficClass>(i)));
    append_comment(out, comments.classes[i]);
    append_mark_rule(out, *model.classes[i]);
  }
  if (model.addresses || model.p_keys) {
    out += "\n[allow]\n";
    append_comment(out, comments.allow);
  }
  if (model.addresses) line(out, "addresses", addresses(*model.addresses));
  if (model.p_keys) line(out, "p_keys", p_keys(*model.p_keys));
  if (model.pcp_from_tos || model.pcp_from_dscp) out += "\n[checks]\n";
  if (model.pcp_from_tos) line(out, "pcp_from_tos", "true");
  if (model.pcp_from_dscp) line(out, "pcp_from_dscp", "true");
  for (const FlowRule& rule : model.rules) append_rule(out, rule);
  return out;
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/policy_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analyze/policy/policy_contradictions.hpp"
#include "analyze/policy/policy_values.hpp"
#include "analyze/policy/traffic_class_file.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::analyze {
namespace {

constexpr std::size_t most_rules = 1000;
constexpr std::uint64_t last_qpn = 0xff'ffff;  // QPNs have 24 bits

/// Destination of a table's keys, and what their readers need.
struct MarkTarget {
  MarkRule& marks;
  Mistakes& mistakes;
};
struct RuleTarget {
  FlowRule& rule;
  Mistakes& mistakes;
};
struct PolicyTarget {
  PolicyModel& model;
  Mistakes& mistakes;
  const ReadPolicyFile& read;
  TrafficClassLines lines;
};

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::uint64_t> named_dscp(std::string_view word) {
  for (const dissect::ValueName& row : dissect::dscp_names) {
    if (same_word(row.text, word)) return row.value;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> named_ecn(std::string_view word) {
  for (std::size_t i = 0; i < std::size(dissect::ecn_names); ++i) {
    if (same_word(ecn_key(static_cast<std::uint8_t>(i)), word) || same_word(dissect::ecn_names[i].text, word))
      return i;
  }
  return std::nullopt;
}

constexpr NumberKind dscp_kind{
    "DSCP", 0, 63, "0 to 63, a name (\"af31\") or a range (\"24-28\"), or a list of these", named_dscp};
constexpr NumberKind ecn_kind{"ECN", 0, 3, "\"not_ect\", \"ect0\", \"ect1\" or \"ce\", or a list of these",
                              named_ecn};
constexpr NumberKind pcp_kind{"PCP", 0, 7, "0 to 7, a range (\"3-4\"), or a list of these"};
constexpr NumberKind priority_kind{"priority", 0, 7, "0 to 7, a range (\"3-4\"), or a list of these"};
constexpr NumberKind port_kind{"UDP port", 0, 65535, "0 to 65535"};
constexpr NumberKind ttl_kind{"TTL", 1, 255, "1 to 255, a range (\"60-64\"), or a list of these"};
constexpr NumberKind vlan_kind{
    "VLAN", 0, 4094,
    "\"required\", \"forbidden\", \"any\", a VLAN (0 to 4094), a range (\"100-199\"), or a list of these"};
constexpr NumberKind p_key_kind{"P_Key", 0, 0xffff,
                                "0 to 0xffff, a range (\"0x8000-0x80ff\"), or a list of these"};
constexpr NumberKind qp_kind{"queue pair", 0, last_qpn,
                             "0 to 0xffffff, a range (\"16-31\"), or a list of these"};

template <std::size_t N>
std::optional<NumberSet<N>> read_set(const TomlNode& node, const NumberKind& kind, Mistakes& mistakes) {
  NumberSet<N> set;
  if (!read_numbers(node, kind, mistakes,
                    [&](std::uint64_t first, std::uint64_t last) { set.add(first, last); })) {
    return std::nullopt;
  }
  return set;
}

std::optional<VlanRule> read_vlan(const TomlNode& node, Mistakes& mistakes) {
  constexpr std::pair<std::string_view, VlanNeed> words[] = {
      {"any", VlanNeed::any}, {"required", VlanNeed::required}, {"forbidden", VlanNeed::forbidden}};
  for (const auto& [word, need] : words) {
    if (node.kind == TomlNode::Kind::string && node.text == word) return VlanRule{need, {}};
  }
  const auto ids = read_set<VlanSet::limit>(node, vlan_kind, mistakes);
  if (!ids) return std::nullopt;
  return VlanRule{VlanNeed::one_of, *ids};
}

/// P_Keys without the membership bit, ascending, each once.
std::vector<std::uint16_t> read_p_keys(const TomlNode& node, Mistakes& mistakes) {
  NumberSet<p_key_membership> set;
  read_numbers(node, p_key_kind, mistakes, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t key = first; key <= last; ++key) set.add(key & (p_key_membership - 1U));
  });
  std::vector<std::uint16_t> keys;
  set.for_each_run([&](std::size_t first, std::size_t last) {
    for (std::size_t key = first; key <= last; ++key) keys.push_back(static_cast<std::uint16_t>(key));
  });
  return keys;
}

std::vector<AddressPrefix> read_addresses(const TomlNode& node, Mistakes& mistakes) {
  std::vector<AddressPrefix> out;
  read_texts(node, "address (\"10.0.0.1\", \"10.0.0.0/24\", \"fe80::/10\")", mistakes,
             [&](const TomlNode& item) {
               if (const auto prefix = AddressPrefix::parse(item.text)) {
                 out.push_back(*prefix);
               } else {
                 mistakes.add(item.place,
                              fmt::format("{} is not a valid address: expected IPv4, IPv6 or a GID, alone or "
                                          "with a /length",
                                          toml_string(item.text)));
               }
             });
  return out;
}

TrafficClasses read_classes(const TomlNode& node, Mistakes& mistakes) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < traffic_class_count; ++i)
    names.push_back(traffic_class_name(static_cast<TrafficClass>(i)));
  unsigned classes = 0;
  read_texts(node, "class of traffic", mistakes, [&](const TomlNode& item) {
    if (const auto index = read_word(item, names, mistakes)) classes |= 1U << *index;
  });
  return static_cast<TrafficClasses>(classes);
}

template <class Value>
void assign(std::optional<Value>& to, std::optional<Value> value) {
  if (value) to = std::move(value);
}

using MarkRow_ = KeyRow<MarkTarget>;
constexpr MarkRow_ mark_rows[] = {
    {"dscp",
     [](const TomlNode& v, MarkTarget& t) { assign(t.marks.dscp, read_set<64>(v, dscp_kind, t.mistakes)); }},
    {"ecn",
     [](const TomlNode& v, MarkTarget& t) { assign(t.marks.ecn, read_set<4>(v, ecn_kind, t.mistakes)); }},
    {"pcp",
     [](const TomlNode& v, MarkTarget& t) { assign(t.marks.pcp, read_set<8>(v, pcp_kind, t.mistakes)); }},
    {"vlan", [](const TomlNode& v, MarkTarget& t) { assign(t.marks.vlan, read_vlan(v, t.mistakes)); }},
    {"ttl",
     [](const TomlNode& v, MarkTarget& t) { assign(t.marks.ttl, read_set<256>(v, ttl_kind, t.mistakes)); }},
    {"priority", [](const TomlNode& v,
                    MarkTarget& t) { assign(t.marks.priority, read_set<8>(v, priority_kind, t.mistakes)); }},
    {"lossless",
     [](const TomlNode& v, MarkTarget& t) { assign(t.marks.lossless, read_boolean(v, t.mistakes)); }},
};

/// Row of a marking key for the keys of a rule.
template <std::size_t i>
void rule_mark(const TomlNode& value, RuleTarget& target) {
  MarkTarget marks{target.rule.marks, target.mistakes};
  mark_rows[i].read(value, marks);
}

constexpr KeyRow<RuleTarget> policy_rule_rows[] = {
    {"name",
     [](const TomlNode& v, RuleTarget& t) {
       constexpr std::string_view allowed =
           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
       const bool good = v.kind == TomlNode::Kind::string && !v.text.empty() &&
                         v.text.find_first_not_of(allowed) == std::string::npos;
       if (good) {
         t.rule.name = v.text;
       } else {
         t.mistakes.add(v.place, "expected a name of letters, digits, _ and -, in quotes");
       }
     }},
    {"src", [](const TomlNode& v, RuleTarget& t) { t.rule.src = read_addresses(v, t.mistakes); }},
    {"dst", [](const TomlNode& v, RuleTarget& t) { t.rule.dst = read_addresses(v, t.mistakes); }},
    {"p_key", [](const TomlNode& v, RuleTarget& t) { t.rule.p_keys = read_p_keys(v, t.mistakes); }},
    {"qp",
     [](const TomlNode& v, RuleTarget& t) {
       read_numbers(v, qp_kind, t.mistakes, [&](std::uint64_t first, std::uint64_t last) {
         t.rule.qps.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)});
       });
     }},
    {"class", [](const TomlNode& v, RuleTarget& t) { t.rule.classes = read_classes(v, t.mistakes); }},
    {mark_rows[0].name, rule_mark<0>},
    {mark_rows[1].name, rule_mark<1>},
    {mark_rows[2].name, rule_mark<2>},
    {mark_rows[3].name, rule_mark<3>},
    {mark_rows[4].name, rule_mark<4>},
    {mark_rows[5].name, rule_mark<5>},
    {mark_rows[6].name, rule_mark<6>},
};
static_assert(std::size(policy_rule_rows) == 6 + std::size(mark_rows));

bool is_table(const TomlNode& node, std::string_view example, Mistakes& mistakes) {
  if (node.kind == TomlNode::Kind::table) return true;
  mistakes.add(node.place, fmt::format("expected a table, {}, not {}", example, kind_text(node)));
  return false;
}

void read_text(const TomlNode& value, std::string& to, Mistakes& mistakes) {
  if (value.kind == TomlNode::Kind::string) {
    to = value.text;
  } else {
    mistakes.add(value.place, fmt::format("expected a string in quotes, not {}", kind_text(value)));
  }
}

void read_versions(const TomlNode& value, PolicyTarget& t) {
  constexpr std::string_view names[] = {"v1", "v2"};
  unsigned versions = 0;
  read_texts(value, "RoCE version", t.mistakes, [&](const TomlNode& item) {
    if (const auto index = read_word(item, names, t.mistakes)) versions |= 1U << *index;
  });
  if (versions != 0) t.model.versions = static_cast<std::uint8_t>(versions);
}

void read_map(const TomlNode& value, PolicyTarget& t) {
  if (!is_table(value, "[dscp_to_priority]", t.mistakes)) return;
  for (const TomlEntry& entry : value.entries) {
    TomlNode key;
    key.kind = TomlNode::Kind::string;
    key.place = entry.place;
    key.text = entry.key;
    const auto codes = read_set<64>(key, dscp_kind, t.mistakes);
    std::optional<std::uint8_t> priority;
    if (entry.value.kind == TomlNode::Kind::integer && entry.value.number >= 0 && entry.value.number <= 7) {
      priority = static_cast<std::uint8_t>(entry.value.number);
    } else {
      t.mistakes.add(entry.value.place,
                     fmt::format("DSCP {} maps to one priority: expected 0 to 7", entry.key));
    }
    if (!codes || !priority) continue;
    for (std::size_t dscp = 0; dscp < DscpSet::limit; ++dscp) {
      if (!codes->contains(dscp)) continue;
      auto& to = t.model.dscp_to_priority[dscp];
      if (to) t.mistakes.add(entry.place, fmt::format("DSCP {} is mapped twice", dscp));
      to = priority;
    }
  }
}

void read_class_table(const TomlNode& value, PolicyTarget& t) {
  if (!is_table(value, "[class.data]", t.mistakes)) return;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < traffic_class_count; ++i)
    names.push_back(traffic_class_name(static_cast<TrafficClass>(i)));
  for (const TomlEntry& entry : value.entries) {
    const auto at = std::find(names.begin(), names.end(), entry.key);
    if (at == names.end()) {
      t.mistakes.add(entry.place,
                     fmt::format("no class {}: expected data, ack, response, atomic, cm, cnp or other{}",
                                 key_text(entry.key), meant_text(entry.key, names)));
      continue;
    }
    const std::string where = fmt::format("[class.{}]", entry.key);
    if (!is_table(entry.value, where, t.mistakes)) continue;
    MarkRule& marks = t.model.classes[static_cast<std::size_t>(at - names.begin())].emplace();
    MarkTarget target{marks, t.mistakes};
    read_keys<MarkTarget>(entry.value, where, mark_rows, target, t.mistakes);
  }
}

/// Place of the value of a table's key; of the table if it does not have the key.
TextPlace place_of_key(const TomlNode& table, std::string_view key) {
  const auto at = std::find_if(table.entries.begin(), table.entries.end(),
                               [key](const TomlEntry& entry) { return entry.key == key; });
  return at != table.entries.end() ? at->value.place : table.place;
}

/// Whether all of them are IPv4 (true) or none is (false); absent if mixed or empty.
std::optional<bool> all_ipv4(const std::vector<AddressPrefix>& prefixes) {
  // A prefix shorter than that of IPv4 holds addresses of both kinds.
  constexpr unsigned before_ipv4 = 96;
  dissect::IpAddress mapped;  // 0.0.0.0
  mapped.bytes[10] = mapped.bytes[11] = 0xff;
  std::optional<bool> all;
  for (const AddressPrefix& prefix : prefixes) {
    if (prefix.bits() < before_ipv4 && prefix.contains(mapped)) return std::nullopt;
    const bool ipv4 = prefix.address().is_v4_mapped();
    if (all && *all != ipv4) return std::nullopt;
    all = ipv4;
  }
  return all;
}

bool has_conditions(const FlowRule& rule) {
  return !rule.src.empty() || !rule.dst.empty() || !rule.p_keys.empty() || !rule.qps.empty();
}

/// Reports rules that never match: a rule without conditions is evaluated first and matches its classes.
void find_dead_rules(const TomlNode& value, PolicyTarget& t) {
  const std::vector<FlowRule>& rules = t.model.rules;
  const auto mistaken = [&](std::size_t i, std::string_view why) {
    t.mistakes.add(value.items[i].place,
                   fmt::format("the rule '{}' can never apply: {}", rules[i].name, why));
  };
  unsigned global = 0;  // classes matched by rules without conditions
  std::string_view first;
  for (const FlowRule& rule : rules) {
    if (has_conditions(rule)) continue;
    global |= rule.classes;
    if (first.empty()) first = rule.name;
  }
  unsigned before = 0;  // classes matched by such rules above this one
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const FlowRule& rule = rules[i];
    const bool conditions = has_conditions(rule);
    if ((rule.classes & ~(conditions ? global : before)) == 0) {
      mistaken(i, fmt::format("rules without src, dst, p_key and qp ('{}') are evaluated first and match all "
                              "packets of its classes; set markings for all in [class.data], [class.ack] ...",
                              first));
    }
    if (!conditions) before |= rule.classes;
    const auto from = all_ipv4(rule.src), to = all_ipv4(rule.dst);
    if (from && to && *from != *to) mistaken(i, "src and dst are not of the same IP version");
  }
}

void read_rules(const TomlNode& value, PolicyTarget& t) {
  if (value.kind != TomlNode::Kind::array) {
    t.mistakes.add(value.place, fmt::format("expected tables, [[rule]], not {}", kind_text(value)));
    return;
  }
  const std::size_t mistakes_before = t.mistakes.errors.size();
  for (const TomlNode& item : value.items) {
    if (!is_table(item, "[[rule]]", t.mistakes)) continue;
    if (t.model.rules.size() == most_rules) {
      t.mistakes.add(item.place, fmt::format("more than {} rules", most_rules));
      return;
    }
    FlowRule& rule = t.model.rules.emplace_back();
    rule.name = std::to_string(t.model.rules.size());
    RuleTarget target{rule, t.mistakes};
    const std::size_t before = t.mistakes.errors.size();
    read_keys<RuleTarget>(item, "[[rule]]", policy_rule_rows, target, t.mistakes);
    if (t.mistakes.errors.size() != before) continue;
    if (rule.marks.empty())
      t.mistakes.add(item.place,
                     "a rule without markings: expected dscp, ecn, pcp, vlan, ttl, priority or lossless");
    for (std::size_t i = 0; i + 1 < t.model.rules.size(); ++i) {
      if (t.model.rules[i].name != rule.name) continue;
      t.mistakes.add(place_of_key(item, "name"), fmt::format("a second rule with the name '{}'", rule.name));
      break;
    }
  }
  if (t.model.rules.size() == value.items.size() && t.mistakes.errors.size() == mistakes_before)
    find_dead_rules(value, t);
}

constexpr KeyRow<PolicyTarget> allow_rows[] = {
    {"addresses",
     [](const TomlNode& v, PolicyTarget& t) { t.model.addresses = read_addresses(v, t.mistakes); }},
    {"p_keys", [](const TomlNode& v, PolicyTarget& t) { t.model.p_keys = read_p_keys(v, t.mistakes); }},
};
constexpr KeyRow<PolicyTarget> check_rows[] = {
    {"pcp_from_tos",
     [](const TomlNode& v, PolicyTarget& t) {
       t.model.pcp_from_tos = read_boolean(v, t.mistakes).value_or(false);
     }},
    {"pcp_from_dscp",
     [](const TomlNode& v, PolicyTarget& t) {
       t.model.pcp_from_dscp = read_boolean(v, t.mistakes).value_or(false);
     }},
};

void read_traffic_class_file(const TomlNode& value, PolicyTarget& t) {
  read_texts(value, "path of a traffic_class file", t.mistakes, [&](const TomlNode& item) {
    namespace fs = std::filesystem;
    const std::string path = (fs::path(t.mistakes.file()).parent_path() / fs::path(item.text)).string();
    const auto text = t.read ? t.read(path) : tl::unexpected(std::string("other files are not read here"));
    if (!text) {
      t.mistakes.add(item.place, fmt::format("{}: {}", path, text.error()));
      return;
    }
    t.lines.add_file(*text, path, t.mistakes.errors);
  });
}

void read_traffic_class(const TomlNode& value, PolicyTarget& t) {
  read_texts(value, "line of a traffic_class file", t.mistakes, [&](const TomlNode& item) {
    PolicyErrors errors;
    t.lines.add(item.text, errors);
    // After the opening quote.
    for (const PolicyError& e : errors)
      t.mistakes.add({item.place.line, item.place.column + e.column}, e.message);
  });
}

constexpr KeyRow<PolicyTarget> policy_rows[] = {
    {"name", [](const TomlNode& v, PolicyTarget& t) { read_text(v, t.model.name, t.mistakes); }},
    {"description",
     [](const TomlNode& v, PolicyTarget& t) { read_text(v, t.model.description, t.mistakes); }},
    {"roce_version", read_versions},
    {"trust",
     [](const TomlNode& v, PolicyTarget& t) {
       constexpr std::string_view words[] = {"dscp", "pcp"};
       if (const auto index = read_word(v, words, t.mistakes)) t.model.trust = static_cast<Trust>(*index);
     }},
    {"lossless",
     [](const TomlNode& v, PolicyTarget& t) {
       if (v.kind == TomlNode::Kind::array && v.items.empty()) {
         t.model.lossless.emplace();  // an empty list: none is lossless
       } else {
         assign(t.model.lossless, read_set<8>(v, priority_kind, t.mistakes));
       }
     }},
    {"trimmed_dscp",
     [](const TomlNode& v, PolicyTarget& t) {
       t.model.trimmed_dscp = read_set<64>(v, dscp_kind, t.mistakes).value_or(DscpSet());
       if (t.model.trimmed_dscp.contains(0))
         t.mistakes.add(v.place, "DSCP 0 is that of other traffic too: it does not tell trimmed packets");
     }},
    {"mrc_port",
     [](const TomlNode& v, PolicyTarget& t) {
       read_numbers(v, port_kind, t.mistakes, [&](std::uint64_t first, std::uint64_t last) {
         if (first != last || t.model.mrc_port)
           t.mistakes.add(v.place, "mrc_port: one port, besides 4791; 0: none");
         t.model.mrc_port = static_cast<std::uint16_t>(first);
       });
     }},
    {"dscp_to_priority", read_map},
    {"class", read_class_table},
    {"rule", read_rules},
    {"allow",
     [](const TomlNode& v, PolicyTarget& t) {
       if (is_table(v, "[allow]", t.mistakes))
         read_keys<PolicyTarget>(v, "[allow]", allow_rows, t, t.mistakes);
     }},
    {"checks",
     [](const TomlNode& v, PolicyTarget& t) {
       if (is_table(v, "[checks]", t.mistakes))
         read_keys<PolicyTarget>(v, "[checks]", check_rows, t, t.mistakes);
     }},
    {"traffic_class", read_traffic_class},
    {"traffic_class_file", read_traffic_class_file},
};

}  // namespace

std::string PolicyError::describe() const {
  if (line == 0) return fmt::format("{}: {}", file, message);
  return fmt::format("{}:{}:{}: {}", file, line, column, message);
}

tl::expected<PolicyModel, PolicyErrors> parse_policy(std::string_view text, const std::string& file,
                                                     const ReadPolicyFile& read) {
  Mistakes mistakes(file);
  PolicyModel model;
  PolicyTarget target{model, mistakes, read, {}};
  if (is_traffic_class_file(text)) {
    model.name = "traffic_class";
    target.lines.add_file(text, file, mistakes.errors);
  } else {
    auto root = parse_toml(text);
    if (!root) {
      root.error().file = file;
      return tl::unexpected(PolicyErrors{root.error()});
    }
    read_keys<PolicyTarget>(*root, "a policy", policy_rows, target, mistakes);
    if (mistakes.errors.empty()) check_whole(*root, model, mistakes);
  }
  if (!mistakes.errors.empty()) return tl::unexpected(std::move(mistakes.errors));
  model.traffic_class = target.lines.take();
  return model;
}

}  // namespace roce::analyze

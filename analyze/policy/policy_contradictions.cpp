// SPDX-License-Identifier: Apache-2.0
#include "analyze/policy/policy_contradictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace roce::analyze {
namespace {

/// Why no packet can comply with these markings, reported at `key`; empty if some can.
struct Contradiction {
  std::string_view key;
  std::string text;
};

Contradiction contradiction_of(const PolicyModel& model, const MarkRule& marks) {
  // RoCE v1 has the priority of its tag, whatever `trust` is.
  const bool by_dscp = model.trust == Trust::dscp && (model.versions & roce_v2_allowed) != 0;
  const auto is_lossless = [&](unsigned priority) {
    return model.lossless && model.lossless->contains(priority);
  };
  std::optional<PrioritySet> led_to;  // priorities of the allowed values of the trusted marking
  if (by_dscp && marks.dscp) {
    led_to.emplace();
    for (unsigned dscp = 0; dscp < DscpSet::limit; ++dscp) {
      if (marks.dscp->contains(dscp)) led_to->add(priority_of_dscp(model, static_cast<std::uint8_t>(dscp)));
    }
  } else if (!by_dscp && marks.pcp) {
    led_to = marks.pcp;
  }
  const auto any = [](const PrioritySet& set, auto&& fits) {
    for (unsigned p = 0; p < PrioritySet::limit; ++p) {
      if (set.contains(p) && fits(p)) return true;
    }
    return false;
  };
  const std::string_view mark = by_dscp ? "DSCP" : "PCP";
  if (led_to && marks.priority && !any(*led_to, [&](unsigned p) { return marks.priority->contains(p); })) {
    return {"priority", fmt::format("no {} allowed here maps to an allowed priority{}", mark,
                                    by_dscp ? ": see [dscp_to_priority], the default is DSCP >> 3" : "")};
  }
  if (!marks.lossless || !model.lossless) return {};
  const bool wanted = *marks.lossless;
  for (const std::optional<PrioritySet>& set : {led_to, marks.priority}) {
    if (set && !any(*set, [&](unsigned p) { return is_lossless(p) == wanted; })) {
      return {"lossless",
              fmt::format("no priority allowed here{} is {}lossless",
                          marks.priority ? "" : fmt::format(" by its {}", mark), wanted ? "" : "not ")};
    }
  }
  return {};
}

}  // namespace

void check_whole(const TomlNode& root, const PolicyModel& model, Mistakes& mistakes) {
  const auto look = [&](const TomlNode& table, const MarkRule& marks) {
    const Contradiction wrong = contradiction_of(model, marks);
    for (const TomlEntry& entry : table.entries) {
      if (entry.key == "lossless" && !model.lossless) {
        mistakes.add(entry.place, "the policy does not define the lossless priorities: lossless = [3]");
      } else if (entry.key == wrong.key) {
        mistakes.add(entry.value.place, wrong.text);
      }
    }
  };
  for (const TomlEntry& entry : root.entries) {
    if (entry.key == "class") {
      for (const TomlEntry& each : entry.value.entries) {
        for (std::size_t i = 0; i < model.classes.size(); ++i) {
          if (model.classes[i] && each.key == traffic_class_name(static_cast<TrafficClass>(i)))
            look(each.value, *model.classes[i]);
        }
      }
    } else if (entry.key == "rule") {
      for (std::size_t i = 0; i < std::min(entry.value.items.size(), model.rules.size()); ++i)
        look(entry.value.items[i], model.rules[i].marks);
    }
  }
}

}  // namespace roce::analyze

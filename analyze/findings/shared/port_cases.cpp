// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/port_cases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {
namespace {

/// Filter terms for all values for which `take` is true: "roce.dscp == 26", "(roce.dscp >= 0 && ...".
template <class Take>
void add_tests(std::vector<std::string>& tests, std::string_view field, unsigned values, Take&& take) {
  for (unsigned v = 0; v < values; ++v) {
    if (!take(v)) continue;
    unsigned last = v;
    while (last + 1 < values && take(last + 1)) ++last;
    tests.push_back(last == v ? fmt::format("{} == {}", field, v)
                              : fmt::format("({0} >= {1} && {0} <= {2})", field, v, last));
    v = last;
  }
}

}  // namespace

void for_each_lane(const Snapshot& snapshot, const LaneVisitor& look) {
  for (const PausePort& port : snapshot.pauses.ports) {
    for (unsigned i = 0; i < PausePort::lane_count; ++i) {
      if (port.lanes[i]) look(port, i, *port.lanes[i]);
    }
  }
}

std::string lane_text(unsigned lane_index) {
  return lane_index == PausePort::global ? std::string("all priorities (PAUSE)")
                                         : fmt::format("priority {}", lane_index);
}

std::string port_text(const Snapshot& snapshot, std::uint64_t mac, std::uint16_t point) {
  const auto other = [point](const auto& port) { return port.point != point; };
  const bool several = std::any_of(snapshot.pauses.ports.begin(), snapshot.pauses.ports.end(), other) ||
                       std::any_of(snapshot.dcbx.ports.begin(), snapshot.dcbx.ports.end(), other);
  return several ? fmt::format("{} (capture point {})", mac_text(mac), point) : mac_text(mac);
}

std::string paused_text(const PausePort& port, std::int64_t ns) {
  return (is_speed_known(port) ? "" : "at least ") + duration_text(ns);
}

std::string pfc_list(std::uint8_t priorities) {
  std::string text;
  for (unsigned p = 0; p < 8; ++p) text += fmt::format("{}{}", p == 0 ? "" : ",", priorities >> p & 1U);
  return text;
}

std::string priority_words(std::uint8_t priorities) {
  const bool one = (priorities & (priorities - 1U)) == 0 && priorities != 0;
  return (one ? "priority " : "priorities ") + priorities_text(priorities);
}

unsigned dscp_of(const PriorityMap& map, unsigned priority) noexcept {
  // What nearly all fabrics use for RoCE data, if the map assigns it to this priority.
  constexpr std::size_t usual = 26;
  if (map.by_dscp[usual] == priority) return usual;
  const auto found = std::find(map.by_dscp.begin(), map.by_dscp.end(), priority);
  return found == map.by_dscp.end() ? 8 * priority
                                    : static_cast<unsigned>(std::distance(map.by_dscp.begin(), found));
}

unsigned traffic_class_for(const PriorityMap& map, unsigned priority) noexcept {
  constexpr unsigned ect0 = 2;
  return 4 * dscp_of(map, priority) + ect0;
}

std::string pause_filter(std::uint64_t mac) {
  return fmt::format("eth.src == {} && macc", mac_text(mac));
}

std::string priority_filter(std::uint8_t priorities, const PriorityMap& map) {
  using From = PriorityMap::Trust;
  const auto wanted = [priorities](unsigned priority) { return (priorities >> (priority & 7U) & 1U) != 0; };
  std::vector<std::string> tests;
  std::vector<std::string> dscps;
  if (map.trust != From::dscp) add_tests(tests, "roce.pcp", 8, wanted);
  if (map.trust != From::tag)
    add_tests(dscps, "roce.dscp", 64, [&](unsigned dscp) { return wanted(map.by_dscp[dscp]); });
  const std::string by_dscp = fmt::format("{}", fmt::join(dscps, " || "));
  if (!dscps.empty()) {
    const std::string all = dscps.size() == 1 ? by_dscp : fmt::format("({})", by_dscp);
    tests.push_back(map.trust == From::dscp ? by_dscp : fmt::format("(!vlan && {})", all));
  } else if (map.trust == From::tag && wanted(map.untagged)) {
    tests.emplace_back("!vlan");
  }
  if (tests.empty()) return "infiniband.bth";
  return fmt::format("infiniband.bth && ({})", fmt::join(tests, " || "));
}

DataOn data_on(const PriorityUse& use, std::uint8_t priorities) {
  constexpr std::size_t named = 8;
  DataOn found;
  for (std::uint8_t p = 0; p < 8; ++p) {
    for (std::size_t c = 0; c < traffic_class_count; ++c) {
      const auto kind = static_cast<TrafficClass>(c);
      if (!fills_links(kind)) continue;
      const PriorityUse::Row& row = use.of(p, kind);
      found.all += row.packets;
      if ((priorities >> p & 1U) == 0 || row.packets == 0) continue;
      const std::uint64_t before = found.proof.count;
      found.proof.add(&row.first);
      found.proof.count = before + row.packets;
      for (const std::uint32_t id : row.connections) {
        if (found.connections.size() < named) found.connections.push_back(id);
      }
    }
  }
  std::sort(found.connections.begin(), found.connections.end());
  found.connections.erase(std::unique(found.connections.begin(), found.connections.end()),
                          found.connections.end());
  return found;
}

Finding finding_of(Severity severity, std::string subject, const Proof& proof) {
  Finding finding;
  finding.severity = severity;
  finding.subject = std::move(subject);
  finding.count = proof.count;
  finding.packets = proof.frames;
  finding.first_time_ns = proof.first_time_ns;
  finding.last_time_ns = proof.last_time_ns;
  return finding;
}

void add_told_once(FindingSink& sink, std::vector<Finding> findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.count > b.count;
  });
  if (findings.size() > findings_a_rule) {
    // The packets and the command stay those of the first of them.
    const auto first = findings.begin() + (findings_a_rule - 1);
    Finding rest = std::move(*first);
    for (auto at = std::next(first); at != findings.end(); ++at) {
      rest.count += at->count;
      rest.confidence = std::min(rest.confidence, at->confidence);
      for (const auto& time : {at->first_time_ns, at->last_time_ns}) {
        if (!time) continue;
        rest.first_time_ns = std::min(rest.first_time_ns.value_or(*time), *time);
        rest.last_time_ns = std::max(rest.last_time_ns.value_or(*time), *time);
      }
    }
    const auto others = static_cast<std::size_t>(std::distance(first, findings.end()));
    rest.explanation = fmt::format("{} more of these ({} in all). The first: {}, {}", others,
                                   findings_a_rule - 1 + others, rest.subject, rest.explanation);
    rest.subject = fmt::format("{} more", others);
    findings.erase(first, findings.end());
    findings.push_back(std::move(rest));
  }
  for (Finding& finding : findings) sink.add(std::move(finding));
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyze/base/units.hpp"

namespace roce::analyze {
namespace {

using namespace capture;

struct CounterPlace {
  std::string place;
  std::string driver;
  CounterSource source{};
  const std::vector<HostCounter>* counters = nullptr;
};

std::vector<CounterPlace> places_of(const HostFacts& host) {
  std::vector<CounterPlace> places;
  for (const RdmaDevice& device : host.devices) {
    for (const RdmaPort& port : device.ports) {
      places.push_back({place_of(device, port), device.driver, CounterSource::port, &port.counters});
      places.push_back({place_of(device, port), device.driver, CounterSource::hardware, &port.hw_counters});
    }
  }
  for (const Netdev& netdev : host.netdevs) {
    places.push_back({netdev.name, netdev.driver, CounterSource::ethtool, &netdev.ethtool});
    places.push_back({netdev.name, netdev.driver, CounterSource::kernel, &netdev.counters});
  }
  return places;
}

void compare_counters(const CounterPlace& before, const CounterPlace& after, HostDifference& out) {
  std::map<std::string_view, std::uint64_t> old;
  for (const HostCounter& counter : *before.counters) old.emplace(counter.name, counter.value);
  for (const HostCounter& counter : *after.counters) {
    const auto found = old.find(counter.name);
    if (found == old.end()) {
      ++out.counters_alone;
      continue;
    }
    const std::uint64_t was = found->second;
    old.erase(found);
    ++out.counters_compared;
    if (was == counter.value) continue;
    const CounterMeaning* meaning = meaning_of(after.source, after.driver, counter.name);
    const bool gauge = meaning != nullptr && meaning->nature == CounterNature::gauge;
    out.counters.push_back({after.place, after.driver, after.source, counter.name, was, counter.value,
                            counter.value < was && !gauge, meaning});
  }
  out.counters_alone += old.size();
}

/// Order of counters: faults first, unknown counters after traffic.
int rank(const CounterChange& change) {
  if (change.meaning == nullptr) return 4;
  switch (change.meaning->nature) {
    case CounterNature::fault:
      return 0;
    case CounterNature::event:
      return 1;
    case CounterNature::traffic:
      return 2;
    case CounterNature::gauge:
      return 3;
  }
  return 4;
}

/// Values by place and name; a name may have several.
using Settings = std::map<std::pair<std::string, std::string>, std::string>;
Settings by_name(const HostFacts& host) {
  Settings settings;
  for (SettingRow& row : settings_of(host)) {
    std::string& value = settings[{std::move(row.place), std::move(row.name)}];
    value += (value.empty() ? "" : "; ") + row.value;
  }
  return settings;
}

void compare_settings(const HostFacts& before, const HostFacts& after, HostDifference& out) {
  Settings old = by_name(before);
  for (auto& [name, value] : by_name(after)) {
    const auto found = old.find(name);
    const std::string was = found == old.end() ? std::string() : found->second;
    if (found != old.end()) old.erase(found);
    if (was != value) out.settings.push_back({name.first, name.second, was, value});
  }
  for (const auto& [name, value] : old) out.settings.push_back({name.first, name.second, value, ""});
}

constexpr std::size_t most_evidence = 8;

/// One finding for all faults of a place, since they usually have a common cause.
void fault_findings(const HostDifference& difference, std::vector<HostFinding>& findings) {
  std::map<std::string, HostFinding> by_place;
  std::map<std::string, std::set<std::string_view>> advices;
  for (const CounterChange& change : difference.counters) {
    if (change.meaning == nullptr || change.meaning->nature != CounterNature::fault) continue;
    HostFinding& finding = by_place[change.place];
    finding.id = "host_faults_counted";
    finding.severity = Severity::warning;
    finding.subject = change.place;
    const std::string figure = fmt::format("{} +{} {}: {}", change.name, change.moved(), change.meaning->unit,
                                           change.meaning->meaning);
    if (finding.evidence.size() < most_evidence)
      finding.explanation += (finding.explanation.empty() ? "" : ". ") + figure;
    if (finding.evidence.size() < most_evidence)
      finding.evidence.push_back(fmt::format("{} {} {} > {}", counter_source_name(change.source), change.name,
                                             change.before, change.after));
    if (!change.meaning->advice.empty() && advices[change.place].insert(change.meaning->advice).second)
      finding.advice +=
          (finding.advice.empty() ? "" : ". ") + fmt::format("{}: {}", change.name, change.meaning->advice);
  }
  for (auto& [place, finding] : by_place) {
    finding.explanation += '.';
    if (!finding.advice.empty()) finding.advice += '.';
    findings.push_back(std::move(finding));
  }
}

void reset_findings(const HostDifference& difference, std::vector<HostFinding>& findings) {
  std::map<std::string, HostFinding> by_place;
  std::map<std::string, std::uint64_t> counts;
  for (const CounterChange& change : difference.counters) {
    if (!change.backwards || change.meaning == nullptr) continue;
    HostFinding& finding = by_place[change.place];
    ++counts[change.place];
    if (finding.evidence.size() < most_evidence)
      finding.evidence.push_back(fmt::format("{} {} {} > {}", counter_source_name(change.source), change.name,
                                             change.before, change.after));
  }
  for (auto& [place, finding] : by_place) {
    finding.id = "host_counters_reset";
    finding.severity = Severity::notice;
    finding.subject = place;
    finding.explanation = fmt::format(
        "{} lower than before: the driver was reloaded, the port reset or the counters cleared in between. "
        "Their current values are shown as the increments; what was counted before the reset is lost.",
        plural(counts[place], "counter is", "counters are"));
    finding.advice = "See dmesg for why, and take the first snapshot again.";
    findings.push_back(std::move(finding));
  }
}

/// Text for two snapshots that are not of the same host.
std::string other_host_text(const std::string& before, const std::string& after) {
  if (!before.empty() && !after.empty())
    return fmt::format("The snapshots are of two hosts: {} and {}.", before, after);
  return fmt::format("The {} snapshot is of {}, the other one has no host name.",
                     after.empty() ? "earlier" : "later", after.empty() ? before : after);
}

}  // namespace

void sort_findings(std::vector<HostFinding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const HostFinding& a, const HostFinding& b) { return a.severity > b.severity; });
}

HostDifference difference(const HostFacts& before, const HostFacts& after) {
  HostDifference out;
  out.before_ns = before.time_ns;
  out.after_ns = after.time_ns;
  std::map<std::pair<std::string, CounterSource>, CounterPlace> old;
  for (CounterPlace& place : places_of(before)) old.emplace(std::pair(place.place, place.source), place);
  for (const CounterPlace& place : places_of(after)) {
    const auto found = old.find({place.place, place.source});
    if (found == old.end()) {
      out.counters_alone += place.counters->size();
      continue;
    }
    compare_counters(found->second, place, out);
    old.erase(found);
  }
  for (const auto& [name, place] : old) out.counters_alone += place.counters->size();
  std::stable_sort(out.counters.begin(), out.counters.end(),
                   [](const CounterChange& a, const CounterChange& b) { return rank(a) < rank(b); });
  compare_settings(before, after, out);
  return out;
}

std::vector<HostFinding> difference_findings(const HostFacts& before, const HostFacts& after,
                                             const HostDifference& difference) {
  std::vector<HostFinding> findings;
  if (before.host != after.host) {
    findings.push_back({"host_other_host",
                        Severity::warning,
                        "both snapshots",
                        other_host_text(before.host, after.host),
                        "Compare snapshots of one host: the differences below are not meaningful.",
                        {}});
  }
  if (after.time_ns < before.time_ns) {
    findings.push_back(
        {"host_time_backwards",
         Severity::warning,
         "both snapshots",
         fmt::format("The later snapshot is {} older than the earlier one: they were swapped, or the clock "
                     "was set back.",
                     duration_text(span_ns(after.time_ns, before.time_ns))),
         "If they were swapped: --before with the older one, --after with the newer.",
         {}});
  }
  fault_findings(difference, findings);
  reset_findings(difference, findings);
  if (!difference.settings.empty()) {
    HostFinding finding{"host_settings_changed", Severity::notice, "host", "", "", {}};
    for (const SettingChange& change : difference.settings) {
      if (finding.evidence.size() == most_evidence) break;
      finding.evidence.push_back(fmt::format("{} {}: {} > {}", change.place, change.name,
                                             change.before.empty() ? "(none)" : change.before,
                                             change.after.empty() ? "(none)" : change.after));
    }
    finding.explanation =
        fmt::format("{} changed between the snapshots.",
                    difference.settings.size() == 1 ? std::string("1 setting")
                                                    : fmt::format("{} settings", difference.settings.size()));
    finding.advice =
        "The counters before and after belong to different settings: repeat if that was not intended.";
    findings.push_back(std::move(finding));
  }
  sort_findings(findings);
  return findings;
}

}  // namespace roce::analyze

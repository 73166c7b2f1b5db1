// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "analyze/base/address_text.hpp"
#include "analyze/base/median.hpp"
#include "analyze/base/units.hpp"
#include "analyze/diagnosis/advice.hpp"
#include "analyze/diagnosis/draft.hpp"
#include "analyze/diagnosis/troubles.hpp"
#include "analyze/diagnosis/words.hpp"

namespace roce::analyze {
namespace diagnosis {
namespace {

constexpr std::size_t named = 8;

Cost cost_of(const Trouble& trouble) {
  Cost cost;
  cost.failed = trouble.failed;
  std::vector<std::int64_t> recoveries;
  for (const Incident* each : trouble.incidents) {
    cost.repeated_packets += each->repeated_packets;
    cost.repeated_bytes += each->repeated_bytes;
    cost.discarded_packets += each->discarded_packets;
    cost.stalled_ns += each->stalled_ns;
    if (each->recovery_ns != Incident::unknown_ns) recoveries.push_back(each->recovery_ns);
  }
  if (recoveries.empty()) return cost;
  cost.recovery_median_ns = *median_of(recoveries);
  cost.recovery_longest_ns = *std::max_element(recoveries.begin(), recoveries.end());
  return cost;
}

/// What it did to the traffic: by its shares, not by numbers.
Consequence consequence_of(const Trouble& trouble, const HitShare& share) {
  if (trouble.failed + trouble.spent != 0) return Consequence::fatal;
  // No traffic at all is degraded, however few packets say so.
  constexpr Causes of_standstill{RootCause::pause, RootCause::no_answer, RootCause::outage,
                                 RootCause::path_mtu};
  if (of_standstill.has(trouble.cause)) return Consequence::degraded;
  constexpr std::uint64_t chance = 3;
  constexpr std::uint64_t a_row = 10;
  // Once or twice may be chance, unless a large part of the traffic went with it. Time is none of that: in a
  // short capture any timer fills a large part.
  const bool seldom =
      trouble.weight() < chance || (trouble.incidents.size() < chance && trouble.at_least < a_row);
  const double large = seldom ? 100 : 1;
  constexpr double lost = 1e-4;
  constexpr double repeated = 1e-3;
  constexpr double stalled = 0.01;
  if (counted_in_packets.has(trouble.cause) && (!seldom || trouble.at_least >= chance) &&
      static_cast<double>(trouble.at_least) >= large * lost * static_cast<double>(share.sent))
    return Consequence::degraded;
  // Where nothing is known to be missing, a timer that ran out once or twice may have been too short.
  const bool proven = !seldom || (counted_in_packets.has(trouble.cause) && share.repeated >= a_row);
  if (proven && share.of_repeats() >= large * repeated) return Consequence::degraded;
  const bool waits = static_cast<double>(share.stalled_ns) >= stalled * static_cast<double>(share.time_ns);
  return !seldom && waits && share.stalled_ns != 0 ? Consequence::degraded : Consequence::odd;
}

void place(const Trouble& trouble, Diagnosis& d) {
  const auto one = [&](dissect::IpAddress Route::*end) -> std::optional<dissect::IpAddress> {
    const dissect::IpAddress& host = (*trouble.ways.begin()).*end;
    for (const Route& way : trouble.ways) {
      if (way.*end != host) return std::nullopt;
    }
    return host;
  };
  d.from = one(&Route::first);
  d.to = one(&Route::second);
  d.seen = trouble.seen;
  if (of_one_receiver.has(trouble.cause)) {
    d.level = Level::host;
    d.host = d.to;
  } else if (trouble.mutual()) {
    std::tie(d.from, d.to) = *trouble.ways.begin();
    d.level = std::all_of(trouble.sides.begin(), trouble.sides.end(),
                          [&](const auto& side) { return side.first == trouble.sides.begin()->first; })
                  ? Level::connection
                  : Level::direction;
  } else if (d.from && d.to) {
    d.level = trouble.sides.size() == 1 ? Level::connection : Level::direction;
  } else if (d.from || d.to) {
    d.level = Level::host;
    d.host = d.from ? d.from : d.to;
  }
}

/// "roceanalyze incidents FILE -Y '...'": the incidents of the hosts that it is about.
std::string incidents_command(const Diagnosis& d) {
  std::string test;
  if (d.level == Level::connection && d.connections.size() == 1)
    return fmt::format("roceanalyze incidents FILE -Y 'roce.connection == {}'", d.connections.front());
  for (const auto& host : {d.from, d.to}) {
    if (host) test += fmt::format("{}roce.addr == {}", test.empty() ? "" : " && ", address_text(*host));
  }
  return test.empty() ? "roceanalyze incidents FILE"
                      : fmt::format("roceanalyze incidents FILE -Y '{}'", test);
}

Diagnosis diagnosis_of(const Snapshot& snapshot, const Trouble& trouble,
                       const RepeatsOfConnections& repeats) {
  Diagnosis d;
  d.cause = root_cause_names[trouble.cause];
  place(trouble, d);
  const HitShare share = hit_share(snapshot, trouble, repeats);
  d.severity = consequence_of(trouble, share);
  d.cost = cost_of(trouble);
  d.at_least = trouble.at_least;
  if (trouble.at_most != 0) d.at_most = trouble.at_least + trouble.at_most;
  d.of = share.sent;
  d.since_ns = trouble.first_ns;
  d.until_ns = trouble.last_ns;
  double confidence = 0;
  for (const Incident* each : trouble.incidents) {
    confidence += static_cast<double>(each->confidence);
    if (d.incidents.size() < named) d.incidents.push_back(each->id);
  }
  d.incident_count = trouble.incidents.size();
  if (d.incident_count != 0) d.confidence = confidence / static_cast<double>(d.incident_count);
  for (const auto& [id, side] : trouble.sides) {
    if (!d.connections.empty() && d.connections.back() == id) continue;
    ++d.connection_count;
    if (d.connections.size() < named) d.connections.push_back(id);
  }
  for (const std::uint64_t packet : trouble.packets) {
    if (d.packets.size() < named) d.packets.push_back(packet);
  }
  put_in_words(snapshot, trouble, share, d);
  if (d.incident_count != 0) d.commands.push_back(incidents_command(d));
  return d;
}

bool worse(const Draft& a, const Draft& b) {
  const auto rank = [](const Draft& each) {
    const Diagnosis& d = each.diagnosis;
    return std::tuple(d.severity, !of_no_traffic.has(each.cause), d.cost.failed,
                      d.cost.stalled_ns + static_cast<std::int64_t>(d.cost.repeated_packets), d.at_least);
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  return a.cause < b.cause;
}

}  // namespace
}  // namespace diagnosis

void diagnose(Snapshot& snapshot) {
  using namespace diagnosis;
  std::vector<Draft> drafts;
  const RepeatsOfConnections repeats = repeats_of_connections(snapshot);
  for (const Trouble& trouble : find_troubles(snapshot)) {
    Draft draft;
    draft.diagnosis = diagnosis_of(snapshot, trouble, repeats);
    draft.cause = trouble.cause;
    draft.advice = own_advice(snapshot, trouble);
    draft.ways = trouble.ways;
    draft.shown_on = trouble.shown_on;
    draft.symptoms = trouble.symptoms;
    for (const auto& [id, side] : trouble.sides) draft.connections.insert(id);
    drafts.push_back(std::move(draft));
  }
  std::stable_sort(drafts.begin(), drafts.end(), worse);
  share_out_findings(snapshot, drafts);
  std::stable_sort(drafts.begin(), drafts.end(), worse);
  snapshot.diagnoses.clear();
  for (Draft& draft : drafts) snapshot.diagnoses.push_back(std::move(draft.diagnosis));
}

}  // namespace roce::analyze

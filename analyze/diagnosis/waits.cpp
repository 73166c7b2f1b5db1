// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/waits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace roce::analyze::diagnosis {

bool may_follow(IncidentKind what) noexcept {
  switch (what) {
    case IncidentKind::rnr:
    case IncidentKind::rnr_exhausted:
    case IncidentKind::refused_request:
    case IncidentKind::corruption:
    case IncidentKind::count_:
      return false;
    default:
      return true;
  }
}

bool got_through(const Incident& incident, std::int64_t from_ns, std::int64_t until_ns) noexcept {
  constexpr std::int64_t edge = 16;
  const std::int64_t margin = (until_ns - from_ns) / edge;
  return incident.over && incident.end_ns > from_ns + margin && incident.end_ns < until_ns - margin;
}

std::optional<Wait> wait_of(const Incident& incident, const Connection& connection) {
  // An outage is over when something gets through again: who gave up does not show it.
  if (incident.learned != LearnedBy::timer || incident.start_ns == capture::no_time || !incident.over ||
      incident.what == IncidentKind::path_silent)
    return std::nullopt;
  const Silence& own = incident.silent[incident.side];
  const Silence& other = incident.silent[1 - incident.side];
  Wait wait{&incident, &connection};
  if (incident.what == IncidentKind::needless_repeat &&
      2 * incident.confirmed_ago_ns > incident.learned_after_ns) {
    // Nor does who repeated it as often as may be.
    if (connection.last_time_ns <= incident.end_ns || incident.retries >= all_retries) return std::nullopt;
    if (incident.end_ns <= incident.start_ns) return std::nullopt;  // stamps are too coarse
    wait.heard_ns = wait.from_ns = incident.start_ns;
    wait.until_ns = incident.end_ns;
    wait.heard = wait.answered = true;
    wait.unheard_again = 2 * other.length_ns() > wait.length_ns();
    return wait;
  }
  // Answers that come late are no outage.
  if (incident.what == IncidentKind::slow_responder || incident.what == IncidentKind::needless_repeat)
    return std::nullopt;
  wait.heard = 2 * own.length_ns() < other.length_ns();
  const Silence& silence = wait.heard ? other : own;
  if (silence.length_ns() <= 0) return std::nullopt;
  // What was sent last may be what is missing; the answer before it is not.
  wait.heard_ns = other.length_ns() > 0 ? std::min(silence.from_ns, other.from_ns) : silence.from_ns;
  wait.from_ns = wait.heard_ns;
  // Once it is repaired nobody waits, so silence is nothing but rest.
  wait.until_ns = std::min(silence.until_ns, incident.end_ns);
  wait.silent_ns = wait.until_ns - silence.from_ns;
  if (wait.silent_ns <= 0) return std::nullopt;
  return wait;
}

Stretch stretch_of(const std::vector<Wait>& waits) noexcept {
  std::int64_t missing_ns = INT64_MAX, heard_ns = INT64_MIN, until_ns = INT64_MAX;
  for (const Wait& wait : waits) {
    missing_ns = std::min(missing_ns, wait.from_ns);
    heard_ns = std::max(heard_ns, wait.heard_ns);
    until_ns = std::min(until_ns, wait.until_ns);
  }
  return {std::max(missing_ns, heard_ns), until_ns};
}

namespace {

constexpr std::array<unsigned, 2> sides{0, 1};

/// Messages of a requester that were answered, at least.
std::uint64_t answered(const Requester& requester) {
  std::uint64_t messages = 0;
  for (const OperationStats& operation : requester.operations) messages += operation.answered;
  return std::max(messages, requester.acks);
}

}  // namespace

Exchanges::Exchanges(const Snapshot& snapshot) {
  for (const Connection& connection : snapshot.connections)
    all_[host_pair_of(connection)].push_back(&connection);
}

bool Exchanges::went_on(const Route& hosts, Stretch stretch,
                        const std::vector<const Incident*>& incidents) const {
  constexpr std::int64_t edge = 8;
  std::set<std::pair<std::uint32_t, unsigned>> hit;
  for (const Incident* each : incidents) {
    if (each->start_ns <= stretch.until_ns && each->end_ns >= stretch.from_ns)
      hit.emplace(each->connection, each->side);
  }
  const std::vector<const Connection*>& between = all_.at(hosts);
  return std::any_of(between.begin(), between.end(), [&](const Connection* each) {
    if (each->first_time_ns > stretch.from_ns) return false;
    return std::any_of(sides.begin(), sides.end(), [&](unsigned side) {
      const Requester& requester = each->requester[side];
      if (answered(requester) == 0 || requester.last_time_ns == capture::no_time ||
          hit.contains({each->id, side}))
        return false;
      // Who has nothing more to send is at rest, but not before that.
      const Stretch sent{stretch.from_ns, std::min(requester.last_time_ns, stretch.until_ns)};
      const std::int64_t at_rest_ns = sent.length_ns() - sent.length_ns() / edge;
      return edge * sent.length_ns() >= stretch.length_ns() && at_rest_ns > 0 &&
             requester.idle_ns < static_cast<std::uint64_t>(at_rest_ns);
    });
  });
}

double Exchanges::expected(const Route& hosts, std::uint64_t in_vain, std::uint32_t in_a_row) const {
  if (in_vain == 0) return 0;
  std::uint64_t all = in_vain;
  for (const Connection* connection : all_.at(hosts)) {
    for (const Requester& requester : connection->requester) all += answered(requester);
  }
  const auto tries = static_cast<double>(all);
  return tries * std::pow(static_cast<double>(in_vain) / tries, in_a_row);
}

}  // namespace roce::analyze::diagnosis

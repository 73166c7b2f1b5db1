// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/outages.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "analyze/base/median.hpp"
#include "analyze/connection/find_connection.hpp"

namespace roce::analyze::diagnosis {
namespace {

/// From so many halves of a timer in vain on, it is no packet that was lost again and again where many are.
constexpr std::int64_t half_timers_in_vain = 9;
/// A timer may take up to four times as long as it is set to (IBTA 9.7.6.1.3): twice that is silence.
constexpr std::int64_t longest_wait = 8;
constexpr std::uint32_t repeats_in_vain = 4;
/// So many timers tell how long one takes.
constexpr std::size_t enough_timers = 4;
/// Requesters that stop at once by chance: so many are needed, and it may be so likely.
constexpr std::size_t enough_at_once = 3;
constexpr double chance_at_most = 1e-3;
/// The share of all incidents that are part of it, where it shows by their number alone.
constexpr double nearly_all_of_them = 0.9;

Route hosts_of(const Connection& connection) {
  return std::minmax(connection.ends[0].address, connection.ends[1].address);
}

/// Whether nothing that arrives explains it: what an outage may be the reason of.
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

/// Whether an incident that is over proves that something got through between these times: at their edges it
/// may have been under way.
bool got_through(const Incident& incident, std::int64_t from_ns, std::int64_t until_ns) noexcept {
  constexpr std::int64_t edge = 16;
  const std::int64_t margin = (until_ns - from_ns) / edge;
  return incident.over && incident.end_ns > from_ns + margin && incident.end_ns < until_ns - margin;
}

/// A requester that waited for its timer, and then it went on.
struct Wait {
  const Incident* incident = nullptr;
  const Connection* connection = nullptr;
  std::int64_t from_ns = 0;
  std::int64_t until_ns = 0;
  bool heard = false;          ///< its repeats were captured meanwhile
  bool answered = false;       ///< and the answer to the request: it did not get back
  bool unheard_again = false;  ///< but none to the repeats

  [[nodiscard]] std::int64_t length_ns() const noexcept { return until_ns - from_ns; }
  [[nodiscard]] const dissect::IpAddress& requester() const {
    return connection->ends[incident->side].address;
  }
  [[nodiscard]] Route way() const { return {requester(), connection->ends[1 - incident->side].address}; }
};

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
    // Nor does who repeated it as often as may be (IBTA: 3 bits).
    constexpr std::uint32_t all_retries = 7;
    if (connection.last_time_ns <= incident.end_ns || incident.retries >= all_retries) return std::nullopt;
    wait.from_ns = incident.start_ns;
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
  wait.from_ns = silence.from_ns;
  wait.until_ns = silence.until_ns;
  return wait;
}

}  // namespace

class OutageFinder {
 public:
  OutageFinder(const Snapshot& snapshot, Outages& found);
  void find();

 private:
  struct Between {
    std::vector<Wait> waits;
    std::vector<const Incident*> all;  ///< that may follow from an outage
    std::vector<std::int64_t> timers_ns;
    std::int64_t timer_ns = 0;
  };
  void find_long(const Route& hosts, Between& between);
  void find_at_once();
  [[nodiscard]] std::int64_t begin_of(const Wait& wait) const;
  void add(const Route& hosts, std::vector<Wait> waits);
  [[nodiscard]] bool is_long(const Wait& wait, std::int64_t timer_ns) const;
  [[nodiscard]] bool known(const Route& hosts, const Wait& wait) const;
  void agree();
  void locate_by_losses(const Route& hosts, Outage& outage) const;
  void locate(const Route& hosts, const std::vector<Wait>& waits, Outage& outage) const;

  const Snapshot& snapshot_;
  Outages& found_;
  std::map<Route, Between> pairs_;
  std::map<std::uint32_t, std::vector<const Incident*>> incidents_;  ///< by connection
};

OutageFinder::OutageFinder(const Snapshot& snapshot, Outages& found) : snapshot_(snapshot), found_(found) {
  for (const Incident& incident : snapshot.incidents) {
    if (!may_follow(incident.what) || incident.start_ns == capture::no_time) continue;
    const Connection* const connection = find_connection(snapshot.connections, incident.connection);
    if (connection == nullptr || !snapshot.completeness.bears(needs::both_directions, *connection)) continue;
    Between& between = pairs_[hosts_of(*connection)];
    between.all.push_back(&incident);
    incidents_[incident.connection].push_back(&incident);
    if (incident.learned == LearnedBy::timer && incident.learned_after_ns > 0)
      between.timers_ns.push_back(incident.learned_after_ns);
    if (const std::optional<Wait> wait = wait_of(incident, *connection)) between.waits.push_back(*wait);
  }
  for (auto& [hosts, between] : pairs_) {
    if (between.timers_ns.empty()) continue;
    between.timer_ns = *median_of(between.timers_ns);
    for (Wait& wait : between.waits) wait.from_ns = std::max(wait.from_ns, begin_of(wait));
  }
}

/// Before the first packet that is missed, silence is nothing but rest.
std::int64_t OutageFinder::begin_of(const Wait& wait) const {
  const std::vector<const Incident*>& own = incidents_.at(wait.connection->id);
  auto each = std::lower_bound(own.begin(), own.end(), wait.incident->id,
                               [](const Incident* one, std::uint32_t id) { return one->id < id; });
  std::int64_t first_ns = (*each)->start_ns;
  while (each != own.begin() && (*std::prev(each))->end_ns > wait.from_ns)
    first_ns = std::min(first_ns, (*--each)->start_ns);
  return first_ns;
}

bool OutageFinder::is_long(const Wait& wait, std::int64_t timer_ns) const {
  if (timer_ns <= 0) return false;
  const std::int64_t own_ns = wait.incident->learned_after_ns;
  if (wait.heard) {
    return wait.incident->retries >= repeats_in_vain &&
           2 * wait.length_ns() >= half_timers_in_vain * std::max(timer_ns, own_ns);
  }
  // Its own timer tells only how long it was silent; that of others, how long it would have been.
  return pairs_.at(hosts_of(*wait.connection)).timers_ns.size() >= enough_timers &&
         wait.length_ns() >= longest_wait * timer_ns && 2 * own_ns >= wait.length_ns();
}

/// By itself: a requester whose timer ran out again and again, or which sent nothing for much longer.
void OutageFinder::find_long(const Route& hosts, Between& between) {
  std::vector<Wait> waits;
  for (const Wait& wait : between.waits) {
    if (is_long(wait, between.timer_ns)) waits.push_back(wait);
  }
  std::sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.from_ns < b.from_ns; });
  for (auto each = waits.begin(); each != waits.end();) {
    std::int64_t until_ns = each->until_ns;
    auto next = std::next(each);
    for (; next != waits.end() && next->from_ns < until_ns; ++next)
      until_ns = std::min(until_ns, next->until_ns);
    const std::int64_t from_ns = std::prev(next)->from_ns;
    // A few answers in a row are lost as packets are: that takes as long as the timer asks for them.
    const bool answers_only = std::next(each) == next && each->answered && !each->unheard_again;
    if (!answers_only && std::none_of(between.all.begin(), between.all.end(), [&](const Incident* one) {
          return got_through(*one, from_ns, until_ns);
        }))
      add(hosts, {each, next});
    each = next;
  }
}

bool OutageFinder::known(const Route& hosts, const Wait& wait) const {
  const auto found = found_.all_.find(hosts);
  return found != found_.all_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [&](const Outage& each) {
           return wait.from_ns <= each.settled_ns && each.from_ns <= wait.until_ns;
         });
}

/// The instant at which most requesters wait. `waits`: by their beginning.
std::int64_t busiest_instant(const std::vector<Wait>& waits) {
  std::int64_t then_ns = 0;
  std::size_t most = 0;
  std::multiset<std::int64_t> ends;
  for (const Wait& wait : waits) {
    ends.insert(wait.until_ns);
    while (*ends.begin() <= wait.from_ns) ends.erase(ends.begin());
    if (ends.size() <= most) continue;
    most = ends.size();
    then_ns = wait.from_ns;
  }
  return then_ns;
}

/// The share of all packets that were sent in that time, repeats apart: of as many losses at random.
double share_of_packets(const Series& series, std::int64_t from_ns, std::int64_t until_ns) {
  std::uint64_t all = 0, then = 0;
  std::int64_t at_ns = series.start_ns();
  for (const Series::Bucket& bucket : series.buckets()) {
    const std::uint64_t sent = bucket.packets - std::min(bucket.packets, bucket.retransmitted);
    all += sent;
    if (at_ns + series.width_ns() > from_ns && at_ns <= until_ns) then += sent;
    at_ns += series.width_ns();
  }
  return all == 0 ? 1 : static_cast<double>(then) / static_cast<double>(all);
}

/// By their number: so many requesters stop at once that it is no chance, and timers hardly ever run out at
/// other times.
void OutageFinder::find_at_once() {
  std::vector<Wait> waits;
  for (const auto& [hosts, between] : pairs_) {
    for (const Wait& wait : between.waits) {
      if (!known(hosts, wait)) waits.push_back(wait);
    }
  }
  std::sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.from_ns < b.from_ns; });
  const std::int64_t then_ns = busiest_instant(waits);
  std::erase_if(waits, [&](const Wait& each) { return each.from_ns > then_ns || each.until_ns <= then_ns; });
  std::map<Route, std::vector<Wait>> stopped;
  std::set<std::pair<std::uint32_t, unsigned>> requesters;
  std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, until_ns = INT64_MAX;
  for (const Wait& wait : waits) {
    stopped[hosts_of(*wait.connection)].push_back(wait);
    requesters.emplace(wait.connection->id, wait.incident->side);
    first_ns = std::min(first_ns, wait.incident->start_ns);
    last_ns = std::max(last_ns, wait.incident->start_ns);
    until_ns = std::min(until_ns, wait.until_ns);
  }
  if (requesters.size() < enough_at_once) return;
  const double share = share_of_packets(snapshot_.series, first_ns, last_ns);
  if (std::pow(share, static_cast<double>(requesters.size() - 1)) > chance_at_most) return;
  for (const auto& [hosts, between] : pairs_) {
    for (const Incident* each : between.all) {
      const bool meanwhile = each->learned != LearnedBy::timer && each->start_ns >= first_ns && each->over &&
                             each->end_ns < until_ns;
      if (meanwhile || got_through(*each, then_ns, until_ns)) return;
    }
  }
  std::size_t timers = 0, part = 0;
  for (const auto& [hosts, of] : stopped) {
    for (const Incident* each : pairs_.at(hosts).all) {
      // What comes right behind, and is soon over, follows from it.
      constexpr std::int64_t soon = 16;
      const bool behind =
          each->start_ns >= until_ns && soon * (each->end_ns - each->start_ns) <= until_ns - then_ns;
      if (each->learned != LearnedBy::timer || behind) continue;
      ++timers;
      part += each->start_ns <= until_ns && each->end_ns >= first_ns ? 1 : 0;
    }
  }
  if (static_cast<double>(part) < nearly_all_of_them * static_cast<double>(timers)) return;
  for (auto& [hosts, of] : stopped) add(hosts, std::move(of));
}

/// What was lost on either side of the capture point meanwhile tells where it was.
void OutageFinder::locate_by_losses(const Route& hosts, Outage& outage) const {
  const Route reverse{hosts.second, hosts.first};
  std::set<Route> upstream, downstream;
  for (const Incident* each : pairs_.at(hosts).all) {
    if (!outage.goes_with(*each)) continue;
    const Connection* const c = find_connection(snapshot_.connections, each->connection);
    const unsigned sender = each->of_responses ? 1U - each->side : each->side;
    const Route& way = c->ends[sender].address == hosts.first ? hosts : reverse;
    if (each->lost_before != 0) upstream.insert(way);
    if (each->lost_after != 0) downstream.insert(way);
  }
  if (upstream.empty() == downstream.empty()) return;
  outage.seen = downstream.empty() ? Whereabouts::upstream : Whereabouts::downstream;
  outage.dead = downstream.empty() ? upstream : downstream;
  outage.known = true;
}

/// Which directions were dead, and on which side of the capture point.
void OutageFinder::locate(const Route& hosts, const std::vector<Wait>& waits, Outage& outage) const {
  const std::int64_t timer_ns = pairs_.at(hosts).timer_ns;
  std::set<Route> quiet, answered, all;
  for (const Wait& wait : waits) {
    all.insert(wait.way());
    if (wait.answered) answered.insert({wait.way().second, wait.way().first});
    if (!wait.heard && is_long(wait, timer_ns)) quiet.insert(wait.way());
  }
  if (!answered.empty()) {
    // What they send passes the capture point, and does not get to the other one.
    outage.seen = Whereabouts::downstream;
    outage.dead = answered;
    outage.known = true;
  } else if (!quiet.empty()) {
    outage.seen = Whereabouts::upstream;
    outage.dead = quiet;
    outage.known = true;
  } else {
    outage.dead = all;
    locate_by_losses(hosts, outage);
  }
}

/// What several pairs of hosts show at once is at one place, and of the host that all have in common.
void OutageFinder::agree() {
  for (auto& [hosts, of] : found_.all_) {
    for (Outage& outage : of) {
      if (outage.seen != Whereabouts::not_known && outage.known) continue;
      std::set<Whereabouts> seen;
      std::set<dissect::IpAddress> common{hosts.first, hosts.second}, senders, receivers;
      for (const auto& [other, those] : found_.all_) {
        for (const Outage& each : those) {
          if (each.from_ns >= outage.until_ns || outage.from_ns >= each.until_ns) continue;
          if (each.seen != Whereabouts::not_known) seen.insert(each.seen);
          std::erase_if(common,
                        [&](const auto& host) { return host != other.first && host != other.second; });
          if (!each.known) continue;
          for (const Route& way : each.dead) {
            senders.insert(way.first);
            receivers.insert(way.second);
          }
        }
      }
      if (seen.size() == 1) outage.seen = *seen.begin();
      if (outage.known || common.size() != 1) continue;
      const dissect::IpAddress& host = *common.begin();
      const dissect::IpAddress& peer = hosts.first == host ? hosts.second : hosts.first;
      if (senders.size() == 1 && senders.contains(host)) outage.dead = {{host, peer}};
      if (receivers.size() == 1 && receivers.contains(host)) outage.dead = {{peer, host}};
    }
  }
}

void OutageFinder::add(const Route& hosts, std::vector<Wait> waits) {
  Outage outage;
  outage.timer_ns = static_cast<std::uint64_t>(pairs_[hosts].timer_ns);
  outage.from_ns = INT64_MIN;
  outage.until_ns = INT64_MAX;
  for (const Wait& wait : waits) {
    outage.from_ns = std::max(outage.from_ns, wait.from_ns);
    outage.until_ns = std::min(outage.until_ns, wait.until_ns);
    outage.settled_ns = std::max(outage.settled_ns, std::max(wait.until_ns, wait.incident->end_ns));
  }
  locate(hosts, waits, outage);
  found_.all_[hosts].push_back(outage);
}

void OutageFinder::find() {
  for (auto& [hosts, between] : pairs_) find_long(hosts, between);
  find_at_once();
  agree();
}

Outages::Outages(const Snapshot& snapshot) {
  OutageFinder(snapshot, *this).find();
}

const Outage* Outages::of(const Incident& incident, const Connection& connection) const {
  if (!may_follow(incident.what) || incident.start_ns == capture::no_time) return nullptr;
  const auto between = all_.find(hosts_of(connection));
  if (between == all_.end()) return nullptr;
  const auto found = std::find_if(between->second.begin(), between->second.end(),
                                  [&](const Outage& each) { return each.goes_with(incident); });
  return found == between->second.end() ? nullptr : &*found;
}

const Outage* Outages::around(const Connection& connection, std::int64_t from_ns,
                              std::int64_t until_ns) const {
  const auto between = all_.find(hosts_of(connection));
  if (between == all_.end()) return nullptr;
  const auto found = std::find_if(between->second.begin(), between->second.end(), [&](const Outage& each) {
    return from_ns >= each.from_ns && until_ns <= each.last_ns();
  });
  return found == between->second.end() ? nullptr : &*found;
}

}  // namespace roce::analyze::diagnosis

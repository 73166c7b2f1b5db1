// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/outages.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <set>

#include "analyze/base/median.hpp"
#include "analyze/connection/find_connection.hpp"
#include "analyze/diagnosis/waits.hpp"

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
/// The share of timers that do not take longer than one usually does.
constexpr std::size_t most_of_ten_timers = 9;
/// The share of all incidents that are part of it, where it shows by their number alone.
constexpr double nearly_all_of_them = 0.9;

}  // namespace

namespace {

/// Whether waits have so little time in common that they are not of one outage.
bool is_short(Stretch stretch, const std::vector<Wait>& waits) {
  return std::all_of(waits.begin(), waits.end(), [&](const Wait& each) {
    return 2 * stretch.length_ns() < each.until_ns - std::min(each.from_ns, each.incident->start_ns);
  });
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
    std::int64_t long_timer_ns = 0;  ///< hardly one takes longer
  };
  void find_long(const Route& hosts, Between& between);
  void find_at_once();
  [[nodiscard]] std::int64_t begin_of(const Wait& wait) const;
  void add(const Route& hosts, const std::vector<Wait>& waits);
  [[nodiscard]] bool is_long(const Wait& wait) const;
  [[nodiscard]] std::uint32_t doublings_of(const Wait& wait) const;
  [[nodiscard]] bool by_chance(const Route& hosts, const Between& between, const std::vector<Wait>& waits,
                               Stretch stretch) const;
  [[nodiscard]] bool known(const Route& hosts, const Wait& wait) const;
  void agree();
  void locate_by_losses(const Route& hosts, Outage& outage) const;
  void locate(const Route& hosts, const std::vector<Wait>& waits, Outage& outage) const;

  const Snapshot& snapshot_;
  Outages& found_;
  Exchanges exchanges_;
  std::map<Route, Between> pairs_;
  std::map<std::uint32_t, std::vector<const Incident*>> incidents_;  ///< by connection
};

OutageFinder::OutageFinder(const Snapshot& snapshot, Outages& found)
    : snapshot_(snapshot), found_(found), exchanges_(snapshot) {
  for (const Incident& incident : snapshot.incidents) {
    if (!may_follow(incident.what) || incident.start_ns == capture::no_time) continue;
    const Connection* const connection = find_connection(snapshot.connections, incident.connection);
    if (connection == nullptr || !snapshot.completeness.bears(needs::both_directions, *connection)) continue;
    Between& between = pairs_[host_pair_of(*connection)];
    between.all.push_back(&incident);
    incidents_[incident.connection].push_back(&incident);
    if (incident.learned == LearnedBy::timer && incident.learned_after_ns > 0)
      between.timers_ns.push_back(incident.learned_after_ns);
    if (const std::optional<Wait> wait = wait_of(incident, *connection)) between.waits.push_back(*wait);
  }
  for (auto& [hosts, between] : pairs_) {
    if (between.timers_ns.empty()) continue;
    between.timer_ns = *median_of(between.timers_ns);
    const auto hardly_longer =
        between.timers_ns.begin() +
        static_cast<std::ptrdiff_t>((between.timers_ns.size() - 1) * most_of_ten_timers / 10);
    std::nth_element(between.timers_ns.begin(), hardly_longer, between.timers_ns.end());
    between.long_timer_ns = *hardly_longer;
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

bool OutageFinder::is_long(const Wait& wait) const {
  const Between& between = pairs_.at(host_pair_of(*wait.connection));
  if (between.timer_ns <= 0) return false;
  const std::int64_t own_ns = wait.incident->learned_after_ns;
  if (wait.heard) {
    return wait.incident->retries >= repeats_in_vain &&
           2 * wait.length_ns() >= half_timers_in_vain * std::max(between.timer_ns, own_ns);
  }
  // Its own timer tells only how long it was silent; those of others, how long it would have been.
  return between.timers_ns.size() >= enough_timers &&
         wait.silent_ns >= longest_wait * (between.long_timer_ns << doublings_of(wait)) &&
         2 * own_ns >= wait.silent_ns;
}

/// Some requesters double their timer with each repeat: how often this one may have done so, also just
/// before.
std::uint32_t OutageFinder::doublings_of(const Wait& wait) const {
  std::uint32_t most = 1;
  for (const Incident* each : incidents_.at(wait.connection->id)) {
    if (each->side == wait.incident->side && each->start_ns <= wait.from_ns &&
        each->end_ns + wait.silent_ns >= wait.from_ns)
      most = std::max(most, each->retries);
  }
  most = std::max(most, wait.incident->retries);
  return std::min(most, all_retries) - 1;
}

/// Whether packets that are lost now and then would explain it: timers run out at other times, too, so often
/// that some do several times in a row.
bool OutageFinder::by_chance(const Route& hosts, const Between& between, const std::vector<Wait>& waits,
                             Stretch stretch) const {
  std::uint64_t in_vain = 0;
  for (const Incident* each : between.all) {
    if (each->learned != LearnedBy::timer) continue;
    if (each->start_ns > stretch.until_ns || each->end_ns < stretch.from_ns)
      in_vain += std::max(each->retries, 1U);
  }
  double chance = 1;
  for (const Wait& wait : waits) {
    // Those that are not seen may wait twice as long each time.
    std::uint32_t in_a_row = wait.incident->retries;
    if (!wait.heard)
      in_a_row = 1 + static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(
                         wait.length_ns() / std::max<std::int64_t>(between.timer_ns, 1))));
    chance = std::min(chance, exchanges_.expected(hosts, in_vain, in_a_row));
  }
  return chance > chance_at_most;
}

/// By itself: a requester whose timer ran out again and again, or which sent nothing for much longer.
void OutageFinder::find_long(const Route& hosts, Between& between) {
  std::vector<Wait> waits;
  for (const Wait& wait : between.waits) {
    if (is_long(wait)) waits.push_back(wait);
  }
  std::sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.from_ns < b.from_ns; });
  for (auto each = waits.begin(); each != waits.end();) {
    std::int64_t until_ns = each->until_ns;
    auto next = std::next(each);
    for (; next != waits.end() && next->from_ns < until_ns; ++next)
      until_ns = std::min(until_ns, next->until_ns);
    const std::vector<Wait> together(each, next);
    const Stretch stretch = stretch_of(together);
    // A few answers in a row are lost as packets are: that takes as long as the timer asks for them.
    const bool answers_only = together.size() == 1 && each->answered && !each->unheard_again;
    each = next;
    if (answers_only || is_short(stretch, together) || exchanges_.went_on(hosts, stretch, between.all) ||
        by_chance(hosts, between, together, stretch))
      continue;
    if (std::none_of(between.all.begin(), between.all.end(), [&](const Incident* one) {
          return got_through(*one, stretch.from_ns, stretch.until_ns);
        }))
      add(hosts, together);
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
    // Where stamps are coarse some are over when they begin.
    while (!ends.empty() && *ends.begin() <= wait.from_ns) ends.erase(ends.begin());
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
    stopped[host_pair_of(*wait.connection)].push_back(wait);
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
  for (const auto& [hosts, of] : stopped) {
    const Stretch stretch = stretch_of(of);
    if (is_short(stretch, of) || exchanges_.went_on(hosts, stretch, pairs_.at(hosts).all)) return;
  }
  for (const auto& [hosts, of] : stopped) add(hosts, of);
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
  std::set<Route> quiet, answered, all;
  for (const Wait& wait : waits) {
    all.insert(wait.way());
    if (wait.answered) answered.insert({wait.way().second, wait.way().first});
    if (!wait.heard && is_long(wait)) quiet.insert(wait.way());
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
      for (const auto& [pair, those] : found_.all_) {
        const Route& other = pair;  // a lambda cannot capture the binding
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

void OutageFinder::add(const Route& hosts, const std::vector<Wait>& waits) {
  Outage outage;
  outage.timer_ns = static_cast<std::uint64_t>(pairs_[hosts].timer_ns);
  const Stretch stretch = stretch_of(waits);
  outage.from_ns = stretch.from_ns;
  outage.until_ns = stretch.until_ns;
  for (const Wait& wait : waits) {
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
  const auto between = all_.find(host_pair_of(connection));
  if (between == all_.end()) return nullptr;
  const auto found = std::find_if(between->second.begin(), between->second.end(),
                                  [&](const Outage& each) { return each.goes_with(incident); });
  return found == between->second.end() ? nullptr : &*found;
}

const Outage* Outages::around(const Connection& connection, std::int64_t from_ns,
                              std::int64_t until_ns) const {
  const auto between = all_.find(host_pair_of(connection));
  if (between == all_.end()) return nullptr;
  const auto found = std::find_if(between->second.begin(), between->second.end(), [&](const Outage& each) {
    return from_ns >= each.from_ns && until_ns <= each.last_ns();
  });
  return found == between->second.end() ? nullptr : &*found;
}

}  // namespace roce::analyze::diagnosis

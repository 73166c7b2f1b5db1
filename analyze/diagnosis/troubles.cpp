// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/troubles.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyze/connection/find_connection.hpp"
#include "analyze/diagnosis/signs.hpp"

namespace roce::analyze::diagnosis {

void Trouble::absorb(Trouble&& other, bool same) {
  if (same) {
    const bool once_for_all = of_one_receiver.has(cause) || cause == RootCause::outage;
    at_least = once_for_all ? std::max(at_least, other.at_least) : at_least + other.at_least;
    outages.merge(other.outages);
    ways.merge(other.ways);
  } else if (other.cause == RootCause::loss_or_reordering && cause == RootCause::reordering) {
    at_most += other.at_least;
  }
  if (!same) shown_on.merge(other.ways);
  shown_on.merge(other.shown_on);
  symptoms.add(other.symptoms);
  if (counted_in_packets.has(cause)) at_most += other.at_most;
  failed += other.failed;
  spent += other.spent;
  beside += other.beside;
  missing += other.missing;
  sides.merge(other.sides);
  incidents.insert(incidents.end(), other.incidents.begin(), other.incidents.end());
  // A port that pauses waits for nothing: its times are those of its pauses.
  if (same || cause != RootCause::pause)
    waits_ns.insert(waits_ns.end(), other.waits_ns.begin(), other.waits_ns.end());
  answer_ns = std::max(answer_ns, other.answer_ns);
  // What follows from an outage does not make it longer.
  if (other.first_ns && (same || cause != RootCause::outage)) was_there(*other.first_ns, *other.last_ns);
  packets.merge(other.packets);
}

std::uint64_t Trouble::timer_ns() const {
  // What was sent again behind something else did not wait for its own answer.
  constexpr std::uint64_t far_below = 8;
  std::vector<std::uint64_t> sorted = waits_ns;
  // No timer is shorter than that of code 1; passes that a paused link held back leave it together.
  constexpr std::uint64_t shortest_ns = 8'192;
  const bool timer = cause != RootCause::pause;
  std::erase_if(sorted, [&](std::uint64_t wait) {
    return far_below * wait < answer_ns || (timer && wait < shortest_ns);
  });
  if (sorted.empty()) return 0;
  // Those that wait behind others wait longer: the timer itself is among the shortest waits.
  const auto tenth = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 10);
  std::nth_element(sorted.begin(), tenth, sorted.end());
  return *tenth;
}

namespace {

/// Whether a cause is about the way that the symptom asks for.
bool fits(const Explains& row, const Route& symptom, const Route& cause) noexcept {
  const Route back{symptom.second, symptom.first};
  switch (row.way) {
    case Explains::Towards::same:
      return cause == symptom;
    case Explains::Towards::back:
      return cause == back;
    case Explains::Towards::either:
      break;
  }
  return cause == symptom || cause == back;
}

/// What receivers ask for although it may be on its way.
constexpr Causes may_be_late{RootCause::reordering, RootCause::loss_or_reordering};

/// Packets of those senders that were late when they were captured.
std::uint64_t captured_late(const Snapshot& snapshot, const Trouble& trouble) {
  std::uint64_t late = 0;
  for (const auto& [id, sender] : trouble.sides) {
    if (const Connection* connection = find_connection(snapshot.connections, id); connection != nullptr)
      late += connection->sent[sender].count(Event::out_of_order);
  }
  return late;
}

void join_places(Troubles& all) {
  for (auto each = all.begin(); each != all.end();) {
    const auto next = std::next(each);
    if (next == all.end() || next->first.cause != each->first.cause || next->first.way != each->first.way ||
        !of_one_place.has(each->first.cause)) {
      each = next;
      continue;
    }
    if (each->second.weight() > next->second.weight()) {
      each->second.absorb(std::move(next->second), true);
      all.erase(next);
    } else {
      next->second.absorb(std::move(each->second), true);
      each = all.erase(each);
    }
  }
}

/// Where as many were captured late as receivers asked for, they were late already when they came here, and
/// not lost behind it.
void find_late(const Snapshot& snapshot, Troubles& all) {
  for (auto each = all.begin(); each != all.end();) {
    Trouble& trouble = each->second;
    const bool late = may_be_late.has(trouble.cause) &&
                      2 * captured_late(snapshot, trouble) >= std::max<std::uint64_t>(trouble.weight(), 1);
    if (late) trouble.seen = Whereabouts::upstream;
    if (!late || trouble.cause == RootCause::reordering) {
      ++each;
      continue;
    }
    trouble.cause = RootCause::reordering;
    trouble.at_most = std::exchange(trouble.at_least, 0);
    const auto known = all.lower_bound({RootCause::reordering, each->first.way, Whereabouts{}});
    if (known != all.end() && known->first.cause == RootCause::reordering &&
        known->first.way == each->first.way) {
      known->second.at_most += trouble.at_most;
      known->second.absorb(std::move(trouble), true);
    } else {
      all.emplace(TroubleKey{RootCause::reordering, each->first.way, Whereabouts::upstream},
                  std::move(trouble));
    }
    each = all.erase(each);
  }
}

/// Behind the capture only a NAK tells of a loss, and receivers send the same for what is late. Where a
/// notable part of what one asked for is known to have been late, the rest is not known to be lost; nor does
/// a loss or two that are known tell it of many that may have been either.
void doubt_losses(Troubles& all) {
  constexpr std::uint64_t notable = 10;
  for (auto& [key, open] : all) {
    if (!may_be_late.has(key.cause) || open.seen != Whereabouts::downstream) continue;
    const auto lost = all.find({RootCause::loss, key.way, Whereabouts::downstream});
    if (lost == all.end()) continue;
    const std::uint64_t asked = lost->second.weight();
    const bool doubtful = key.cause == RootCause::reordering ? notable * open.weight() > asked + notable
                                                             : open.weight() > notable * asked;
    if (!doubtful) continue;
    (key.cause == RootCause::reordering ? open.at_most : open.at_least) += asked;
    open.absorb(std::move(lost->second), false);
    all.erase(lost);
  }
}

/// Whether both are where the row asks for: what is damaged or trimmed here was not lost elsewhere for that,
/// if it is more than what is taken for it.
bool at_one_place(const Explains& row, const Trouble& cause, const Trouble& symptom) noexcept {
  const bool packets = counted_in_packets.has(row.symptom) && counted_in_packets.has(row.cause);
  constexpr std::uint64_t few = 10;
  return !packets || cause.seen == symptom.seen || few * symptom.at_least <= cause.at_least;
}

/// Whether both were there at the same time, as far as times are known. Before and long after an outage there
/// is nothing that follows from it.
bool at_once(const Trouble& cause, const Trouble& symptom) noexcept {
  if (!of_its_time.has(cause.cause)) return true;
  if (!cause.first_ns || !symptom.first_ns) return cause.cause != RootCause::outage;
  if (cause.cause == RootCause::outage) {
    // Who waits for a timer began before, or goes on a little longer.
    const std::int64_t slack =
        std::min(*cause.last_ns - *cause.first_ns, 2 * static_cast<std::int64_t>(cause.timer_ns()));
    return *symptom.first_ns >= *cause.first_ns - slack && *symptom.last_ns <= *cause.last_ns + slack;
  }
  return *cause.first_ns <= *symptom.last_ns && *symptom.first_ns <= *cause.last_ns;
}

/// Losses that incidents tell and no connection counts at that place are counted at another: between two
/// capture points.
void join_uncounted(Troubles& all) {
  for (auto each = all.begin(); each != all.end();) {
    Trouble& trouble = each->second;
    if (!counted_in_packets.has(trouble.cause) || trouble.at_least != 0) {
      ++each;
      continue;
    }
    const auto counted = std::find_if(all.begin(), all.end(), [&](const auto& other) {
      return other.first.cause == trouble.cause && other.first.way == each->first.way &&
             other.second.at_least != 0;
    });
    if (counted != all.end()) {
      counted->second.absorb(std::move(trouble), false);
      each = all.erase(each);
      continue;
    }
    for (const Incident* incident : trouble.incidents) trouble.at_least += incident->lost_at_least();
    trouble.at_least = std::max<std::uint64_t>(trouble.at_least, trouble.incidents.size());
    ++each;
  }
}

/// Whether another cause shows more on that way than this one.
bool outweighed(const Troubles& all, RootCause by, const Route& way, const Trouble& cause) {
  std::uint64_t weight = 0;
  for (auto at = all.lower_bound({by, way, Whereabouts{}});
       at != all.end() && at->first.cause == by && at->first.way == way; ++at)
    weight += at->second.weight();
  return weight > cause.weight();
}

/// The trouble of that cause between the two hosts of the symptom; of several the one with most of it.
Trouble* cause_of(Troubles& all, const Explains& row, const Route& way, const Trouble& symptom) {
  Trouble* best = nullptr;
  for (const Route& each : {way, Route{way.second, way.first}}) {
    if (!fits(row, way, each)) continue;
    for (auto at = all.lower_bound({row.cause, each, Whereabouts{}});
         at != all.end() && at->first.cause == row.cause && at->first.way == each; ++at) {
      if (&at->second == &symptom || !at_once(at->second, symptom) || !at_one_place(row, at->second, symptom))
        continue;
      if (row.share != 0 &&
          static_cast<double>(symptom.weight()) > row.share * static_cast<double>(at->second.weight()) + 1)
        continue;
      if (row.unless != RootCause::count_ && outweighed(all, row.unless, each, at->second)) continue;
      if (best == nullptr || at->second.weight() > best->weight()) best = &at->second;
    }
  }
  return best;
}

void join_symptoms(Troubles& all) {
  for (const Explains& row : explanations()) {
    for (auto each = all.lower_bound({row.symptom, {}, Whereabouts{}});
         each != all.end() && each->first.cause == row.symptom;) {
      Trouble* const cause = cause_of(all, row, each->first.way, each->second);
      if (cause == nullptr) {
        ++each;
        continue;
      }
      cause->symptoms.add(row.symptom);
      cause->absorb(std::move(each->second), false);
      each = all.erase(each);
    }
  }
}

/// From so many pairs of hosts on, a trouble is told once.
constexpr std::size_t few_pairs = 3;
/// The share of a trouble that is one host's for the rest not to matter.
constexpr double most_of_one = 0.8;

using Members = std::vector<Trouble>;

/// Moves those with `host` to the end, and returns where they begin.
Members::iterator part_with(Members& all, const dissect::IpAddress& host, dissect::IpAddress Route::*end) {
  return std::stable_partition(all.begin(), all.end(),
                               [&](const Trouble& each) { return (*each.ways.begin()).*end != host; });
}

Trouble joined(Members::iterator from, Members::iterator to) {
  Trouble whole = std::move(*from);
  for (auto each = std::next(from); each != to; ++each) whole.absorb(std::move(*each), true);
  return whole;
}

/// Joins what one cause and place shows between many pairs of hosts: the part of a host that nearly all of it
/// has in common, and the rest. What everybody shows is nobody's own.
void join_pairs(Members members, Members& troubles) {
  // A host that pauses does so to all, however many of them send.
  const RootCause cause = members.front().cause;
  const std::size_t enough = of_one_receiver.has(cause) ? 1 : of_one_hop.has(cause) ? 2 : few_pairs;
  const auto keep = [&](Members::iterator from, Members::iterator to) {
    if (std::distance(from, to) >= static_cast<std::ptrdiff_t>(enough))
      return troubles.push_back(joined(from, to));
    std::move(from, to, std::back_inserter(troubles));
  };
  std::uint64_t all = 0;
  for (const Trouble& each : members) all += each.weight();
  for (dissect::IpAddress Route::*end : {&Route::second, &Route::first}) {
    std::map<dissect::IpAddress, std::pair<std::size_t, std::uint64_t>> hosts;
    for (const Trouble& each : members) {
      auto& [pairs, weight] = hosts[(*each.ways.begin()).*end];
      ++pairs;
      weight += each.weight();
    }
    for (const auto& [host, of] : hosts) {
      if (of.first < enough || static_cast<double>(of.second) < most_of_one * static_cast<double>(all))
        continue;
      const auto own = part_with(members, host, end);
      keep(members.begin(), own);
      keep(own, members.end());
      return;
    }
  }
  keep(members.begin(), members.end());
}

/// What troubles between different hosts have in common.
struct Kind {
  RootCause cause{};
  Whereabouts seen{};
  dissect::IpAddress receiver;  ///< only of what is one host's own
  auto operator<=>(const Kind&) const = default;
};

/// What may be lost or late is lost where the same host loses packets to, or from, others there, and nothing
/// is known to be late.
void take_for_lost(std::map<Kind, Members>& groups) {
  constexpr std::size_t others = 2;
  for (auto& [kind, open] : groups) {
    if (kind.cause != RootCause::loss_or_reordering) continue;
    const auto lost = groups.find({RootCause::loss, kind.seen, {}});
    if (lost == groups.end() || groups.contains({RootCause::reordering, kind.seen, {}})) continue;
    const auto also = std::stable_partition(open.begin(), open.end(), [&](const Trouble& each) {
      for (dissect::IpAddress Route::*end : {&Route::second, &Route::first}) {
        const auto alike = std::count_if(lost->second.begin(), lost->second.end(), [&](const Trouble& one) {
          return one.cause == RootCause::loss && (*one.ways.begin()).*end == (*each.ways.begin()).*end;
        });
        if (alike >= static_cast<std::ptrdiff_t>(others)) return false;
      }
      return true;
    });
    for (auto each = also; each != open.end(); ++each) {
      each->cause = RootCause::loss;
      each->symptoms.add(RootCause::loss_or_reordering);
      each->at_most += std::exchange(each->at_least, 0);
      lost->second.push_back(std::move(*each));
    }
    open.erase(also, open.end());
  }
  std::erase_if(groups, [](const auto& group) { return group.second.empty(); });
}

/// Whether a trouble of many pairs of hosts is of those two as well, as far as hosts go: they have the one
/// that all of it has in common, or there is none.
bool covers(const Trouble& many, const Route& way) {
  if (many.ways.size() < few_pairs) return false;
  for (dissect::IpAddress Route::*end : {&Route::second, &Route::first}) {
    const dissect::IpAddress& host = (*many.ways.begin()).*end;
    const bool common =
        std::all_of(many.ways.begin(), many.ways.end(), [&](const Route& each) { return each.*end == host; });
    if (common && way.first != host && way.second != host) return false;
  }
  return true;
}

/// Timers are set for a host's applications, not for its peers: where those of many hosts are known to be too
/// short, they are so towards others, too, of which the capture does not tell what a timer ran out for.
bool have_those_timers(const Trouble& hasty, const Trouble& silent) {
  if (hasty.cause != RootCause::timer_too_short || silent.cause != RootCause::request_or_answer_lost ||
      hasty.ways.size() < few_pairs)
    return false;
  return std::all_of(silent.ways.begin(), silent.ways.end(), [&](const Route& way) {
    return std::any_of(hasty.ways.begin(), hasty.ways.end(),
                       [&](const Route& one) { return one.first == way.first; });
  });
}

/// What is seen of a cause that many pairs of hosts have in common may be a symptom alone between some: a
/// small part of all.
void join_leftovers(Members& troubles) {
  constexpr double small_part = 0.25;
  for (const Explains& row : explanations()) {
    for (auto each = troubles.begin(); each != troubles.end();) {
      const auto cause = std::find_if(troubles.begin(), troubles.end(), [&](const Trouble& one) {
        if (each->cause != row.symptom || one.cause != row.cause) return false;
        if (have_those_timers(one, *each)) return true;
        return 2 * each->ways.size() <= one.ways.size() &&
               static_cast<double>(each->weight()) <= small_part * static_cast<double>(one.weight()) &&
               at_once(one, *each) && at_one_place(row, one, *each) &&
               std::all_of(each->ways.begin(), each->ways.end(),
                           [&](const Route& way) { return covers(one, way); });
      });
      if (cause == troubles.end()) {
        ++each;
        continue;
      }
      cause->symptoms.add(row.symptom);
      cause->absorb(std::move(*each), false);
      each = troubles.erase(each);
    }
  }
}

/// What two hosts show to each other is one trouble.
void join_both_ways(Members& troubles) {
  for (auto each = troubles.begin(); each != troubles.end(); ++each) {
    if (!of_both_ways.has(each->cause) || each->ways.size() != 1) continue;
    const Route back{each->ways.begin()->second, each->ways.begin()->first};
    const auto other = std::find_if(std::next(each), troubles.end(), [&](const Trouble& one) {
      return one.cause == each->cause && one.ways.size() == 1 && *one.ways.begin() == back;
    });
    if (other == troubles.end()) continue;
    each->absorb(std::move(*other), true);
    troubles.erase(other);
  }
}

}  // namespace

std::vector<Trouble> find_troubles(const Snapshot& snapshot) {
  Troubles all = collect_signs(snapshot);
  join_places(all);
  find_late(snapshot, all);
  join_uncounted(all);
  doubt_losses(all);
  join_symptoms(all);
  std::map<Kind, Members> groups;
  for (auto& [key, trouble] : all) {
    const Kind kind{key.cause, trouble.seen,
                    of_one_receiver.has(key.cause) ? key.way.second : dissect::IpAddress{}};
    groups[kind].push_back(std::move(trouble));
  }
  take_for_lost(groups);
  Members troubles;
  for (auto& [key, members] : groups) join_pairs(std::move(members), troubles);
  join_both_ways(troubles);
  join_leftovers(troubles);
  for (Trouble& each : troubles) {  // once, for there may be many that absorb many
    std::sort(each.incidents.begin(), each.incidents.end(),
              [](const Incident* a, const Incident* b) { return a->id < b->id; });
  }
  return troubles;
}

}  // namespace roce::analyze::diagnosis

// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/signs.hpp"

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/connection/find_connection.hpp"
#include "analyze/diagnosis/outages.hpp"
#include "analyze/diagnosis/silent_peers.hpp"
#include "analyze/diagnosis/size_hole.hpp"
#include "analyze/findings/shared/retry_chains.hpp"
#include "analyze/results/unpaired_connections.hpp"

namespace roce::analyze::diagnosis {
namespace {

constexpr Whereabouts seen_of(IncidentPlace place) noexcept {
  switch (place) {
    case IncidentPlace::before_capture:
      return Whereabouts::upstream;
    case IncidentPlace::after_capture:
      return Whereabouts::downstream;
    case IncidentPlace::between_points:
      return Whereabouts::between_points;
    case IncidentPlace::responder:
      return Whereabouts::responder;
    case IncidentPlace::not_known:
    case IncidentPlace::several:
    case IncidentPlace::count_:
      break;
  }
  return Whereabouts::not_known;
}

/// So many repeats of one request without an answer are more than a lost packet, whether the requester has
/// given up yet or not.
bool never_answered(const RetryChain& chain) noexcept {
  constexpr std::uint32_t in_a_row = 3;
  return !chain.answered && chain.resends >= in_a_row;
}

/// What the capture has to show for it.
Needs needs_of(IncidentKind what) noexcept {
  switch (what) {
    case IncidentKind::rnr:
    case IncidentKind::refused_request:
    case IncidentKind::corruption:
      return {};  // packets say so
    case IncidentKind::loss:
      return needs::losses_at_a_place;
    default:
      return needs::both_directions;
  }
}

class Collector {
 public:
  explicit Collector(const Snapshot& snapshot)
      : snapshot_(snapshot), unpaired_(snapshot), silent_(snapshot), outages_(snapshot) {}
  [[nodiscard]] Troubles take();

 private:
  Trouble& at(RootCause cause, Whereabouts seen, const Connection& connection, unsigned sender);
  void count(RootCause cause, Whereabouts seen, const Connection& connection, unsigned sender, Event event,
             std::uint64_t without = 0);
  void count_lost(const Connection& connection, unsigned sender);
  void count_ends(const Connection& connection, unsigned side);
  void count_rnr(const Connection& connection, unsigned side);
  void find_size_holes();
  void note(const Incident& incident);
  [[nodiscard]] Trouble* behind_timer(const Incident& incident) const;
  [[nodiscard]] Trouble* of_ended(const Incident& incident) const;
  Trouble& in_outage(const Outage& outage, const Connection& connection, unsigned side);
  void count_pauses(const PausePort& port);
  void judge_timers();
  void silence(const Incident& incident, const Connection& connection, Trouble& trouble);
  [[nodiscard]] std::uint64_t usual_ns(const Requester& requester);

  const Snapshot& snapshot_;
  UnpairedConnections unpaired_;
  SilentPeers silent_;
  Outages outages_;
  Troubles all_;
  std::map<const Requester*, std::uint64_t>
      usual_ns_;  ///< usual_answer_ns() of those that incidents asked for
  /// By connection and requester: the last timer that ran out, and what trouble that was.
  std::map<std::pair<std::uint32_t, unsigned>, std::pair<const Incident*, Trouble*>> timers_;
  std::set<std::pair<std::uint32_t, unsigned>> ended_;  ///< requesters whose end some incident tells
  /// By connection: the first incident that ended one of its queue pairs, and what trouble that was.
  std::map<std::uint32_t, std::pair<const Incident*, Trouble*>> end_of_;
};

std::uint64_t Collector::usual_ns(const Requester& requester) {
  const auto [known, first] = usual_ns_.try_emplace(&requester);
  if (first) known->second = usual_answer_ns(requester);
  return known->second;
}

Trouble& Collector::at(RootCause cause, Whereabouts seen, const Connection& connection, unsigned sender) {
  const Route way{connection.ends[sender].address, connection.ends[1 - sender].address};
  Trouble& trouble = all_[{cause, way, seen}];
  trouble.cause = cause;
  trouble.seen = seen;
  trouble.ways.insert(way);
  const bool first = trouble.sides.emplace(connection.id, sender).second;
  if (first && cause == RootCause::no_answer && answers_other_psns(snapshot_, connection, sender))
    ++trouble.beside;
  return trouble;
}

/// Adds what an event of the sender counts, without those that are known to be something else.
void Collector::count(RootCause cause, Whereabouts seen, const Connection& connection, unsigned sender,
                      Event event, std::uint64_t without) {
  const EventLog* log = connection.sent[sender].find(event);
  if (log == nullptr || log->count <= without) return;
  const Outage* const outage = log->first_time_ns == capture::no_time
                                   ? nullptr
                                   : outages_.around(connection, log->first_time_ns, log->last_time_ns);
  if (outage != nullptr && event != Event::icrc_mismatch) {
    in_outage(*outage, connection, sender).packets.insert(log->frames.begin(), log->frames.end());
    return;
  }
  Trouble& trouble = at(cause, seen, connection, sender);
  trouble.at_least += log->count - without;
  trouble.packets.insert(log->frames.begin(), log->frames.end());
  if (log->first_time_ns != capture::no_time) trouble.was_there(log->first_time_ns, log->last_time_ns);
}

void Collector::count_lost(const Connection& connection, unsigned sender) {
  const Events& sent = connection.sent[sender];
  std::uint64_t damaged = sent.count(Event::icrc_mismatch);
  // All of them: the capture is at fault, and not the path.
  if (20 * damaged >= 19 * connection.packets[sender]) damaged = 0;
  const std::uint64_t elsewhere = sent.count(Event::damaged_between_points);
  if (damaged != 0) {
    count(RootCause::corruption, elsewhere != 0 ? Whereabouts::between_points : Whereabouts::upstream,
          connection, sender, Event::icrc_mismatch);
  }
  count(RootCause::trimming, Whereabouts::upstream, connection, sender, Event::lost_trimmed);
  if (!snapshot_.completeness.bears(needs::losses_at_a_place, connection)) return;
  // A damaged packet is a gap as well.
  count(RootCause::loss, Whereabouts::upstream, connection, sender, Event::lost_before_capture, damaged);
  count(RootCause::loss, Whereabouts::downstream, connection, sender, Event::lost_after_capture);
  count(RootCause::loss, Whereabouts::between_points, connection, sender, Event::lost_between_points,
        elsewhere);
  // A message of UC is lost with one of its packets, which is counted, or because one came late.
  const bool counted = sent.count(Event::lost_between_points) + sent.count(Event::lost_before_capture) +
                           sent.count(Event::lost_after_capture) + sent.count(Event::lost_trimmed) !=
                       0;
  if (counted) return;
  const RootCause why = sent.count(Event::out_of_order) != 0 ? RootCause::reordering : RootCause::loss;
  count(why, Whereabouts::upstream, connection, sender, Event::uc_message_lost, damaged);
}

/// RNR NAKs to that side; an incident may have many.
void Collector::count_rnr(const Connection& connection, unsigned side) {
  const EventLog* const naks = connection.sent[1 - side].find(Event::rnr_nak);
  if (naks == nullptr) return;
  Trouble& trouble = at(RootCause::receiver_not_ready, Whereabouts::responder, connection, side);
  trouble.at_least += naks->count;
  trouble.packets.insert(naks->frames.begin(), naks->frames.end());
}

/// Packets of a size that never get through from one host to another.
void Collector::find_size_holes() {
  if (!snapshot_.completeness.bears(Need::packets | Need::headers)) return;
  std::set<Route> ways;
  for (const Connection& connection : snapshot_.connections) {
    for (unsigned side = 0; side < 2; ++side) {
      if (!never_answered(connection.requester[side].trouble->worst_chain)) continue;
      ways.emplace(connection.ends[side].address, connection.ends[1 - side].address);
    }
  }
  for (const Route& way : ways) {
    const std::optional<SizeHole> hole = size_hole(snapshot_, {way});
    if (!hole) continue;
    for (const auto& [connection, side] : hole->stuck) {
      Trouble& trouble = at(RootCause::path_mtu, Whereabouts::downstream, *connection, side);
      const RetryChain& chain = connection->requester[side].trouble->worst_chain;
      ++trouble.at_least;
      trouble.packets.insert({chain.first_frame, chain.last_frame});
      trouble.was_there(chain.first_time_ns, chain.last_time_ns);
    }
  }
}

/// Ends that no incident tells of: there is a limit to their number.
void Collector::count_ends(const Connection& connection, unsigned side) {
  const Requester& requester = connection.requester[side];
  if (ended_.contains({connection.id, side})) return;
  const auto end = [&](RootCause cause) {
    Trouble& trouble =
        at(cause, cause == RootCause::no_answer ? Whereabouts::not_known : Whereabouts::responder, connection,
           side);
    ++trouble.at_least;
    ++trouble.failed;
  };
  if (requester.refused_fatally) return end(RootCause::request_refused);
  if (!snapshot_.completeness.bears(needs::both_directions, connection)) return;
  if (requester.rnr_exhausted) return end(RootCause::receiver_not_ready);
  if (gave_up(connection, side)) end(RootCause::no_answer);
}

/// The one host behind a MAC address; null: a switch or router, or nobody.
const dissect::IpAddress* host_of(const Snapshot& snapshot, std::uint64_t mac) {
  const dissect::IpAddress* host = nullptr;
  for (const Flow& flow : snapshot.flows) {
    if (flow.source_mac != mac || mac == 0) continue;
    if (host != nullptr && *host != flow.key.src) return nullptr;
    host = &flow.key.src;
  }
  return host;
}

/// Pauses of microseconds are what PFC is for; these are not.
std::optional<HeldLink> held_by(const PausePort& port) {
  constexpr std::int64_t noticeable_ns = 1'000'000;
  // At an unknown speed nobody knows how long one XOFF lasts; but who repeats it and sends no XON holds the
  // link, once.
  const auto holds = [](const PauseLane& lane) {
    constexpr std::uint64_t repeated = 3;
    return lane.xon.count == 0 && lane.xoff.count >= repeated && lane.xoff.first_time_ns != capture::no_time;
  };
  const auto held_ns = [&](const PauseLane& lane) {
    return holds(lane) ? std::max(lane.longest_ns, span_ns(lane.xoff.first_time_ns, lane.xoff.last_time_ns))
                       : lane.longest_ns;
  };
  HeldLink held;
  held.mac = port.mac;
  for (const auto& lane : port.lanes) {
    if (!lane || held_ns(*lane) < noticeable_ns) continue;
    held.pauses += holds(*lane) ? 1 : lane->pauses;
    held.longest_ns = std::max(held.longest_ns, held_ns(*lane));
    held.first_ns = held.first_ns == capture::no_time ? lane->xoff.first_time_ns
                                                      : std::min(held.first_ns, lane->xoff.first_time_ns);
    held.last_ns = std::max(held.last_ns, lane->xoff.last_time_ns + held_ns(*lane));
  }
  return held.pauses == 0 ? std::nullopt : std::optional(held);
}

/// A host that pauses its link holds up what is sent to it.
void Collector::count_pauses(const PausePort& port) {
  const std::optional<HeldLink> held = held_by(port);
  const dissect::IpAddress* const host = held ? host_of(snapshot_, port.mac) : nullptr;
  if (host == nullptr) return;
  for (const Connection& connection : snapshot_.connections) {
    for (unsigned side = 0; side < 2; ++side) {
      if (connection.ends[1 - side].address != *host) continue;
      Trouble& trouble = at(RootCause::pause, Whereabouts::responder, connection, side);
      trouble.at_least = held->pauses;
      trouble.waits_ns = {static_cast<std::uint64_t>(held->longest_ns)};
      trouble.first_ns = held->first_ns;
      trouble.last_ns = held->last_ns;
      for (const auto& lane : port.lanes) {
        if (lane) trouble.packets.insert(lane->xoff.frames.begin(), lane->xoff.frames.end());
      }
    }
  }
}

/// Whether the answer came about as late as the timer runs, so that the timer is what is wrong.
bool slow(const Incident& incident, std::uint64_t usual_ns) {
  if (incident.learned_after_ns <= 0 || incident.confirmed_ago_ns == Incident::unknown_ns) return false;
  // Answers that are far quicker as a rule are not late by themselves: something held them up, or was lost.
  if (4 * usual_ns < static_cast<std::uint64_t>(incident.learned_after_ns)) return false;
  return 2 * incident.confirmed_ago_ns <= incident.learned_after_ns;
}

/// Whether what is said to come late is the answer to the repeat: right behind it, as answers come, though
/// the timer takes so much longer that one to the request itself would hardly hit just that moment.
bool answers_repeat(const Incident& incident, std::uint64_t usual_ns) {
  constexpr std::int64_t much_longer = 16;
  const auto usual = static_cast<std::int64_t>(usual_ns);
  const std::int64_t took = incident.end_ns - incident.start_ns - incident.learned_after_ns;
  return incident.over && usual > 0 && incident.learned_after_ns > much_longer * usual && took >= 0 &&
         took <= usual;
}

void Collector::silence(const Incident& incident, const Connection& connection, Trouble& trouble) {
  ++trouble.at_least;
  if (incident.learned_after_ns <= 0) return;
  trouble.waits_ns.push_back(static_cast<std::uint64_t>(incident.learned_after_ns));
  trouble.answer_ns = std::max(trouble.answer_ns, usual_ns(connection.requester[incident.side]));
}

/// Whether nearly all that the requesters send is sent twice, by a timer, and the second time always with
/// success. What loses nearly every request loses many of their repeats as well, and a NAK would ask for
/// some.
bool repeats_everything_once(const Snapshot& snapshot, const Trouble& trouble) {
  constexpr std::size_t enough = 10;
  constexpr std::uint64_t nearly_all = 9, of = 10;
  if (trouble.incidents.size() < enough ||
      std::any_of(trouble.incidents.begin(), trouble.incidents.end(),
                  [](const Incident* each) { return each->retries != 1 || !each->over; }))
    return false;
  return std::all_of(trouble.sides.begin(), trouble.sides.end(), [&](const auto& side) {
    const Connection* const connection = find_connection(snapshot.connections, side.first);
    if (connection == nullptr || connection->sent[side.second].count(Event::retransmitted_nak) != 0)
      return false;
    std::uint64_t messages = 0, retried = 0;
    for (const OperationStats& operation : connection->requester[side.second].operations) {
      messages += operation.count;
      retried += operation.retried;
    }
    return messages != 0 && of * retried >= nearly_all * messages;
  });
}

/// What timers show of some hosts may be that they are too short.
void Collector::judge_timers() {
  for (auto each = all_.lower_bound({RootCause::request_or_answer_lost, {}, Whereabouts{}});
       each != all_.end() && each->first.cause == RootCause::request_or_answer_lost;) {
    if (!repeats_everything_once(snapshot_, each->second)) {
      ++each;
      continue;
    }
    Trouble hasty = std::move(each->second);
    hasty.cause = RootCause::timer_too_short;
    hasty.seen = Whereabouts::responder;
    const TroubleKey key{hasty.cause, each->first.way, hasty.seen};
    each = all_.erase(each);
    const auto known = all_.find(key);
    if (known == all_.end()) {
      all_.emplace(key, std::move(hasty));
    } else {
      known->second.absorb(std::move(hasty), true);
    }
  }
}

/// The trouble that an outage is, which shows on a connection in what that side sends, or in the answers.
Trouble& Collector::in_outage(const Outage& outage, const Connection& connection, unsigned side) {
  const Route way{connection.ends[side].address, connection.ends[1 - side].address};
  Trouble& trouble =
      at(RootCause::outage, outage.seen, connection, outage.dead.contains(way) ? side : 1 - side);
  trouble.outages.emplace(outage.from_ns, outage.until_ns);
  trouble.at_least = trouble.outages.size();
  trouble.was_there(outage.from_ns, outage.until_ns);
  if (outage.timer_ns != 0) trouble.waits_ns = {outage.timer_ns};
  return trouble;
}

/// The trouble of the timer that had just run out for requests of the same side; null: none had.
Trouble* Collector::behind_timer(const Incident& incident) const {
  const auto last = timers_.find({incident.connection, incident.side});
  if (last == timers_.end()) return nullptr;
  const auto& [timer, trouble] = last->second;
  constexpr std::int64_t soon = 64;
  const bool soon_after = soon * (incident.start_ns - timer->end_ns) <= timer->end_ns - timer->start_ns;
  return soon_after ? trouble : nullptr;
}

/// The trouble of which the queue pair of the other side had ended: from then on it answers nothing (IBTA
/// 10.3.1, error state). Null: it had not, or that was no silence.
Trouble* Collector::of_ended(const Incident& incident) const {
  if (incident.what != IncidentKind::timeout && incident.what != IncidentKind::path_silent) return nullptr;
  const auto known = end_of_.find(incident.connection);
  if (known == end_of_.end()) return nullptr;
  const auto& [end, trouble] = known->second;
  return end->side != incident.side && incident.start_ns >= end->end_ns ? trouble : nullptr;
}

void Collector::note(const Incident& incident) {
  const Connection* const connection = find_connection(snapshot_.connections, incident.connection);
  if (connection == nullptr || !snapshot_.completeness.bears(needs_of(incident.what), *connection)) return;
  // Which of two points it was lost behind, or between the two, nothing tells.
  const bool placed = incident.lost_at_least() != 0 || snapshot_.completeness.bears(Need::place);
  if (incident.what == IncidentKind::loss && !placed) return;
  const unsigned side = incident.side;
  const unsigned other = 1 - side;
  const Requester& requester = connection->requester[side];
  const unsigned sender = incident.of_responses ? other : side;
  const RetryChain& chain = requester.trouble->worst_chain;
  Trouble* trouble = nullptr;
  const bool by_timer = incident.learned == LearnedBy::timer;
  const Outage* const outage = outages_.of(incident, *connection);
  if (outage != nullptr) trouble = &in_outage(*outage, *connection, side);
  if (trouble == nullptr) trouble = of_ended(incident);
  switch (trouble != nullptr ? IncidentKind::count_ : incident.what) {
    case IncidentKind::loss:
      // The same incident may show losses on both sides of the capture point.
      if (incident.is_known_by(PlaceEvidence::trimmed)) {
        trouble = &at(RootCause::trimming, Whereabouts::upstream, *connection, sender);
        break;
      }
      if (incident.lost_before != 0)
        trouble = &at(RootCause::loss, Whereabouts::upstream, *connection, sender);
      if (incident.lost_after != 0 && (trouble == nullptr || incident.lost_after > incident.lost_before))
        trouble = &at(RootCause::loss, Whereabouts::downstream, *connection, sender);
      break;
    case IncidentKind::corruption:
      trouble = &at(RootCause::corruption, seen_of(incident.place), *connection, sender);
      break;
    case IncidentKind::rnr:
    case IncidentKind::rnr_exhausted:
      trouble = &at(RootCause::receiver_not_ready, Whereabouts::responder, *connection, side);
      break;
    case IncidentKind::reordering:
      trouble = &at(RootCause::reordering, seen_of(incident.place), *connection, sender);
      ++trouble->at_least;
      break;
    case IncidentKind::slow_responder:
      trouble = answers_repeat(incident, usual_ns(requester))
                    ? &at(RootCause::request_or_answer_lost, Whereabouts::not_known, *connection, side)
                    : &at(RootCause::timer_too_short, Whereabouts::responder, *connection, side);
      silence(incident, *connection, *trouble);
      break;
    case IncidentKind::needless_repeat:
      if (by_timer && slow(incident, usual_ns(requester))) {
        trouble = &at(RootCause::timer_too_short, Whereabouts::responder, *connection, side);
      } else {
        trouble = &at(RootCause::answers_lost, Whereabouts::downstream, *connection, other);
      }
      silence(incident, *connection, *trouble);
      break;
    case IncidentKind::timeout:
      if (silent_.leave_unanswered(incident) ||
          (!incident.over && never_answered(chain) && !unpaired_.may_be_answered(*connection))) {
        trouble = &at(RootCause::no_answer, Whereabouts::not_known, *connection, side);
        ++trouble->at_least;
        if (has_no_retry_left(*connection, side)) ++trouble->spent;
        break;
      }
      trouble = &at(RootCause::request_or_answer_lost, Whereabouts::not_known, *connection, side);
      silence(incident, *connection, *trouble);
      break;
    case IncidentKind::refused_request:
      trouble = &at(RootCause::request_refused, Whereabouts::responder, *connection, side);
      ++trouble->at_least;
      break;
    case IncidentKind::path_silent:
      if (chain.answered && chain.too_late) {
        trouble = &at(RootCause::timer_too_short, Whereabouts::responder, *connection, side);
        trouble->waits_ns.push_back(chain.min_spacing_ns);
      } else if (chain.answered) {
        trouble = &at(RootCause::answers_lost, Whereabouts::downstream, *connection, other);
      } else {
        trouble = &at(RootCause::no_answer, Whereabouts::not_known, *connection, side);
      }
      ++trouble->at_least;
      break;
    case IncidentKind::loss_or_reordering:
      // What waited behind a timer is asked for once more when it ran out: no trouble of its own.
      trouble = behind_timer(incident);
      if (trouble != nullptr) break;
      trouble = &at(RootCause::loss_or_reordering, seen_of(incident.place), *connection, sender);
      ++trouble->at_least;
      break;
    case IncidentKind::unexplained:
      // A timer ran out for it, whether what is missing here was lost or only not captured.
      if (by_timer) {
        trouble = &at(RootCause::request_or_answer_lost, Whereabouts::not_known, *connection, side);
        silence(incident, *connection, *trouble);
        ++trouble->missing;
        break;
      }
      trouble = &at(RootCause::unexplained, Whereabouts::not_known, *connection, sender);
      ++trouble->at_least;
      break;
    case IncidentKind::count_:
      break;
  }
  if (trouble == nullptr) return;
  constexpr Causes silent{RootCause::request_or_answer_lost, RootCause::outage};
  if (by_timer && incident.start_ns != capture::no_time && incident.over && silent.has(trouble->cause))
    timers_[{incident.connection, incident.side}] = {&incident, trouble};
  trouble->incidents.push_back(&incident);
  trouble->packets.insert(incident.first_frame);
  if (counted_in_packets.has(trouble->cause) && incident.lost_at_most > incident.lost_at_least())
    trouble->at_most += incident.lost_at_most - incident.lost_at_least();
  if (incident.start_ns != capture::no_time && outage == nullptr)
    trouble->was_there(incident.start_ns, incident.end_ns);
  if (of_ended(incident) != nullptr) {
    ended_.emplace(connection->id, side);
    return;
  }
  const bool ends = incident.what == IncidentKind::refused_request ||
                    incident.what == IncidentKind::rnr_exhausted ||
                    incident.what == IncidentKind::path_silent;
  if (!ends) return;
  end_of_.try_emplace(connection->id, &incident, trouble);
  if (ended_.emplace(connection->id, side).second) ++trouble->failed;
}

Troubles Collector::take() {
  for (const Connection& connection : snapshot_.connections) {
    for (unsigned side = 0; side < 2; ++side) {
      count_lost(connection, side);
      count_rnr(connection, side);
    }
  }
  find_size_holes();
  for (const PausePort& port : snapshot_.pauses.ports) count_pauses(port);
  for (const Incident& incident : snapshot_.incidents) note(incident);
  for (const Connection& connection : snapshot_.connections) {
    for (unsigned side = 0; side < 2; ++side) count_ends(connection, side);
  }
  judge_timers();
  return std::move(all_);
}

}  // namespace

Troubles collect_signs(const Snapshot& snapshot) {
  return Collector(snapshot).take();
}

std::uint64_t usual_answer_ns(const Requester& requester) {
  Histogram all;
  for (const OperationStats& operation : requester.operations) all.merge(operation.latency_ns);
  return all.count() == 0 ? 0 : all.percentile(0.5);
}

std::vector<HeldLink> links_held_by_switches(const Snapshot& snapshot) {
  std::vector<HeldLink> all;
  for (const PausePort& port : snapshot.pauses.ports) {
    const std::optional<HeldLink> held = held_by(port);
    if (held && host_of(snapshot, port.mac) == nullptr) all.push_back(*held);
  }
  return all;
}

}  // namespace roce::analyze::diagnosis

// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/connection/find_connection.hpp"
#include "analyze/diagnosis/alternatives.hpp"
#include "analyze/diagnosis/facts.hpp"
#include "analyze/diagnosis/party.hpp"
#include "analyze/diagnosis/size_hole.hpp"
#include "analyze/diagnosis/told_drops.hpp"
#include "analyze/findings/shared/texts.hpp"
#include "dissect/aeth.hpp"

namespace roce::analyze::diagnosis {
namespace {

/// From so many times on it is what happens there as a rule.
constexpr std::uint64_t enough_to_generalize = 10;

struct Said {
  Party from;
  Party to;
  std::string way;      ///< "10.0.0.1 → 10.0.0.2", "10.0.0.1 ↔ 10.0.0.2", "12 pairs of hosts"
  bool many = false;    ///< the subject of a sentence that begins with `way` is plural
  std::string place;    ///< "upstream of this capture", and the switch that told of it
  std::string repeats;  ///< "; 47.7 % of what 10.0.0.1 sends are repeats"
};

std::string place_words(Whereabouts seen) {
  switch (seen) {
    case Whereabouts::upstream:
      return " upstream of this capture";
    case Whereabouts::downstream:
      return " downstream of this capture";
    case Whereabouts::between_points:
      return " between the two capture points";
    case Whereabouts::not_known:
    case Whereabouts::responder:
    case Whereabouts::count_:
      break;
  }
  return "";
}

Said words_of(const Trouble& trouble, const HitShare& share) {
  Said w;
  w.from = party_of(trouble, &Route::first);
  w.to = party_of(trouble, &Route::second);
  w.many = trouble.ways.size() > 1;
  const bool pairs = w.from.many && w.to.many && !trouble.mutual();
  w.way = trouble.mutual() ? fmt::format("{} ↔ {}", address_text(trouble.ways.begin()->first),
                                         address_text(trouble.ways.begin()->second))
          : pairs          ? fmt::format("{} pairs of hosts", trouble.ways.size())
                           : fmt::format("{} → {}", w.from.name, w.to.name);
  w.place = place_words(trouble.seen);
  constexpr double notable = 0.01;
  if (share.of_repeats() >= notable) {
    // What is sent to one receiver is what the sentence was about just before.
    const bool of_that = of_one_receiver.has(trouble.cause);
    const Party& who = repeated_by_receiver.has(trouble.cause) ? w.to : w.from;
    w.repeats =
        of_that
            ? fmt::format("; {} of that are repeats", percent_text(share.repeated, share.repeatable))
            : fmt::format("; {} of what {} {} are repeats{}", percent_text(share.repeated, share.repeatable),
                          pairs || trouble.mutual() || !who.named ? "they" : who.name,
                          who.does("sends", "send"), share.among_others ? " for that" : "");
  }
  return w;
}

/// "1.2 % of its packets, at least 57", "at least 22 packets": a lower bound is never a rate.
std::string how_many(const Trouble& trouble, const HitShare& share) {
  // Where so many are lost, so are the ends of passes, and whole ones: these leave no gap.
  constexpr std::uint64_t one_in = 10;
  const bool more_unseen = trouble.cause == RootCause::loss && trouble.seen == Whereabouts::upstream &&
                           one_in * trouble.at_least >= share.sent;
  if (trouble.at_most != 0 || trouble.seen == Whereabouts::downstream || share.sent == 0 || more_unseen)
    return fmt::format("at least {}", packets_text(trouble.at_least));
  return fmt::format("{} of {} packets ({})", trouble.at_least, share.sent,
                     percent_text(trouble.at_least, share.sent));
}

std::string refused_words(const Snapshot& snapshot, const Trouble& trouble) {
  std::set<std::string> names;
  for (const auto& [id, side] : trouble.sides) {
    const Connection* connection = find_connection(snapshot.connections, id);
    if (connection == nullptr) continue;
    for (const RefusedRequest& refused : connection->requester[side].trouble->refused)
      names.insert(std::string(dissect::syndrome_text(refused.syndrome)));
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string times(const Trouble& trouble) {
  return times_text(std::max<std::uint64_t>(trouble.at_least, 1));
}

std::string queue_pairs(std::uint64_t n) {
  return n == 1 ? "a queue pair" : fmt::format("{} queue pairs", n);
}

/// What became of queue pairs; nothing if they go on.
std::string ended_words(const Trouble& trouble) {
  std::string text = trouble.failed == 0 ? "" : fmt::format("; {} ended by it", queue_pairs(trouble.failed));
  if (trouble.spent != 0) {
    text += fmt::format("; {} {} no retry left and {} unless the last repeat is answered",
                        queue_pairs(trouble.spent), verb(trouble.spent, "has", "have"),
                        verb(trouble.spent, "ends", "end"));
  }
  return text;
}

/// Whether what the one sender of a half sends are answers, or some of it.
bool answers(const Connection& half) {
  const Requester& asked = half.requester[1];
  if (asked.acks != 0 || asked.trouble->naks != NakCounts{}) return true;
  return half.requester[0].requests == 0 && half.packets[0] > half.cnps[0];
}

/// Whether the capture has answers between the two hosts of which nobody knows whose they are: to a queue
/// pair of which it is not known either which answers it gets.
bool answers_unassigned(const Snapshot& snapshot, const Trouble& trouble) {
  std::set<Route> asked;  // by halves
  for (const auto& [id, side] : trouble.sides) {
    const Connection* const connection = find_connection(snapshot.connections, id);
    if (connection == nullptr || connection->paired()) continue;
    if (trouble.failed != 0 && connection->state != Connection::State::failed) continue;
    asked.emplace(connection->ends[side].address, connection->ends[1 - side].address);
  }
  if (asked.empty()) return false;
  return std::any_of(snapshot.connections.begin(), snapshot.connections.end(), [&](const Connection& half) {
    return !half.paired() && asked.contains({half.ends[1].address, half.ends[0].address}) && answers(half);
  });
}

std::string unassigned_words(const Said& w) {
  return fmt::format("{} sent answers that could not be matched to a queue pair", w.to.name);
}

/// Of requests that were sent again.
std::string unanswered_words(const Snapshot& snapshot, const Trouble& t, const Said& w) {
  if (2 * t.missing > t.at_least)
    return "packets of them are missing here, lost upstream of this capture or not captured";
  if (answers_unassigned(snapshot, t)) return unassigned_words(w);
  return t.over() ? "no answer to them came in time" : "no answer to them came until this capture ended";
}

/// What the requests of a timer that is too short look like.
std::string hasty_words(const Trouble& t, const Said& w) {
  const std::uint64_t timer = t.timer_ns();
  // The answers pass the capture point in time, if barely, and then it is too late for their requester.
  const bool barely = timer != 0 && t.answer_ns != 0 && t.answer_ns < timer;
  const bool seldom = barely && t.held_up();
  const std::string_view its = w.from.does("its timer expires", "their timers expire");
  std::string why = fmt::format("{} too short", w.from.does("its timer is", "their timers are"));
  if (seldom) {
    why = fmt::format("answers take {} (median), but some come later than {}, when {}",
                      wait_text(t.answer_ns), wait_text(timer), its);
  } else if (barely) {
    why = fmt::format("answers pass this capture after {} (median), {} after {}", wait_text(t.answer_ns), its,
                      wait_text(timer));
  } else if (t.answer_ns != 0) {
    why = fmt::format("answers take {} (median), {}", wait_text(t.answer_ns),
                      timer == 0 ? fmt::format("longer than {}", w.from.does("its timer", "their timers"))
                                 : fmt::format("{} after {}", its, wait_text(timer)));
  } else if (timer != 0) {
    why = fmt::format("{} after {}, answers take longer", its, wait_text(timer));
  }
  std::string what =
      t.mutual()
          ? fmt::format("{} send each other requests again {}", w.from.name,
                        barely ? "though they are answered" : "before they are answered")
          : fmt::format("{} {} requests again {}", w.from.name, w.from.does("sends", "send"),
                        barely ? fmt::format("though {} {}", w.to.name, w.to.does("answers", "answer"))
                               : fmt::format("before {} {} answered", w.to.name, w.to.does("has", "have")));
  return fmt::format("{}, {}: {}", what, times(t), why);
}

/// The longest one.
std::int64_t outage_ns(const Trouble& t) {
  std::int64_t longest = 0;
  for (const auto& [from_ns, until_ns] : t.outages) longest = std::max(longest, until_ns - from_ns);
  return longest;
}

std::string outage_words(const Trouble& t, const Said& w) {
  // Who is silent until a timer runs out does not show when it was over.
  const bool brief = !brief_words(t).empty();
  const std::string how_long =
      fmt::format("{}{}{}", t.at_least > 1 ? times_text(t.at_least) + ", " : "",
                  brief || t.at_least > 1 ? "for up to " : "for ", duration_text(outage_ns(t)));
  if (t.seen != Whereabouts::not_known) {
    return fmt::format("{}: nothing got through{} {}{}", w.way, t.mutual() ? " in either direction" : "",
                       how_long, w.place);
  }
  const bool each_other = t.mutual() || (w.from.many && t.both_ways());
  return fmt::format("{} got no answer from {} {}, then traffic went on", w.from.name,
                     each_other ? std::string("each other") : w.to.name, how_long);
}

/// `hole`: of all its ways together; none if their sizes differ.
std::string size_words(const Trouble& t, const Said& w, const std::optional<SizeHole>& hole) {
  const std::string size =
      hole ? fmt::format("of {} message bytes and more", hole->lost_bytes) : "above a size";
  return fmt::format("{}: packets {} do not get through{}, smaller ones do{}{}", w.way, size, w.place,
                     w.repeats, ended_words(t));
}

std::string sentence_of(const Snapshot& snapshot, const Trouble& t, const HitShare& share, const Said& w) {
  switch (t.cause) {
    case RootCause::loss:
      return fmt::format("{} {} {}{}{}{}", w.way, w.many ? "lose" : "loses", how_many(t, share), w.place,
                         w.repeats, ended_words(t));
    case RootCause::trimming:
      return fmt::format("{}: a switch{} trims {} instead of dropping them: its queue is full{}{}", w.way,
                         w.place, how_many(t, share), w.repeats, ended_words(t));
    case RootCause::outage:
      return outage_words(t, w) + w.repeats + ended_words(t);
    case RootCause::path_mtu:
      return size_words(t, w, size_hole(snapshot, t.ways));
    case RootCause::corruption:
      return fmt::format("{}: {} {} damaged{} (wrong ICRC){}{}", w.way, how_many(t, share),
                         verb(t.at_least, "is", "are"), w.place, w.repeats, ended_words(t));
    case RootCause::reordering:
      return fmt::format("{}: packets overtake each other{}, and {} {} late ones for lost, {}{}", w.way,
                         w.place, w.to.name, w.to.does("takes", "take"),
                         t.at_most == 0 ? times(t)
                         : t.at_least == 0
                             ? "up to " + times_text(t.at_most)
                             : fmt::format("{} to {} times", t.at_least, t.at_least + t.at_most),
                         w.repeats);
    case RootCause::loss_or_reordering:
      return fmt::format("{}: {} that passed this capture {} asked for again, lost or overtaken{}{}{}", w.way,
                         packets_text(t.at_least), verb(t.at_least, "was", "were"), w.place, w.repeats,
                         ended_words(t));
    case RootCause::answers_lost:
      if (t.failed != 0) {
        return fmt::format("{} gave up on {} although the answers had passed this capture: {} ended{}",
                           w.to.name, w.from.name, queue_pairs(t.failed), w.repeats);
      }
      if (t.at_least < enough_to_generalize) {
        return fmt::format(
            "{} sent requests to {} again, {}, although the answers had passed this capture{}{}", w.to.name,
            w.from.name, times(t), w.repeats, ended_words(t));
      }
      return fmt::format(
          "answers of {} do not get to {}: {} they had passed this capture, and {} sent the request "
          "again{}{}",
          w.from.name, w.to.name, times(t), w.to.does("it", "they"), w.repeats, ended_words(t));
    case RootCause::timer_too_short:
      return hasty_words(t, w) + w.repeats + ended_words(t);
    case RootCause::receiver_not_ready:
      return t.failed != 0
                 ? fmt::format("{} had no receive posted for {} until the RNR retries ran out: {} ended",
                               w.to.name, w.from.name, queue_pairs(t.failed))
                 : fmt::format("{} {} not ready to receive from {}: RNR NAK {}{}", w.to.name,
                               w.to.does("is", "are"), w.from.name, times(t), w.repeats);
    case RootCause::request_refused:
      return fmt::format("{} refused {} of {} ({}): {} ended", w.to.name,
                         t.at_least == 1 ? std::string("a request") : fmt::format("{} requests", t.at_least),
                         w.from.name, refused_words(snapshot, t), queue_pairs(t.failed));
    case RootCause::no_answer:
      if (t.failed == 0 && answers_unassigned(snapshot, t))
        return fmt::format("{} asked {} again and again, up to the end of this capture ({}): {}{}",
                           w.from.name, w.to.name, queue_pairs(t.sides.size()), unassigned_words(w),
                           ended_words(t));
      if (t.failed == 0) {
        if (t.spent == t.sides.size())
          return fmt::format("{} {} no answer from {}{}", w.from.name, w.from.does("gets", "get"), w.to.name,
                             ended_words(t));
        return fmt::format(
            "{} {} no answer from {}: {} asked again and again, up to the end of this capture{}", w.from.name,
            w.from.does("gets", "get"), w.to.name, queue_pairs(t.sides.size()), ended_words(t));
      }
      return fmt::format("{} gave up on {}: {} got {} until the retries ran out", w.from.name, w.to.name,
                         queue_pairs(t.failed),
                         t.off_psns()
                             ? "answers to other PSNs only, as if both ends began with different ones,"
                         : answers_unassigned(snapshot, t) ? "no answer that could be matched to them"
                                                           : "no answer");
    case RootCause::request_or_answer_lost:
      return fmt::format("{} sent requests to {} again after a timeout, {}: {}{}{}", w.from.name, w.to.name,
                         times(t), unanswered_words(snapshot, t, w), w.repeats, ended_words(t));
    case RootCause::pause:
      return fmt::format("{} {} {}, for up to {}: what is sent to {} waits{}{}", w.to.name,
                         w.to.does("pauses its link", "pause their links"), times(t), wait_text(t.timer_ns()),
                         w.to.does("it", "them"), w.repeats, ended_words(t));
    default:
      return fmt::format("{}: {} sent again for a reason that this capture does not show", w.way,
                         packets_text(t.at_least));
  }
}

/// Several senders whose bursts meet at one receiver, or whose packets the network marks on the way there.
std::string incast_words(const Snapshot& snapshot, const Trouble& trouble, const LossPattern& pattern) {
  if (trouble.cause != RootCause::loss || trouble.ways.size() < 3) return {};
  const dissect::IpAddress& receiver = trouble.ways.begin()->second;
  for (const Route& way : trouble.ways) {
    if (way.second != receiver) return {};
  }
  std::uint64_t marked = 0;
  for (const Connection& connection : snapshot.connections) {
    for (unsigned side = 0; side < 2; ++side) {
      if (connection.ends[1 - side].address == receiver)
        marked += connection.sent[side].count(Event::ce_marked);
    }
  }
  if (pattern.pattern != Pattern::bursts && marked == 0) return {};
  return fmt::format(
      "{} hosts send to {}, and what they send is {}: incast, the queue in front of {} runs full.",
      trouble.ways.size(), address_text(receiver),
      marked == 0 ? std::string("lost in bursts") : fmt::format("marked CE ({})", packets_text(marked)),
      address_text(receiver));
}

std::string cost_words(const Cost& cost) {
  std::string text;
  if (cost.repeated_packets != 0)
    text = fmt::format("{} ({}) sent again", packets_text(cost.repeated_packets),
                       bytes_text(cost.repeated_bytes));
  if (cost.discarded_packets != 0)
    text +=
        fmt::format("{}up to {} discarded by the receiver", text.empty() ? "" : ", ", cost.discarded_packets);
  if (cost.stalled_ns > 0)
    text += fmt::format("{}{} without goodput", text.empty() ? "" : ", ", duration_text(cost.stalled_ns));
  return text.empty() ? text : text + ".";
}

std::string incidents_words(const Trouble& trouble, const Diagnosis& d) {
  if (told_by_findings.has(trouble.cause)) return {};
  if (d.incident_count == 0 || (d.incident_count == 1 && d.cost.recovery_longest_ns <= 0)) return {};
  std::string text = plural(d.incident_count, "incident", "incidents");
  if (d.connection_count > 1) text += fmt::format(" on {} connections", d.connection_count);
  // Where nothing gets through, it is as long as that.
  constexpr Causes of_standstill{RootCause::outage, RootCause::path_mtu};
  if (d.cost.recovery_longest_ns > 0 && !of_standstill.has(trouble.cause)) {
    text += d.incident_count == 1
                ? ", recovery " + duration_text(d.cost.recovery_longest_ns)
                : fmt::format(", recovery {} (median), {} at most", duration_text(d.cost.recovery_median_ns),
                              duration_text(d.cost.recovery_longest_ns));
  }
  return text + ".";
}

/// What was found to be part of it.
std::string symptoms_words(const Trouble& t) {
  std::string text;
  const auto add = [&](RootCause cause, std::string_view words) {
    if (t.symptoms.has(cause)) text += (text.empty() ? "" : ", ") + std::string(words);
  };
  add(RootCause::loss, "packets that are missing");
  add(RootCause::reordering, "packets that may have come late");
  add(RootCause::request_or_answer_lost, "timeouts");
  add(RootCause::no_answer, "queue pairs that got no answer");
  add(RootCause::timer_too_short, "late answers");
  add(RootCause::answers_lost, "requests sent again although they were answered");
  add(RootCause::loss_or_reordering, "packets asked for again that may only have been late");
  add(RootCause::unexplained, "repeats for no reason that was captured");
  return text.empty() ? text : fmt::format("Counted as part of it, between the same hosts: {}.", text);
}

}  // namespace

RepeatsOfConnections repeats_of_connections(const Snapshot& snapshot) {
  RepeatsOfConnections repeats;
  for (const Incident& each : snapshot.incidents) repeats[each.connection] += each.repeated_packets;
  return repeats;
}

HitShare hit_share(const Snapshot& snapshot, const Trouble& trouble, const RepeatsOfConnections& repeats) {
  HitShare share;
  std::set<std::uint32_t> between;  // connections of these hosts
  for (const Connection& connection : snapshot.connections) {
    for (unsigned side = 0; side < 2; ++side) {
      if (!trouble.ways.contains({connection.ends[side].address, connection.ends[1 - side].address}))
        continue;
      between.insert(connection.id);
      const Events& sent = connection.sent[side];
      // Of what a filter selects, as all that is counted.
      share.sent += connection.packets[side] + sent.count(Event::lost_before_capture) +
                    sent.count(Event::lost_by_capture);
      const unsigned again = repeated_by_receiver.has(trouble.cause) ? 1 - side : side;
      share.repeatable += connection.packets[again];
      share.repeated += repeats_of(connection.sent[again]);
    }
  }
  // Whatever else happened between them has its part of what was sent again.
  std::uint64_t own = 0, all = 0;
  for (const Incident* each : trouble.incidents)
    own += between.contains(each->connection) ? each->repeated_packets : 0;
  for (const std::uint32_t id : between) {
    if (const auto known = repeats.find(id); known != repeats.end()) all += known->second;
  }
  share.among_others = own < all;
  if (share.among_others) share.repeated = share.repeated * own / all;
  std::map<std::uint32_t, std::int64_t> stalled;
  for (const Incident* each : trouble.incidents) stalled[each->connection] += each->stalled_ns;
  for (const auto& [id, ns] : stalled) {
    share.stalled_ns = std::max(share.stalled_ns, ns);
    const Connection* connection = find_connection(snapshot.connections, id);
    if (connection == nullptr || connection->first_time_ns == capture::no_time) continue;
    share.time_ns = std::max(share.time_ns, span_ns(connection->first_time_ns, connection->last_time_ns));
  }
  return share;
}

void put_in_words(const Snapshot& snapshot, const Trouble& trouble, const HitShare& share,
                  Diagnosis& diagnosis) {
  Said w = words_of(trouble, share);
  const ToldDrops told = told_drops(snapshot, trouble);
  w.place += told.place;
  diagnosis.advice = told.remedy;
  diagnosis.subject = w.way;
  if (trouble.sides.size() == 1) {
    const auto& [id, side] = *trouble.sides.begin();
    if (const Connection* connection = find_connection(snapshot.connections, id); connection != nullptr)
      diagnosis.subject = ends_text(*connection, side);
  }
  diagnosis.sentence = sentence_of(snapshot, trouble, share, w);
  const LossPattern pattern = pattern_of(snapshot, trouble);
  diagnosis.pattern = pattern.pattern;
  for (std::string fact : {told.fact, pattern_words(pattern, unlike_others(trouble)), brief_words(trouble),
                           incast_words(snapshot, trouble, pattern), incidents_words(trouble, diagnosis),
                           cost_words(diagnosis.cost), lost_again_words(trouble),
                           tunnel_words(snapshot, trouble), symptoms_words(trouble)}) {
    if (!fact.empty()) diagnosis.facts.push_back(std::move(fact));
  }
  if (pattern.pattern == Pattern::bursts && snapshot.congestion.ect_packets == 0)
    diagnosis.facts.emplace_back(
        "Nothing here is ECN-capable, so nothing slows senders down before a queue is full.");
  leave_open(trouble, diagnosis);
  if (!told.place.empty()) {
    // Each of these packets is known to have ended there.
    diagnosis.alternatives.clear();
    diagnosis.would_decide =
        "the buffer and drop counters of that switch port, against those of its neighbours";
  }
  if (std::string paused = paused_words(snapshot, trouble); !paused.empty())
    diagnosis.alternatives.insert(diagnosis.alternatives.begin(), std::move(paused));
}

}  // namespace roce::analyze::diagnosis

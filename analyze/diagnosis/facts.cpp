// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/diagnosis/signs.hpp"
#include "analyze/findings/shared/texts.hpp"
#include "analyze/findings/shared/tunnels.hpp"
#include "analyze/results/pause_facts.hpp"

namespace roce::analyze::diagnosis {

const Incident* unlike_others(const Trouble& trouble) {
  constexpr std::uint32_t many = 8, more = 4;
  if (trouble.cause != RootCause::loss || trouble.seen != Whereabouts::upstream) return nullptr;
  const Incident* most = nullptr;
  std::uint32_t second = 0;
  for (const Incident* each : trouble.incidents) {
    const bool larger = most == nullptr || each->lost_before > most->lost_before;
    second = std::max(second, !larger ? each->lost_before : most == nullptr ? 0 : most->lost_before);
    if (larger) most = each;
  }
  const bool odd = most != nullptr && second != 0 && most->lost_before >= std::max(many, more * second);
  return odd ? most : nullptr;
}

std::string pattern_words(const LossPattern& pattern, const Incident* odd) {
  switch (pattern.pattern) {
    case Pattern::single:
      if (odd != nullptr) return fmt::format("Single packets, and once {} in a row.", odd->lost_before);
      return pattern.most_at_once == 1
                 ? "Single packets."
                 : fmt::format("Single packets, at most {} at once.", pattern.most_at_once);
    case Pattern::bursts:
      return fmt::format("In bursts of up to {} packets, as a full queue drops them.", pattern.most_at_once);
    case Pattern::periodic:
      return fmt::format("At even intervals of {}.", duration_text(pattern.period_ns));
    case Pattern::outage:
      if (pattern.connections_hit == 0) return {};
      return fmt::format("On {} connections at the same time: nothing got through for at least {}.",
                         pattern.connections_hit, duration_text(pattern.outage_ns));
    case Pattern::by_class:
      return fmt::format(
          "Only with DSCP {}: {} between the same hosts lose nothing.", pattern.dscp,
          pattern.others == 1 ? std::string("another DSCP") : fmt::format("{} others", pattern.others));
    case Pattern::by_path:
      return fmt::format(
          "Only with {}: {} between the same hosts lose nothing, so it is one of several paths (roceanalyze "
          "paths).",
          pattern.path,
          pattern.others == 1 ? std::string("another one") : fmt::format("{} others", pattern.others));
    case Pattern::by_size:
      if (!pattern.size) return {};
      return (pattern.size->passed_bytes == 0
                  ? std::string()
                  : fmt::format("{} of up to {} bytes got through. ",
                                plural(pattern.size->passed, "message", "messages"),
                                pattern.size->passed_bytes)) +
             "The receiver asks for what it misses, so others do get there: as behind a link with a smaller "
             "MTU.";
    case Pattern::none:
    case Pattern::count_:
      break;
  }
  return {};
}

std::string brief_words(const Trouble& trouble) {
  const auto timer_ns = static_cast<std::int64_t>(trouble.timer_ns());
  const bool brief = trouble.cause == RootCause::outage && timer_ns != 0 &&
                     std::all_of(trouble.outages.begin(), trouble.outages.end(),
                                 [&](const auto& each) { return each.second - each.first < 2 * timer_ns; });
  if (!brief) return {};
  return fmt::format(
      "A queue pair that lost a packet in it stays silent until its timer expires ({}), so the outage may "
      "have been shorter.",
      duration_text(timer_ns));
}

std::string lost_again_words(const Trouble& trouble) {
  if (trouble.cause != RootCause::loss && trouble.cause != RootCause::corruption) return {};
  std::uint64_t times = 0;
  for (const Incident* each : trouble.incidents) times += each->lost_again;
  if (times == 0) return {};
  return fmt::format(
      "At least {} the repeat was lost as well, and the timer had to expire: a responder sends one NAK for a "
      "gap.",
      times_text(times));
}

std::string tunnel_words(const Snapshot& snapshot, const Trouble& trouble) {
  if (trouble.cause != RootCause::loss) return {};
  for (const TunnelWay& way : tunnel_ways(snapshot)) {
    const bool common = std::any_of(way.hosts.begin(), way.hosts.end(),
                                    [&](const Route& hosts) { return trouble.ways.contains(hosts); });
    const bool hidden = common && std::any_of(way.rows.begin(), way.rows.end(), [&](const auto& row) {
                          const auto& [flow, marks] = row;
                          return trouble.ways.contains({flow->key.src, flow->key.dst}) &&
                                 marks->inner_dscp() != 0 && best_effort(marks->outer);
                        });
    if (!hidden) continue;
    return fmt::format(
        "Between the tunnel ends {} and {} they are best effort: the outer DSCP is 0, whatever they "
        "carry inside.",
        address_text(way.from), address_text(way.to));
  }
  return {};
}

std::string paused_words(const Snapshot& snapshot, const Trouble& t) {
  constexpr Causes of_silence{RootCause::no_answer, RootCause::answers_lost, RootCause::timer_too_short,
                              RootCause::outage, RootCause::request_or_answer_lost};
  if (!of_silence.has(t.cause)) return {};
  for (const HeldLink& held : links_held_by_switches(snapshot)) {
    const auto meanwhile = std::count_if(t.incidents.begin(), t.incidents.end(), [&](const Incident* each) {
      return each->start_ns != capture::no_time && each->start_ns <= held.last_ns &&
             each->end_ns >= held.first_ns;
    });
    if (meanwhile == 0) continue;
    return fmt::format("held up by pauses: port {} pauses its link, for up to {}, while {} of {} went on",
                       mac_text(held.mac), duration_text(held.longest_ns), meanwhile,
                       plural(t.incidents.size(), "incident", "incidents"));
  }
  return {};
}

}  // namespace roce::analyze::diagnosis

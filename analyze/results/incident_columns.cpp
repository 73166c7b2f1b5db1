// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/incident_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/connection/find_connection.hpp"
#include "analyze/episode/rules.hpp"
#include "analyze/exports/exports.hpp"

namespace roce::analyze {
namespace {

using IncidentIn = const IncidentRow&;

std::string kind_words(const Incident& incident) {
  using enum IncidentKind;
  static constexpr EnumNames<IncidentKind, incident_kind_count> words(
      {{loss, "loss"},
       {corruption, "corruption"},
       {rnr, "receiver not ready"},
       {reordering, "reordering taken for loss"},
       {slow_responder, "slow responder"},
       {needless_repeat, "needless repeat, confirmed before"},
       {timeout, "timeout, request or answer lost"},
       {refused_request, "refused request"},
       {rnr_exhausted, "RNR retries ran out"},
       {path_silent, "path silent, retries ran out"},
       {loss_or_reordering, "loss or reordering"},
       {unexplained, "sent again, cause unknown"}});
  const bool responses = incident.of_responses && (incident.what == loss || incident.what == corruption ||
                                                   incident.what == reordering);
  return (responses ? "response " : "") + std::string(words[incident.what]);
}

std::string_view place_words(IncidentPlace place) {
  using enum IncidentPlace;
  static constexpr EnumNames<IncidentPlace, incident_place_count> words(
      {{not_known, ""},
       {before_capture, " upstream"},
       {after_capture, " downstream"},
       {between_points, " between the capture points"},
       {several, " upstream and downstream"},
       {responder, ""}});
  return words[place];
}

template <auto member>
double incident_number(IncidentIn r) {
  return static_cast<double>(r.incident->*member);
}
template <auto member>
std::string incident_exact(IncidentIn r) {
  return std::to_string(r.incident->*member);
}
template <auto member>
std::string incident_time(IncidentIn r) {
  return r.incident->*member == capture::no_time ? std::string() : std::to_string(r.incident->*member);
}
/// A duration; empty where it is not known.
template <std::int64_t Incident::*member>
std::string incident_span(IncidentIn r) {
  return r.incident->*member <= 0 ? std::string() : duration_text(r.incident->*member);
}
template <std::int64_t Incident::*member>
std::string incident_span_exact(IncidentIn r) {
  return r.incident->*member < 0 ? std::string() : std::to_string(r.incident->*member);
}

double incident_duration(IncidentIn r) {
  return static_cast<double>(span_ns(r->start_ns, r->end_ns));
}

/// Who sends the requests, and to whom.
std::string requests_way(IncidentIn r) {
  return r->side == 0 ? "a>b" : "b>a";
}

std::string incident_end(IncidentIn r, unsigned side) {
  return r.connection == nullptr ? std::string() : address_text(r.connection->ends[side].address);
}

/// Names of the bits that are set, with blanks between them.
template <class Names>
std::string names_of_bits(unsigned bits, const Names& names) {
  std::string text;
  for (std::size_t i = 0; i < names.all().size(); ++i) {
    if ((bits >> i & 1U) == 0) continue;
    if (!text.empty()) text += ' ';
    text += names.all()[i];
  }
  return text;
}

constexpr IncidentColumn columns_of_incidents[] = {
    {"id", "#", "number of the incident, in order of time (roce.incident)", true, 0,
     [](IncidentIn r) { return -static_cast<double>(r->id); },
     [](IncidentIn r) { return fmt::format("#{}", r->id); },
     [](IncidentIn r) { return std::to_string(r->id); }},
    {"start", "at", "time of the first packet that shows it, after the first packet of the capture", true, 0,
     [](IncidentIn r) { return -static_cast<double>(r->start_ns); },
     [](IncidentIn r) {
       return r->start_ns == capture::no_time
                  ? std::string()
                  : fmt::format("+{:.6f} s", static_cast<double>(r->start_ns - r.begin_ns) / 1e9);
     },
     incident_time<&Incident::start_ns>},
    {"duration_ns", "lasted", "until the packet that shows that it is over, or its last one", true, 0,
     incident_duration,
     [](IncidentIn r) {
       return r->start_ns == capture::no_time ? std::string()
                                              : duration_text(span_ns(r->start_ns, r->end_ns));
     },
     [](IncidentIn r) { return std::to_string(span_ns(r->start_ns, r->end_ns)); }},
    {"connection", "conn", "number of the connection, and who sends the requests", true, 0,
     [](IncidentIn r) { return -static_cast<double>(r->connection); },
     [](IncidentIn r) { return fmt::format("{} {}", r->connection, requests_way(r)); },
     [](IncidentIn r) { return std::to_string(r->connection); }},
    {"requester", "way", "who sends the requests, to whom", false, hidden_column, nullptr, requests_way,
     [](IncidentIn r) { return std::string(r->side == 0 ? "a" : "b"); }},
    {"what", "what", "what it was", false, 0, nullptr,
     [](IncidentIn r) {
       return incident_what_text(*r) + (r.dropped_at.empty() ? "" : ", at " + r.dropped_at);
     },
     [](IncidentIn r) { return std::string(incident_kind_names[r->what]); }},
    {"learned_by", "noticed by", "how the sender learned of it", false, 0, nullptr,
     [](IncidentIn r) { return incident_learned_text(*r); },
     [](IncidentIn r) { return std::string(learned_by_names[r->learned]); }},
    {"repeated_packets", "cost", "packets sent again; how many the receiver may have thrown away", false, 0,
     incident_number<&Incident::repeated_packets>, [](IncidentIn r) { return incident_cost_text(*r); },
     incident_exact<&Incident::repeated_packets>},
    {"lost_at_least", "lost", "transmissions lost; at least and at most", true, hidden_column,
     [](IncidentIn r) { return static_cast<double>(r->lost_at_least()); },
     [](IncidentIn r) { return incident_lost_text(*r); },
     [](IncidentIn r) { return std::to_string(r->lost_at_least()); }},
    {"lost_at_most", "lost at most", "transmissions lost, at most", true, hidden_column,
     incident_number<&Incident::lost_at_most>, incident_exact<&Incident::lost_at_most>, nullptr},
    {"stalled_ns", "stalled", "time in which what was missing was not yet sent again: no goodput", true, 3,
     incident_number<&Incident::stalled_ns>, incident_span<&Incident::stalled_ns>,
     incident_span_exact<&Incident::stalled_ns>},
    {"recovery_ns", "recovery", "from the first packet that shows it to the answer that shows it repaired",
     true, hidden_column, incident_number<&Incident::recovery_ns>, incident_span<&Incident::recovery_ns>,
     incident_span_exact<&Incident::recovery_ns>},
    {"a", "a", "address of side a", false, hidden_column, nullptr,
     [](IncidentIn r) { return incident_end(r, 0); }, nullptr},
    {"b", "b", "address of side b", false, hidden_column, nullptr,
     [](IncidentIn r) { return incident_end(r, 1); }, nullptr},
    {"place", "place", "where it happened, seen from the capture point", false, hidden_column, nullptr,
     [](IncidentIn r) { return std::string(incident_place_names[r->place]); }, nullptr},
    {"place_by", "place known by", "how the place is known", false, hidden_column, nullptr,
     [](IncidentIn r) { return names_of_bits(r->place_by, place_evidence_names); }, nullptr},
    {"of_responses", "of", "requests, or responses, which the other side sends", false, hidden_column,
     nullptr, [](IncidentIn r) { return std::string(r->of_responses ? "responses" : "requests"); }, nullptr},
    {"learned_after_ns", "noticed after",
     "from the first packet that shows it; of a timer since what it waits for", true, hidden_column,
     incident_number<&Incident::learned_after_ns>, incident_span<&Incident::learned_after_ns>,
     incident_span_exact<&Incident::learned_after_ns>},
    {"retry", "retries", "how often the packet that was sent again most often was", true, hidden_column,
     incident_number<&Incident::retries>, incident_exact<&Incident::retries>, nullptr},
    {"rnr_wait_ns", "RNR wait", "time that the RNR NAK asks the sender to wait", true, hidden_column,
     incident_number<&Incident::rnr_wait_ns>, incident_span<&Incident::rnr_wait_ns>,
     incident_exact<&Incident::rnr_wait_ns>},
    {"cause", "cause", "cause of the first retransmission (roce.analysis.retransmission.cause)", false,
     hidden_column, nullptr, [](IncidentIn r) { return std::string(cause_name(r->cause)); }, nullptr},
    {"rule", "rule", "rule behind it (roce.analysis.rule)", false, hidden_column, nullptr,
     [](IncidentIn r) { return std::string(episode::rule_name(static_cast<episode::Rule>(r->rule))); },
     nullptr},
    {"repeated_bytes", "bytes repeated", "bytes on the wire that were sent again", true, hidden_column,
     incident_number<&Incident::repeated_bytes>, incident_exact<&Incident::repeated_bytes>, nullptr},
    {"discarded_packets", "discarded", "packets that the receiver threw away, at most", true, hidden_column,
     incident_number<&Incident::discarded_packets>, incident_exact<&Incident::discarded_packets>, nullptr},
    {"discarded_bytes", "bytes discarded", "bytes of them", true, hidden_column,
     incident_number<&Incident::discarded_bytes>, incident_exact<&Incident::discarded_bytes>, nullptr},
    {"over", "over", "repaired, or given up, before the capture ended", false, hidden_column, nullptr,
     [](IncidentIn r) { return std::string(r->over ? "yes" : "no"); }, nullptr},
    {"undecided", "undecided", "what the capture cannot tell", false, hidden_column, nullptr,
     [](IncidentIn r) { return names_of_bits(r->undecided, undecided_names); }, nullptr},
    {"confidence", "confidence", "confidence, 0 to 1", true, hidden_column,
     incident_number<&Incident::confidence>,
     [](IncidentIn r) { return fmt::format("{:.0f} %", 100 * r->confidence); },
     [](IncidentIn r) { return fmt::format("{:.4g}", r->confidence); }, CellType::real},
    {"end", "end", "time of its last packet, ns since the epoch", true, hidden_column,
     incident_number<&Incident::end_ns>,
     [](IncidentIn r) { return r->end_ns == capture::no_time ? std::string() : time_text(r->end_ns); },
     incident_time<&Incident::end_ns>},
    {"first_packet", "first packet", "number of its first packet", true, hidden_column,
     [](IncidentIn r) { return -static_cast<double>(r->first_frame); },
     incident_exact<&Incident::first_frame>, nullptr},
    {"last_packet", "last packet", "number of its last packet", true, hidden_column,
     incident_number<&Incident::last_frame>, incident_exact<&Incident::last_frame>, nullptr},
};

}  // namespace

std::string incident_what_text(const Incident& incident) {
  std::string text = kind_words(incident);
  if (incident.what != IncidentKind::needless_repeat) text += place_words(incident.place);
  return text;
}

std::string incident_learned_text(const Incident& incident) {
  using enum LearnedBy;
  static constexpr EnumNames<LearnedBy, learned_by_count> words({{nothing, ""},
                                                                 {sequence_nak, "sequence NAK"},
                                                                 {rnr_nak, "RNR NAK"},
                                                                 {fatal_nak, "fatal NAK"},
                                                                 {timer, "timer"},
                                                                 {missing_response, "missing response"},
                                                                 {not_captured, "not captured"}});
  std::string text(words[incident.learned]);
  if (text.empty()) return text;
  if (incident.learned_after_ns > 0 && incident.learned != not_captured)
    text += " after " + duration_text(incident.learned_after_ns);
  if (incident.learned == rnr_nak && incident.rnr_wait_ns != 0)
    text += ", wait " + duration_text(incident.rnr_wait_ns);
  if (incident.retries > 1) text += fmt::format(", {} retries", incident.retries);
  return text;
}

std::string incident_cost_text(const Incident& incident) {
  std::string text = incident_lost_text(incident);
  if (!text.empty()) text += " lost";
  const auto comma = [&text] { return text.empty() ? "" : ", "; };
  if (incident.repeated_packets != 0)
    text += fmt::format("{}{} repeated ({})", comma(), incident.repeated_packets,
                        bytes_text(incident.repeated_bytes));
  if (incident.discarded_packets != 0) text += fmt::format(", {} discarded", incident.discarded_packets);
  if (!incident.over) text += fmt::format("{}not over", comma());
  return text;
}

std::string incident_lost_text(const Incident& incident) {
  const std::uint32_t least = incident.lost_at_least();
  if (incident.lost_at_most == 0) return {};
  if (least >= incident.lost_at_most) return std::to_string(least);
  if (least == 0) return fmt::format("up to {}", incident.lost_at_most);
  return fmt::format("{} to {}", least, incident.lost_at_most);
}

namespace {

/// Drops that are joined with a loss: their place by connection and the packet that shows it.
using PlacesOfDrops = std::multimap<std::pair<std::uint32_t, std::uint64_t>, std::string>;

PlacesOfDrops places_of_drops(const Exports& exports) {
  PlacesOfDrops places;
  for (const ExportDropGroup& group : drop_groups(exports)) {
    const std::string place =
        fmt::format("switch {}: {}", drop_place_text(exports, group), drop_reason_text(group.reason));
    for (const std::size_t i : group.drops) {
      const ExportDrop& drop = exports.drops[i];
      if (drop.proved) places.emplace(std::pair{drop.connection, drop.loss_shown_by}, place);
    }
  }
  return places;
}

/// "switch 10.0.0.7 port 12, queue 3: no buffer (tail drop)"; of several places the first.
std::string dropped_at(const PlacesOfDrops& places, const Incident& incident) {
  const auto first = places.lower_bound({incident.connection, incident.first_frame});
  const bool within = first != places.end() && first->first.first == incident.connection &&
                      first->first.second <= incident.last_frame && incident.lost_at_most != 0;
  return within ? first->second : std::string();
}

}  // namespace

std::vector<IncidentRow> incident_rows(const Snapshot& snapshot, std::optional<std::uint32_t> connection) {
  std::vector<IncidentRow> rows;
  rows.reserve(connection ? 0 : snapshot.incidents.size());
  const PlacesOfDrops places = places_of_drops(snapshot.exports);
  for (const Incident& incident : snapshot.incidents) {
    if (connection && incident.connection != *connection) continue;
    rows.push_back({&incident, find_connection(snapshot.connections, incident.connection),
                    snapshot.first_read_ns.value_or(0), dropped_at(places, incident)});
  }
  return rows;
}

std::span<const IncidentColumn> incident_columns() noexcept {
  return columns_of_incidents;
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/retry_chains.hpp"
#include "analyze/results/incident_columns.hpp"
#include "analyze/story/story_parts.hpp"

namespace roce::analyze {
namespace {

using enum IncidentKind;
using Incidents = std::vector<const Incident*>;

/// So many are told one by one.
constexpr std::size_t few = 6;

bool ends_it(const Incident& incident) noexcept {
  return incident.what == refused_request || incident.what == rnr_exhausted || incident.what == path_silent;
}

Incidents own_incidents(const Snapshot& snapshot, const Connection& connection) {
  Incidents all;
  for (const Incident& incident : snapshot.incidents) {
    if (incident.connection == connection.id) all.push_back(&incident);
  }
  return all;
}

/// "1 packet", "at least 2 packets", "up to 96 packets".
std::string lost_packets(const Incident& incident, std::string_view of) {
  const std::uint32_t least = incident.lost_at_least();
  if (least == 0 && incident.lost_at_most == 0) return fmt::format("packets of {}", of);
  if (least == 0) return fmt::format("up to {} of {}", packets_text(incident.lost_at_most), of);
  return fmt::format("{}{} of {}", least < incident.lost_at_most ? "at least " : "", packets_text(least), of);
}

std::string place_text(IncidentPlace place) {
  switch (place) {
    case IncidentPlace::before_capture:
      return " upstream of the capture";
    case IncidentPlace::after_capture:
      return " downstream of the capture";
    case IncidentPlace::between_points:
      return " between the capture points";
    case IncidentPlace::several:
      return " upstream and downstream of the capture";
    default:
      return {};
  }
}

std::string refusal(const Connection& connection, const Incident& incident) {
  const std::string requester = who(connection, incident.side);
  const std::string responder = who(connection, 1U - incident.side);
  for (const RefusedRequest& refused : connection.requester[incident.side].trouble->refused) {
    if (refused.nak_frame < incident.first_frame || refused.nak_frame > incident.last_frame) continue;
    return fmt::format("{} refuses {} of {}: NAK {}, packet {}", responder, refused_text(refused), requester,
                       nak_text(refused.syndrome), refused.nak_frame);
  }
  return fmt::format("{} refuses a request of {} with a fatal NAK", responder, requester);
}

/// What happened.
std::string event_text(const Snapshot& snapshot, const Connection& connection, const Incident& incident) {
  const std::string requester = who(connection, incident.side);
  const std::string responder = who(connection, 1U - incident.side);
  const std::string& sender = incident.of_responses ? responder : requester;
  switch (incident.what) {
    case loss:
      return lost_packets(incident, sender) + " lost" + place_text(incident.place);
    case corruption:
      return lost_packets(incident, sender) + " damaged (ICRC)" + place_text(incident.place);
    case rnr:
      return fmt::format("{} is not ready: no receive posted for a request of {}", responder, requester);
    case reordering:
      return fmt::format("packets of {} come late, and are asked for again: nothing is lost", sender);
    case slow_responder:
      return fmt::format("{} answers only after {} has sent its request again", responder, requester);
    case needless_repeat:
      return fmt::format("{} sends again what {} had acknowledged: the answer passed the capture", requester,
                         responder);
    case timeout:
      return fmt::format("{} hears nothing from {}, and sends again: request or answer was lost", requester,
                         responder);
    case refused_request:
      return refusal(connection, incident);
    case rnr_exhausted:
      return fmt::format("{} is not ready for a request of {}, until its RNR retries run out", responder,
                         requester);
    case path_silent: {
      const std::string chain = chain_text(snapshot, connection, incident.side);
      return fmt::format("{} gets no answer from {} in time, until its retries run out{}{}", requester,
                         responder, chain.empty() ? "" : ": ", chain);
    }
    case loss_or_reordering:
      return fmt::format(
          "{} asks for a packet of {} that was captured: lost behind the capture, or late there", responder,
          requester);
    case unexplained:
    case count_:
      break;
  }
  return fmt::format("{} sends again, for a reason that the capture does not show", requester);
}

std::string recovery_text(const Incident& incident) {
  std::string text;
  if (incident.repeated_packets != 0) {
    text += fmt::format("; {} sent again ({})", packets_text(incident.repeated_packets),
                        bytes_text(incident.repeated_bytes));
    if (incident.discarded_packets != 0)
      text += fmt::format(", up to {} of them thrown away by the receiver", incident.discarded_packets);
  }
  if (ends_it(incident)) return text;
  if (!incident.over) return text + "; not over when the capture ends";
  const std::int64_t lasted =
      incident.recovery_ns > 0 ? incident.recovery_ns : span_ns(incident.start_ns, incident.end_ns);
  return lasted > 0 ? text + "; over after " + duration_text(lasted) : text;
}

StoryLine line_of(const Snapshot& snapshot, const Connection& connection, const Incident& incident) {
  std::string text = event_text(snapshot, connection, incident);
  const bool told = incident.what == path_silent || incident.what == refused_request;
  if (const std::string learned = incident_learned_text(incident); !learned.empty() && !told)
    text += "; noticed by " + learned;
  text += recovery_text(incident);
  StoryLine line = line_at(StoryKind::incident, incident.first_frame, incident.last_frame,
                           fmt::format("#{} {}", incident.id, text));
  line.time_ns = incident.start_ns;
  line.end_ns = incident.end_ns;
  line.fatal = ends_it(incident);
  return line;
}

/// Sums over incidents.
struct Sum {
  std::uint64_t lost = 0, repeated = 0, bytes = 0;
  bool least = false;  ///< more may have been lost

  explicit Sum(const Incidents& incidents) {
    for (const Incident* incident : incidents) {
      lost += incident->lost_at_least();
      repeated += incident->repeated_packets;
      bytes += incident->repeated_bytes;
      least = least || incident->lost_at_most > incident->lost_at_least();
    }
  }
  [[nodiscard]] std::string text() const {
    std::string text;
    if (lost != 0) text = fmt::format("{}{} lost", least ? "at least " : "", packets_text(lost));
    if (repeated != 0)
      text += fmt::format("{}{} sent again ({})", text.empty() ? "" : ", ", packets_text(repeated),
                          bytes_text(bytes));
    return text;
  }
};

/// "loss downstream (22); receiver not ready (3)", most first.
std::string kinds_text(const Incidents& incidents) {
  std::map<std::string, std::size_t> counts;
  for (const Incident* incident : incidents) ++counts[incident_what_text(*incident)];
  std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (sorted.size() == 1) return sorted.front().first;
  std::string text;
  for (const auto& [kind, n] : sorted) text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", kind, n);
  return text;
}

/// Several of a row in one line.
StoryLine line_of(const Connection& connection, const Incidents& row) {
  std::vector<std::int64_t> took;
  StoryLine line;
  line.kind = StoryKind::incident;
  line.first_packet = row.front()->first_frame;
  line.time_ns = row.front()->start_ns;
  for (const Incident* incident : row) {
    line.last_packet = std::max(line.last_packet, incident->last_frame);
    line.end_ns = std::max(line.end_ns, incident->end_ns);
    if (incident->recovery_ns > 0) took.push_back(incident->recovery_ns);
  }
  const unsigned side = row.front()->side;
  const bool one_side =
      std::all_of(row.begin(), row.end(), [&](const Incident* i) { return i->side == side; });
  line.text = fmt::format("#{} to #{}: {} incidents{}", row.front()->id, row.back()->id, row.size(),
                          one_side ? " of the requests of " + who(connection, side) : "");
  if (const std::int64_t span = span_ns(line.time_ns, line.end_ns); span > 0)
    line.text += " in " + duration_text(span);
  line.text += ": " + kinds_text(row);
  if (const std::string sum = Sum(row).text(); !sum.empty()) line.text += "; " + sum;
  if (!took.empty()) {
    std::sort(took.begin(), took.end());
    line.text += fmt::format("; over after {} each (median), {} at most",
                             duration_text(took[took.size() / 2]), duration_text(took.back()));
  }
  return line;
}

/// Where a row of incidents ends: where it was quiet for long compared with their whole time.
std::vector<Incidents> rows_of(const Incidents& incidents) {
  constexpr std::int64_t share = 8;
  const std::int64_t whole = span_ns(incidents.front()->start_ns, incidents.back()->end_ns);
  std::vector<Incidents> rows;
  for (const Incident* incident : incidents) {
    const bool quiet =
        !rows.empty() && span_ns(rows.back().back()->end_ns, incident->start_ns) > whole / share;
    if (rows.empty() || quiet) rows.emplace_back();
    rows.back().push_back(incident);
  }
  return rows;
}

}  // namespace

void tell_incidents(const Snapshot& snapshot, const Connection& connection, std::vector<StoryLine>& lines) {
  const Incidents all = own_incidents(snapshot, connection);
  Incidents others;
  for (const Incident* incident : all) {
    if (all.size() <= few || ends_it(*incident)) {
      lines.push_back(line_of(snapshot, connection, *incident));
    } else {
      others.push_back(incident);
    }
  }
  if (others.empty()) return;
  for (const Incidents& row : rows_of(others)) {
    if (row.size() == 1) {
      lines.push_back(line_of(snapshot, connection, *row.front()));
    } else {
      lines.push_back(line_of(connection, row));
    }
  }
}

std::string incidents_summary(const Snapshot& snapshot, const Connection& connection) {
  const Incidents all = own_incidents(snapshot, connection);
  if (all.empty()) return {};
  const std::string sum = Sum(all).text();
  return fmt::format("{}: {}{}{}", plural(all.size(), "incident", "incidents"), kinds_text(all),
                     sum.empty() ? "" : "; ", sum);
}

}  // namespace roce::analyze

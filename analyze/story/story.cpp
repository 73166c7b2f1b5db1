// SPDX-License-Identifier: Apache-2.0
#include "analyze/story/story.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/connection/find_connection.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/story/story_parts.hpp"
#include "analyze/story/wire_evidence.hpp"

namespace roce::analyze {
namespace {

std::string_view operation_words(OperationKind kind) {
  using enum OperationKind;
  static constexpr EnumNames<OperationKind, operation_kind_count> words({{send, "SEND"},
                                                                         {write, "RDMA WRITE"},
                                                                         {read, "RDMA READ"},
                                                                         {atomic, "atomic"},
                                                                         {flush, "FLUSH"},
                                                                         {atomic_write, "ATOMIC WRITE"}});
  return words[kind];
}

std::string operations_text(const Requester& requester) {
  std::string text;
  for (const OperationStats& operation : requester.operations) {
    if (operation.count == 0) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", operation.count, operation_words(operation.kind));
  }
  return text.empty() ? text : " with " + text;
}

/// "10.0.0.1 sends 88 packets (6.78 kB) with 30 SEND"
std::string sent_text(const Connection& connection, unsigned side) {
  return fmt::format("{} sends {} ({}){}", who(connection, side), packets_text(connection.packets[side]),
                     bytes_text(connection.bytes[side]), operations_text(connection.requester[side]));
}

void tell_begin(const Connection& connection, std::vector<StoryLine>& lines) {
  std::string text =
      connection.cm ? "the first packet" : "the first packet, and no set-up by the CM before it";
  if (const std::int64_t span = span_ns(connection.first_time_ns, connection.last_time_ns); span > 0)
    text += fmt::format("; in the {} to the last one", duration_text(span));
  std::string sides;
  for (unsigned side = 0; side < 2; ++side) {
    if (connection.packets[side] == 0) continue;
    sides += (sides.empty() ? " " : ", ") + sent_text(connection, side);
  }
  StoryLine line = line_at(StoryKind::begin, connection.first_frame, connection.first_frame, text + sides);
  line.time_ns = line.end_ns = connection.first_time_ns;
  lines.push_back(std::move(line));
}

bool lies_in_incident(const Snapshot& snapshot, const Connection& connection, std::uint64_t frame) {
  return std::any_of(snapshot.incidents.begin(), snapshot.incidents.end(), [&](const Incident& incident) {
    return incident.connection == connection.id && incident.first_frame <= frame &&
           frame < incident.last_frame;
  });
}

/// The longest silence, if it is long for this connection and no incident tells of it.
void tell_silence(const Snapshot& snapshot, const Connection& connection, std::vector<StoryLine>& lines) {
  constexpr std::uint64_t least_ns = 1'000'000;
  constexpr std::uint64_t share = 10;
  const auto whole = static_cast<std::uint64_t>(span_ns(connection.first_time_ns, connection.last_time_ns));
  const unsigned side = connection.requester[1].idle_ns > connection.requester[0].idle_ns ? 1 : 0;
  const Requester& requester = connection.requester[side];
  if (requester.idle_ns < least_ns || requester.idle_ns < whole / share || requester.idle_from_frame == 0)
    return;
  if (lies_in_incident(snapshot, connection, requester.idle_from_frame)) return;
  lines.push_back(line_at(StoryKind::silence, requester.idle_from_frame, requester.idle_from_frame,
                          fmt::format("no request of {1} and no answer to one for {0}: the longest silence",
                                      wait_text(requester.idle_ns), who(connection, side))));
}

void tell_notes(const Connection& connection, std::vector<StoryLine>& lines) {
  static constexpr struct {
    Event event;
    std::string_view words;
  } strange[] = {{Event::icrc_mismatch, "has a wrong ICRC: damaged on the way"},
                 {Event::illegal_sequence, "has an opcode that must not follow the one before"},
                 {Event::wrong_length, "has a length that does not fit"},
                 {Event::mac_changed, "comes from another MAC address than before: another path or port"},
                 {Event::zero_credits, "grants no credits: no receive is posted"}};
  for (unsigned side = 0; side < 2; ++side) {
    for (const auto& each : strange) {
      const EventLog* log = connection.sent[side].find(each.event);
      if (log == nullptr || log->frames.empty()) continue;
      const std::string more = log->count > 1 ? fmt::format(" (the first of {})", log->count) : std::string();
      StoryLine line = line_at(StoryKind::note, log->frames[0], log->frames[0],
                               fmt::format("a packet of {} {}{}", who(connection, side), each.words, more));
      line.time_ns = line.end_ns = log->first_time_ns;
      lines.push_back(std::move(line));
    }
  }
}

void tell_marks(const Connection& connection, std::vector<StoryLine>& lines) {
  for (unsigned side = 0; side < 2; ++side) {
    const CongestionSide& marks = *connection.congestion[side];
    if (marks.ce == 0 && marks.cnps == 0) continue;
    std::string text =
        fmt::format("{} of {} {} marked CE, and it gets {}", packets_text(marks.ce), who(connection, side),
                    marks.ce == 1 ? "is" : "are", plural(marks.cnps, "CNP", "CNPs"));
    if (marks.fell + marks.held != 0) text += fmt::format("; its rate fell after {} of them", marks.fell);
    lines.push_back(line_of_all(StoryKind::marks, std::move(text)));
  }
}

/// An outage that this connection was part of, where it begins to show.
void tell_outages(const Snapshot& snapshot, const Connection& connection, std::vector<StoryLine>& lines) {
  for (const Diagnosis& each : snapshot.diagnoses) {
    if (each.cause != "outage" || !each.since_ns || !each.until_ns) continue;
    const auto& named = each.connections;
    if (std::find(named.begin(), named.end(), connection.id) == named.end()) continue;
    const auto first =
        std::find_if(snapshot.incidents.begin(), snapshot.incidents.end(), [&](const Incident& incident) {
          return incident.connection == connection.id && incident.start_ns <= *each.until_ns &&
                 incident.end_ns >= *each.since_ns;
        });
    if (first == snapshot.incidents.end()) continue;
    StoryLine line = line_at(StoryKind::note, first->first_frame, first->first_frame,
                             fmt::format("an outage begins: {}", each.sentence));
    line.time_ns = *each.since_ns;
    line.end_ns = *each.until_ns;
    lines.push_back(std::move(line));
  }
}

/// The troubles of the whole capture that name it, worst first.
void tell_diagnoses(const Snapshot& snapshot, const Connection& connection, std::vector<StoryLine>& lines) {
  for (const Diagnosis& diagnosis : snapshot.diagnoses) {
    const auto& named = diagnosis.connections;
    const bool told = std::any_of(lines.begin(), lines.end(), [&](const StoryLine& line) {
      return line.kind == StoryKind::note && line.text.ends_with(diagnosis.sentence);
    });
    if (!told && std::find(named.begin(), named.end(), connection.id) != named.end())
      lines.push_back(line_of_all(StoryKind::diagnosis, diagnosis.sentence));
  }
}

/// Which queue pairs are of no use any more.
void tell_failure(const Snapshot& snapshot, const Connection& connection, std::vector<StoryLine>& lines) {
  for (unsigned side = 0; side < 2; ++side) {
    const WireEvidence failure = failure_on_wire(snapshot, connection, side);
    if (!failure.shown) continue;
    // A responder that refuses goes to the error state too (IBTA 9.9.3); one that is silent or not ready does
    // not.
    const bool both = connection.requester[side].refused_fatally;
    lines.push_back(line_of_all(
        StoryKind::end, fmt::format("from packet {} on the queue pair{} of {}{}{} in the error state",
                                    failure.last_packet, both ? "s" : "", who(connection, side),
                                    both ? " and " + who(connection, 1 - side) : "", both ? " are" : " is")));
  }
}

/// That the capture ended, and not the connection.
void tell_end_of_capture(const Snapshot& snapshot, const Connection& connection,
                         std::vector<StoryLine>& lines) {
  const std::int64_t since = snapshot.totals.any_time && connection.last_time_ns != capture::no_time
                                 ? span_ns(connection.last_time_ns, snapshot.totals.last_time_ns)
                                 : 0;
  std::string text = "still open when the capture ends";
  if (since > 0) text += fmt::format(", {} after its last packet", duration_text(since));
  if (connection.state == Connection::State::half_seen)
    text += fmt::format("; no packet is known to be from {}",
                        who(connection, connection.packets[0] == 0 ? 0 : 1));
  lines.push_back(line_of_all(StoryKind::end, std::move(text)));
}

/// What it means that nothing is wrong.
std::string in_order_text(const Snapshot& snapshot, const Connection& connection) {
  std::string text = "nothing went wrong as far as the capture shows";
  if (connection.state == Connection::State::half_seen)
    text = "one direction was captured, and it shows no trouble";
  if (!can_be_judged(snapshot, connection))
    text = "losses and repeats are not judged: the capture does not show enough";
  if (!snapshot.complete()) text += ", but not all of it could be judged";
  return text;
}

std::string headline_of(const Snapshot& snapshot, const Connection& connection) {
  if (std::string failed = failure_text(snapshot, connection); !failed.empty()) return failed;
  const bool closed = connection.state == Connection::State::closed;
  const std::string end = closed ? "closed by the CM" : "open to the end of the capture";
  const std::string troubles =
      can_be_judged(snapshot, connection) ? incidents_summary(snapshot, connection) : std::string();
  return fmt::format("{}; {}", troubles.empty() ? in_order_text(snapshot, connection) : troubles, end);
}

Story story_of_exchange(const Snapshot& snapshot, const QueuePair& of) {
  const CmExchange& exchange = snapshot.exchanges[of.exchange];
  Story story;
  story.of = of;
  story.ends = {Endpoint{exchange.client, exchange.client_qpn},
                Endpoint{exchange.server, exchange.server_qpn}};
  story.headline = failed_exchange_text(exchange);
  story.ended_badly = !story.headline.empty();
  if (story.headline.empty()) story.headline = "set up, but no packet of the connection was captured";
  tell_exchange(exchange, story.lines);
  sort_lines(story.lines);
  return story;
}

}  // namespace

bool can_be_judged(const Snapshot& snapshot, const Connection& connection) noexcept {
  return snapshot.completeness.bears(Need::packets | Need::directions | Need::headers, connection);
}

std::string who(const Connection& connection, unsigned side) {
  const Endpoint& end = connection.ends[side];
  if (end.address != connection.ends[1 - side].address) return address_text(end.address);
  return end.qp ? fmt::format("QP 0x{:06x}", *end.qp) : std::string(side == 0 ? "side a" : "side b");
}

StoryLine line_at(StoryKind kind, std::uint64_t first, std::uint64_t last, std::string text) {
  StoryLine line;
  line.kind = kind;
  line.first_packet = first;
  line.last_packet = last;
  line.text = std::move(text);
  return line;
}

StoryLine line_of_all(StoryKind kind, std::string text) {
  return line_at(kind, 0, 0, std::move(text));
}

std::string failure_text(const Snapshot& snapshot, const Connection& connection) {
  for (unsigned side = 0; side < 2; ++side) {
    const WireEvidence failure = failure_on_wire(snapshot, connection, side);
    if (failure.shown) return failure.brief;
  }
  return {};
}

void sort_lines(std::vector<StoryLine>& lines) {
  const auto place = [](const StoryLine& line) {
    return line.first_packet == 0 ? ~std::uint64_t{0} : line.first_packet;
  };
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const StoryLine& a, const StoryLine& b) { return place(a) < place(b); });
}

Story tell(const Snapshot& snapshot, const QueuePair& of) {
  const Connection* found = find_connection(snapshot.connections, of.connection);
  if (found == nullptr) return story_of_exchange(snapshot, of);
  const Connection& connection = *found;
  Story story;
  story.of = of;
  story.ends = connection.ends;
  story.headline = headline_of(snapshot, connection);
  story.judged = can_be_judged(snapshot, connection);
  story.ended_badly = !failure_text(snapshot, connection).empty();
  const CmExchange* exchange = exchange_of(snapshot, connection);
  if (exchange != nullptr) tell_exchange(*exchange, story.lines);
  tell_begin(connection, story.lines);
  tell_outages(snapshot, connection, story.lines);
  if (can_be_judged(snapshot, connection)) tell_incidents(snapshot, connection, story.lines);
  tell_silence(snapshot, connection, story.lines);
  tell_notes(connection, story.lines);
  sort_lines(story.lines);
  if (!can_be_judged(snapshot, connection))
    story.lines.push_back(line_of_all(StoryKind::note, capture_limits_text(snapshot)));
  if (connection.state == Connection::State::open || connection.state == Connection::State::half_seen)
    tell_end_of_capture(snapshot, connection, story.lines);
  tell_failure(snapshot, connection, story.lines);
  tell_marks(connection, story.lines);
  tell_diagnoses(snapshot, connection, story.lines);
  tell_applications(snapshot, connection, story.lines);
  tell_commands(snapshot, connection, story.lines);
  return story;
}

}  // namespace roce::analyze

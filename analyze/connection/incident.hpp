// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/packet/verdict.hpp"
#include "capture/core/frame.hpp"
#include "dissect/enum_names.hpp"

namespace roce::analyze {

struct Connection;

/// What an incident was; the values of `what`.
enum class IncidentKind : std::uint8_t {
  loss,                ///< packets did not arrive
  corruption,          ///< packets arrived damaged (ICRC), and so were thrown away
  rnr,                 ///< the receiver was not ready
  reordering,          ///< packets came late and were asked for again: nothing was lost
  slow_responder,      ///< the answer came, but after the request had been sent again
  needless_repeat,     ///< sent again although the confirmation had passed the capture point
  timeout,             ///< sent again after silence: the request or its answer was lost
  refused_request,     ///< a NAK that ends the connection
  rnr_exhausted,       ///< the receiver was not ready until the retries ran out
  path_silent,         ///< no answer until the retries ran out
  loss_or_reordering,  ///< a NAK named what had been captured: lost behind the capture, or only late there
  unexplained,         ///< sent again for a reason that the capture does not show
  count_
};
inline constexpr std::size_t incident_kind_count = static_cast<std::size_t>(IncidentKind::count_);
inline constexpr EnumNames<IncidentKind, incident_kind_count> incident_kind_names(
    {{IncidentKind::loss, "loss"},
     {IncidentKind::corruption, "corruption"},
     {IncidentKind::rnr, "rnr"},
     {IncidentKind::reordering, "reordering"},
     {IncidentKind::slow_responder, "slow_responder"},
     {IncidentKind::needless_repeat, "needless_repeat"},
     {IncidentKind::timeout, "timeout"},
     {IncidentKind::refused_request, "refused_request"},
     {IncidentKind::rnr_exhausted, "rnr_exhausted"},
     {IncidentKind::path_silent, "path_silent"},
     {IncidentKind::loss_or_reordering, "loss_or_reordering"},
     {IncidentKind::unexplained, "unexplained"}});

/// Where it happened, seen from the capture point; the values of `place`.
enum class IncidentPlace : std::uint8_t {
  not_known,
  before_capture,  ///< upstream: between the sender and the capture point
  after_capture,   ///< downstream of it
  between_points,  ///< between two capture points
  several,         ///< upstream and downstream
  responder,       ///< in the responder
  count_
};
inline constexpr std::size_t incident_place_count = static_cast<std::size_t>(IncidentPlace::count_);
inline constexpr EnumNames<IncidentPlace, incident_place_count> incident_place_names(
    {{IncidentPlace::not_known, "not_known"},
     {IncidentPlace::before_capture, "before_capture"},
     {IncidentPlace::after_capture, "after_capture"},
     {IncidentPlace::between_points, "between_points"},
     {IncidentPlace::several, "several"},
     {IncidentPlace::responder, "responder"}});

/// How the place is known; the values of `place_by`.
enum class PlaceEvidence : std::uint8_t {
  gap_sent_again,      ///< not captured in its place, and needed again (IBTA 9.7.5.2)
  nak_names_it,        ///< captured, and then named by a sequence NAK (9.7.5.2.8)
  asked_for_again,     ///< a response that was captured, and asked for again (9.7.5.1.4)
  confirmed_before,    ///< the answer that confirms it had been captured before
  came_late,           ///< it came after those that were sent behind it
  icrc_wrong,          ///< it was damaged when it was captured
  trimmed,             ///< captured as what a switch upstream had left of it
  answered_after_all,  ///< answered for the first time after it had been asked again
  nak,                 ///< the responder says so
  seen_elsewhere,      ///< another capture point shows it
  count_
};
inline constexpr std::size_t place_evidence_count = static_cast<std::size_t>(PlaceEvidence::count_);
inline constexpr EnumNames<PlaceEvidence, place_evidence_count> place_evidence_names(
    {{PlaceEvidence::gap_sent_again, "gap_sent_again"},
     {PlaceEvidence::nak_names_it, "nak_names_it"},
     {PlaceEvidence::asked_for_again, "asked_for_again"},
     {PlaceEvidence::confirmed_before, "confirmed_before"},
     {PlaceEvidence::came_late, "came_late"},
     {PlaceEvidence::icrc_wrong, "icrc_wrong"},
     {PlaceEvidence::trimmed, "trimmed"},
     {PlaceEvidence::answered_after_all, "answered_after_all"},
     {PlaceEvidence::nak, "nak"},
     {PlaceEvidence::seen_elsewhere, "seen_elsewhere"}});

/// How the sender learned of it; the values of `learned.by`.
enum class LearnedBy : std::uint8_t {
  nothing,  ///< it did not, as far as the capture goes
  sequence_nak,
  rnr_nak,
  fatal_nak,
  timer,
  missing_response,  ///< responses before one that came were missing: the implied NAK of a READ
  not_captured,      ///< sent again, for something that the capture does not show
  count_
};
inline constexpr std::size_t learned_by_count = static_cast<std::size_t>(LearnedBy::count_);
inline constexpr EnumNames<LearnedBy, learned_by_count> learned_by_names(
    {{LearnedBy::nothing, "nothing"},
     {LearnedBy::sequence_nak, "sequence_nak"},
     {LearnedBy::rnr_nak, "rnr_nak"},
     {LearnedBy::fatal_nak, "fatal_nak"},
     {LearnedBy::timer, "timer"},
     {LearnedBy::missing_response, "missing_response"},
     {LearnedBy::not_captured, "not_captured"}});

/// What cannot be told; the values of `undecided`.
enum class Undecided : std::uint8_t {
  request_or_answer,   ///< which of the two was lost
  lost_or_late,        ///< a NAK named what had been captured: lost behind the capture, or only overtaken
  further_losses,      ///< a NAK names one packet: what was lost with it is among those sent again
  cause_not_captured,  ///< why it was sent again
  capture_incomplete,  ///< packets of it were not captured
  end_not_captured,    ///< whether it was repaired
  // Or what is said of it, for the responder gave an answer that it then cannot have given:
  confirms_lost,    ///< it confirms a request of which each transmission so far is said to be lost
  asks_for_taken,   ///< a sequence NAK of what had come in its turn, or behind which nothing had come
  not_ready_again,  ///< an RNR NAK of what it had taken
  count_
};
inline constexpr std::size_t undecided_count = static_cast<std::size_t>(Undecided::count_);
inline constexpr EnumNames<Undecided, undecided_count> undecided_names(
    {{Undecided::request_or_answer, "request_or_answer"},
     {Undecided::lost_or_late, "lost_or_late"},
     {Undecided::further_losses, "further_losses"},
     {Undecided::cause_not_captured, "cause_not_captured"},
     {Undecided::capture_incomplete, "capture_incomplete"},
     {Undecided::end_not_captured, "end_not_captured"},
     {Undecided::confirms_lost, "confirms_lost"},
     {Undecided::asks_for_taken, "asks_for_taken"},
     {Undecided::not_ready_again, "not_ready_again"}});

/// A time in which one side of a connection sent nothing that was captured, but before and behind it.
struct Silence {
  std::int64_t from_ns = capture::no_time;  ///< of the last packet before it
  std::int64_t until_ns = capture::no_time;

  [[nodiscard]] std::int64_t length_ns() const noexcept {
    return from_ns == capture::no_time ? 0 : until_ns - from_ns;
  }
};

/// One trouble of one PSN space and its recovery: the losses, NAKs, RNR NAKs and passes of repeats that
/// follow from each other. A plain value.
struct Incident {
  static constexpr std::int64_t unknown_ns = -1;

  std::uint32_t id = 0;          ///< from 0, in order of time over the whole capture
  std::uint32_t connection = 0;  ///< Connection::id
  std::uint8_t side = 0;         ///< of the requester
  IncidentKind what = IncidentKind::unexplained;
  IncidentPlace place = IncidentPlace::not_known;
  std::uint16_t place_by = 0;   ///< bits of PlaceEvidence
  std::uint16_t undecided = 0;  ///< bits of Undecided
  LearnedBy learned = LearnedBy::nothing;
  Cause cause = Cause::none;  ///< of the first that was sent again
  std::uint8_t rule = 0;      ///< episode::Rule of it
  bool over = false;          ///< repaired before the capture ended
  bool of_responses = false;  ///< what was lost first, or came late, was a response: sent by the other side
  bool selected = false;      ///< by filter and time range: some of its packets
  float confidence = 1;       ///< 0..1

  std::int64_t start_ns = capture::no_time;  ///< of the first packet that shows it
  std::int64_t end_ns = capture::no_time;    ///< of the packet that shows that it is repaired, else the last
  std::uint64_t first_frame = 0;
  std::uint64_t last_frame = 0;

  std::int64_t learned_after_ns = unknown_ns;  ///< from the first packet that shows it
  std::int64_t confirmed_ago_ns =
      unknown_ns;                ///< needless repeat: from the answer that confirms it to the repeat
  std::int64_t rnr_wait_ns = 0;  ///< that the RNR NAK asks for
  std::uint32_t retries = 0;     ///< of the packet that was sent again most often

  std::uint32_t lost_before = 0;     ///< transmissions lost upstream of the capture point
  std::uint32_t lost_or_missed = 0;  ///< of `lost_before`: lost, or only not captured
  std::uint32_t lost_after = 0;      ///< downstream
  std::uint32_t lost_at_most = 0;
  /// Timers that ran out because what had been sent again was lost as well: a responder sends one NAK for a
  /// gap (IBTA 9.7.5.2.8).
  std::uint32_t lost_again = 0;
  std::uint32_t lost_least_bytes = 0;  ///< on the wire, of the smallest of them; 0: not known of all
  std::uint32_t lost_row = 0;  ///< most of them with consecutive PSNs in one pass, where that shows: upstream
  std::uint32_t repeated_packets = 0;
  std::uint32_t discarded_packets = 0;  ///< by the receiver, at most
  std::uint64_t repeated_bytes = 0;     ///< on the wire
  std::uint64_t discarded_bytes = 0;

  /// What the last answers before it took, the earlier and the later half of them, median; 0: not known.
  std::int64_t answers_early_ns = 0;
  std::int64_t answers_late_ns = 0;
  std::int64_t stalled_ns = 0;            ///< without goodput: what is missing was not yet sent again
  std::int64_t recovery_ns = unknown_ns;  ///< from the first packet that shows it to the confirmation
  /// The longest that are part of it, by side: of all that the requester sends, and of the answers to it.
  std::array<Silence, 2> silent;

  [[nodiscard]] std::uint32_t lost_at_least() const noexcept { return lost_before + lost_after; }
  [[nodiscard]] bool is_known_by(PlaceEvidence evidence) const noexcept {
    return (place_by >> static_cast<unsigned>(evidence) & 1U) != 0;
  }
  void known_by(PlaceEvidence evidence) noexcept {
    place_by = static_cast<std::uint16_t>(place_by | 1U << static_cast<unsigned>(evidence));
  }
  /// One that was lost downstream of the capture point or late there, nobody knew which, turned out to be
  /// lost.
  void turn_out_lost() noexcept {
    ++lost_after;
    lost_at_most = std::max(lost_at_most, lost_at_least());
    place = IncidentPlace::after_capture;
    if (what == IncidentKind::loss_or_reordering || what == IncidentKind::reordering)
      what = IncidentKind::loss;
    constexpr auto open = 1U << static_cast<unsigned>(Undecided::lost_or_late);
    undecided = static_cast<std::uint16_t>(undecided & ~open);
    if (lost_at_most > lost_at_least()) leave_open(Undecided::further_losses);
    confidence = std::max(confidence, 0.8F);
  }
  /// What turned out later to go on with it.
  void absorb(const Incident& more) noexcept;
  [[nodiscard]] bool is_undecided(Undecided reason) const noexcept {
    return (undecided >> static_cast<unsigned>(reason) & 1U) != 0;
  }
  void leave_open(Undecided reason) noexcept {
    undecided = static_cast<std::uint16_t>(undecided | 1U << static_cast<unsigned>(reason));
  }
};

/// Takes back that a path was silent until the retries ran out, where the requester has not given up.
void settle_incidents(std::vector<Incident>& incidents, const std::vector<Connection>& connections);

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// A packet of a PSN space as an episode notes it, and what is said of it when the episode is explained.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/connection/incident.hpp"
#include "analyze/packet/verdict.hpp"
#include "capture/core/frame.hpp"
#include "dissect/opcode.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// A request that is not just acknowledged: its answer carries something, and must come (IBTA 9.7.5.1).
[[nodiscard]] constexpr bool answered_on_its_own(dissect::Operation operation) noexcept {
  using dissect::Operation;
  return operation == Operation::read_request || operation == Operation::compare_swap ||
         operation == Operation::fetch_add || operation == Operation::flush ||
         operation == Operation::atomic_write;
}

/// One captured packet of a PSN space: a request of its requester, or an answer. In order of capture.
struct Note {
  std::int64_t psn = 0;  ///< extended, so that PSNs of a space order
  std::int64_t time_ns = capture::no_time;
  std::uint64_t frame = 0;
  std::int32_t count = 1;   ///< PSNs that a request takes: of a READ as many as its responses; 0: not known
  std::uint32_t aeth = 0;   ///< syndrome in the high byte, MSN below
  std::uint32_t path = 0;   ///< PacketBrief::path
  std::uint32_t bytes = 0;  ///< on the wire; 0: from before the episode
  std::uint16_t ip_id = 0;
  std::uint16_t content = 0;  ///< a hash of what it carries, asks for or answers; 0: not known
  std::uint8_t opcode = 0;
  bool request = false;
  bool has_ip_id = false;
  bool has_aeth = false;
  bool asks = false;          ///< a request that asks for an acknowledgement
  Cause cause = Cause::none;  ///< from before the episode: why it was sent again, if it was
  bool before = false;        ///< from before the episode: judged already, noted for what it says of others
  bool answered = false;      ///< of such a one: all the answers of its own had come
  bool trimmed = false;       ///< a switch upstream cut it: its receiver cannot use it
  bool remarked =
      false;  ///< it went through the queue of trimmed packets, whole: it may have overtaken others
  std::uint32_t mirror_gaps = 0;  ///< so often the mirror had lost packets by then
};

/// What an answer refuses (IBTA 9.7.5.2).
enum class Nak : std::uint8_t { none, sequence, rnr, fatal };

[[nodiscard]] inline Nak nak_of(const Note& note) noexcept {
  if (note.request || !note.has_aeth) return Nak::none;
  const unsigned kind = note.aeth >> 29U & 3U;
  if (kind == 1) return Nak::rnr;
  if (kind != 3) return Nak::none;
  return (note.aeth >> 24U & 31U) == 0 ? Nak::sequence : Nak::fatal;
}

[[nodiscard]] inline bool is_acknowledgement(const Note& note) noexcept {
  return !note.request && dissect::opcode_info(note.opcode).operation == dissect::Operation::acknowledge;
}

/// Why something is said of a packet.
enum class Rule : std::uint8_t {
  none,
  first,              ///< behind all that was sent before it
  same_id,            ///< equal IPv4 ID: the same transmission
  other_path,         ///< on a path where all is shown that another one shows: another capture point
  steady_lag,         ///< after the lag of the mirror that shows others twice
  confirmed_before,   ///< though nothing asked for it and no timer ran
  in_turn,            ///< the next of a row of packets that are shown again
  sent_earlier,       ///< its IPv4 ID lies before those that were captured before it
  fills_gap,          ///< missing in its place, and nothing asked for it again
  sequence_nak,       ///< a sequence NAK asked for it
  nak_of_message,     ///< a sequence NAK asked for a later packet of its message
  rnr_nak,            ///< an RNR NAK asked for it
  timer,              ///< nothing asked for it, and the requester was silent
  read_asked_again,   ///< responses to it are missing
  responds_again,     ///< a response to a READ or atomic that was sent again
  executed_just_now,  ///< its count of messages rose by its own: asked for twice, and answered for the first
                      ///< time
  executed_before,    ///< not captured before, but counts show that its message had been executed
  counted_earlier,    ///< its count of messages lies below one captured before: it was overtaken
  not_captured,       ///< what made the sender send it again is not in the capture
};

/// What a packet shows of one that was captured and asked for again, and may have been lost or overtaken.
enum class Doubt : std::uint8_t {
  none,
  named,              ///< a request that a sequence NAK asked for
  unanswered,         ///< the same, and no answer to it was seen, but others were late
  asked_for_at_once,  ///< a response that was asked for again sooner than by a timer
  waited_for,         ///< one that was asked for by a timer
  all_waited_for,     ///< the same, and others behind it had come: all were lost, or none came in time
};

/// What an episode's explanation says of one packet.
struct Ruling {
  enum class What : std::uint8_t { first, late, copy, repeat };
  What what = What::first;
  Rule rule = Rule::none;
  Cause cause = Cause::none;
  bool begins_pass = false;    ///< the sender went back, here
  std::int32_t trigger = -1;   ///< note of the NAK that made it go back, there; -1: none
  std::uint64_t original = 0;  ///< frame of the last transmission before; 0: none was captured
  // Transmissions whose loss this packet shows: the sums of Loss::shown by it.
  std::uint32_t lost_before = 0;     ///< upstream of the capture point, of its own sender
  std::uint32_t lost_or_missed = 0;  ///< the same, or not captured: whether the capture misses packets tells
  std::uint32_t lost_after = 0;      ///< downstream of it, of the peer
  /// Of the peer, behind the point where it was shown once: nearly all others are shown twice, so it may have
  /// been lost between two points in one interface.
  std::uint32_t lost_behind_one = 0;
  std::uint32_t missed_own = 0;    ///< delivered, but not captured
  std::uint32_t missed_other = 0;  ///< the same of the peer
  std::uint64_t lost_frame = 0;    ///< the transmission lost behind the capture, of `lost_after`; 0: none
  Doubt doubt = Doubt::none;       ///< behind the capture, of the peer: all that is known of the path tells
  std::uint64_t doubt_frame = 0;   ///< the transmission
  bool doubt_behind_one = false;   ///< as in `lost_behind_one`

  bool trimmed = false;     ///< lost itself: a switch upstream had trimmed it
  bool by_network = false;  ///< of a copy: the network made it, not the capture
  bool unseen = false;      ///< of an answer: what it confirms was not captured
  // Of a repeat of the requester:
  bool spurious = false;            ///< all that it carries had been confirmed, and no answer was missing
  bool thrown_away = false;         ///< it was captured before, but a NAK made the responder throw it away
  bool implied = false;             ///< a later answer made the requester ask for the missing one
  std::uint64_t unheard_nak = 0;    ///< frame of a NAK that had no effect, so that a timer ran out; 0: none
  std::uint64_t trigger_frame = 0;  ///< of `trigger`
  std::int64_t trigger_ns = capture::no_time;  ///< and its time
};

/// A transmission that did not arrive, or that the capture missed.
struct Loss {
  /// Undecided: it, or something else that explains as much. Booked by no ruling; its incident says "at
  /// least".
  Lost where = Lost::none;
  bool request = false;  ///< else a response
  std::int64_t psn = 0;
  std::int32_t note = -1;    ///< the transmission; -1: not captured
  std::int32_t shown = -1;   ///< the note that shows it
  std::int32_t needed = -1;  ///< the one that was sent in its place; -1: none
  bool or_missed = false;    ///< lost upstream, or only not captured: nobody asked for it
  bool behind_one = false;   ///< as in Ruling::lost_behind_one
};

/// Requests that are missing in one place, and why is not known, or the capture missed them.
struct MissingRow {
  std::int32_t from = -1, to = -1;  ///< the notes between which they are missing; -1: not known
  std::uint32_t packets = 0;
  bool delivered = false;  ///< what is known of them
};

/// A sender went back and sent again.
struct Pass {
  bool request = false;       ///< of the requester; else responses given again
  std::int32_t begins = -1;   ///< its first note
  std::int32_t ends = -1;     ///< its last one
  std::int32_t trigger = -1;  ///< the NAK, RNR NAK or response that made it go back; -1: none was captured
  Rule rule = Rule::none;
  Cause cause = Cause::none;
  std::int64_t from = 0, to = 0;  ///< PSNs
  std::uint32_t packets = 0;      ///< repeats
};

/// An answer that no responder gives if it was as the explanation says.
struct ImpossibleAnswer {
  std::int32_t note = -1;
  Undecided why = Undecided::confirms_lost;
};

/// Left out of a pass, though nothing proves that it was sent there or needed: lost if a switch says that it
/// dropped it.
struct Hole {
  std::int64_t psn = 0;
  std::int32_t shown = -1;  ///< the note behind it
  bool request = true;      ///< or a response
};

/// What happened, by note index. `losses` and `passes` in the order of the packets that show or begin them.
struct Explanation {
  std::vector<Ruling> rulings;  ///< one a note
  std::vector<Loss> losses;
  std::vector<Pass> passes;
  std::vector<MissingRow> missing;
  std::vector<Hole> holes;
  /// Requests that were overtaken behind the capture, or may have been.
  std::vector<std::int32_t> late_behind;
  std::vector<ImpossibleAnswer> contradictions;
};

}  // namespace roce::analyze::episode

// SPDX-License-Identifier: Apache-2.0
// What happened in an episode: pure, and made of all that was captured of it, before and after each packet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analyze/episode/note.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// What steady traffic and earlier episodes showed of one stream of a space. Only relations of the counts
/// matter.
struct StreamFact {
  std::uint32_t id_forward = 0;   ///< IPv4 IDs a little above the one before
  std::uint32_t id_other = 0;     ///< any other change
  std::uint32_t id_constant = 0;  ///< no change
  std::uint32_t single = 0;       ///< transmissions
  std::uint32_t doubled = 0;      ///< copies among them
  std::uint32_t late = 0;         ///< those that were overtaken
  std::int64_t late_ns = 0;       ///< by so much, at most
  std::uint32_t captured = 0;     ///< transmissions, of all packets so far
  std::uint32_t copied = 0;       ///< and copies
  std::uint32_t forgotten = 0;    ///< of both, those that no note of the episode tells

  /// Whether of so many packets one or more was captured twice.
  [[nodiscard]] bool twice(unsigned one_of) const noexcept {
    const auto mostly = [&](std::uint32_t copies, std::uint32_t all) {
      return copies != 0 && std::uint64_t{copies} * one_of >= all;
    };
    return mostly(doubled, single) || mostly(copied, captured);
  }
};

/// A time that comes up again and again.
struct TimeFact {
  std::int64_t typical_ns = 0;
  std::uint32_t witnesses = 0;  ///< 0: nothing is known
};

/// Where the capture shows packets twice: how long after each other.
struct MirrorFact {
  std::int64_t least_lag_ns = 0;
  std::int64_t most_lag_ns = 0;
  std::uint32_t witnesses = 0;  ///< shown twice though nothing asked for them; 0: it does not
  bool same_path = false;       ///< on the path on which they came before
  bool other_path = false;      ///< on another

  /// Whether it may show one again as the other.
  [[nodiscard]] bool shows(const Note& one, const Note& other) const noexcept {
    if (witnesses == 0 || one.time_ns == capture::no_time || other.time_ns == capture::no_time) return false;
    const std::int64_t lag = other.time_ns - one.time_ns;
    return (one.path == other.path ? same_path : other_path) && lag >= least_lag_ns && lag <= most_lag_ns;
  }
};

/// By how much the stamps of answers have to be moved, so that no effect comes before its cause.
struct ClockFact {
  static constexpr std::int64_t unknown_least = std::numeric_limits<std::int64_t>::min() / 4;
  static constexpr std::int64_t unknown_most = std::numeric_limits<std::int64_t>::max() / 4;
  std::int64_t least_ns = unknown_least;
  std::int64_t most_ns = unknown_most;
  std::uint32_t answers = 0;       ///< so many were held against their requests,
  std::uint32_t early = 0;         ///< and so many are stamped before those
  std::uint32_t heard_late = 0;    ///< NAKs that are stamped behind the pass that heard them
  std::uint32_t heard_before = 0;  ///< and before it
  bool heard_certain = false;      ///< nothing else explains one of the former
  bool varies = false;  ///< no one amount fits: what one of the hosts receives is stamped late, in batches

  /// The requests are, or the answers.
  [[nodiscard]] bool requests_late() const noexcept { return varies && least_ns > 0; }
  [[nodiscard]] bool answers_late() const noexcept { return varies && least_ns <= 0; }
  void at_least(std::int64_t ns) noexcept { least_ns = std::max(least_ns, ns); }
  void at_most(std::int64_t ns) noexcept { most_ns = std::min(most_ns, ns); }
  /// By so much, at least, where they are.
  [[nodiscard]] std::int64_t latest_ns() const noexcept { return std::max(least_ns, -most_ns); }
  /// The same clocks, of the requests of the other side.
  void meet_opposite(const ClockFact& other) noexcept {
    at_least(-other.most_ns);
    at_most(-other.least_ns);
    varies = varies || other.varies;
  }
};

/// What share of the packets that pass the capture has.
struct CaptureFact {
  std::uint32_t captured = 0;     ///< requests
  std::uint32_t missed : 30 = 0;  ///< confirmed, though neither captured nor sent again
  std::uint32_t rows : 2 = 0;     ///< of these, in so many places: 2 are several

  void miss(std::uint32_t packets) noexcept {
    missed = (missed + packets) & 0x3fffffffU;
    rows = rows == 0 ? 1U : 2U;
  }
  /// The capture misses packets now and then: a hole alone is no loss. One that is missing many at once, and
  /// nothing else, stopped for a moment: that says nothing of the rest.
  [[nodiscard]] bool has_holes() const noexcept {
    constexpr std::uint32_t many = 6;
    const bool once = rows == 1 && missed >= many;
    return !once && std::uint64_t{missed} * 1024 >= captured && missed != 0;
  }
  /// It is a sample: nothing that is missing says anything.
  [[nodiscard]] bool is_sample() const noexcept { return missed / 4 > captured; }
};

/// What became of packets behind the capture, of all connections between two hosts in that direction. What
/// was asked for again may have been lost there, or overtaken.
struct PathFact {
  std::uint32_t late = 0;     ///< so many were overtaken: proved
  std::uint32_t lost = 0;     ///< so many were lost
  std::uint32_t open = 0;     ///< so many requests were either
  std::uint32_t soon = 0;     ///< responses that were asked for again sooner than by a timer
  int keeps = 0;              ///< 1, -1: Facts::keeps of a connection that had told it more than once
  bool counts_early = false;  ///< as in Facts, of a responder there
  // Of READs that a timer asked for again, though all that they lack was captured:
  std::uint32_t whole = 0;  ///< those that lack all of their answer, or its first response
  /// In parts of one: as many would, if each response were lost as often as any other.
  std::uint64_t whole_due = 0;
  static constexpr std::uint64_t one_due = 1U << 24U;  ///< a READ has no more responses
  std::uint32_t row = 0;  ///< so many are missing together before it, at most, that were not delivered
  // And before it:
  std::uint64_t captured = 0;
  std::uint64_t overtaken = 0;  ///< so many of these

  /// Whether the way to the capture shuffles: then what looks like a hole of one pass, where no ID tells the
  /// order of sending, may have come among the packets of the next.
  [[nodiscard]] bool shuffles() const noexcept { return overtaken * 32 > captured; }

  /// A requester that takes responses in order throws away what overtakes one, and then lacks what came too
  /// early: never the first of an answer. That is lost as often as any other. Whether it is missing so seldom
  /// (by two standard deviations) that the others were thrown away.
  [[nodiscard]] bool throws_away() const noexcept {
    const double due = static_cast<double>(whole_due) / static_cast<double>(one_due);
    const double missing = whole;
    return due > missing && (due - missing) * (due - missing) > 4 * due;
  }

  /// Whether what may be either was lost, `network`: of all paths. Most requests that are overtaken are
  /// proved to be; not so responses that are asked for at once. Some are thrown away for another that came
  /// late, or their answer is lost: they remain unanswered, too, but they are the fewer.
  [[nodiscard]] bool was_lost(Doubt doubt, const PathFact& network) const noexcept {
    if (doubt == Doubt::named && network.open > 2 * std::uint64_t{network.late}) return true;
    if (doubt == Doubt::unanswered) return lost > late;
    const bool waited = doubt == Doubt::waited_for || doubt == Doubt::all_waited_for;
    if (waited && throws_away()) return false;
    if (doubt == Doubt::waited_for && late == 0 && soon == 0) return true;
    return lost > 4 * std::uint64_t{late};
  }
};

/// All that is known of the way from one host to another.
struct WayFact {
  PathFact path;
  ClockFact clocks;  ///< of what comes back
};

/// What earlier episodes of a space showed, and the next one is told.
struct SpaceFacts {
  StreamFact requests;
  StreamFact responses;
  CaptureFact capture;
  std::int64_t disorder_ns =
      0;                  ///< so much later packets come than others that were sent after them; 0: seldom
  TimeFact nak_reaction;  ///< from a NAK to the first packet sent again for it
  TimeFact timer;         ///< from the last progress to the packet that the timer sent, at least
  /// So long a requester waited for an answer and did not send again, twice: its timer is longer.
  std::int64_t patience_ns = 0;
  std::int64_t waited_ns = 0;  ///< the same, once
  int within = 0;  ///< so often the requester went on within a message: it does not repeat whole ones
  int keeps = 0;   ///< the responder keeps what comes early and asks for one packet: for (> 0) and against
  std::uint32_t responses_lost = 0;  ///< on their way to the capture
  bool counts_early = false;         ///< MSNs count READs and atomics whose responses still wait to be sent
};

/// All that an episode of a space is told.
struct Facts : SpaceFacts {
  MirrorFact mirror;  ///< of the capture
  ClockFact clocks;
  std::int64_t first = 0;  ///< the lowest PSN that was captured: what is before it may have been overtaken
  std::int64_t began_with = 0;  ///< the PSN of the request with which the capture began
  std::int64_t acked = 0;       ///< everything before was confirmed when the episode began
  std::int64_t answered =
      -1;  ///< ... behind the last response with a PSN of its own, at `answered_ns`; -1: none
  std::int64_t answered_ns = capture::no_time;
  std::int64_t until_ns = capture::no_time;  ///< the capture goes on until then, at least
  std::int64_t reaction_ns = 0;              ///< from a sequence NAK to what it asks for; 0: not known
  std::int64_t fastest_answer_ns = 0;        ///< 0: not known
  std::int64_t slow_answer_ns = 0;           ///< 0: not known
  /// From a missing response to the READ issued again, at least; 0: not known.
  std::int64_t ask_again_ns = 0;
  PathFact there;              ///< of requests
  PathFact back;               ///< of responses
  std::uint32_t msn = 0;       ///< messages that the answers had counted when the episode began
  std::uint16_t began_id = 0;  ///< IPv4 ID of the request with which the capture began
  bool msn_known = false;
  bool answers_captured = false;  ///< a NAK would be in the capture
  bool nanoseconds = false;       ///< the clock of the capture counts them: a stamp is no whole microsecond
  bool repeats = true;            ///< the requester sends again what is lost: UC does not
};

/// Where one of the notes has no time, or one that differences do not hold, none of them has.
void settle_times(std::span<Note> notes) noexcept;

/// `facts` learns what the episode shows. Of times see settle_times().
[[nodiscard]] Explanation explain(std::span<const Note> notes, Facts& facts);

}  // namespace roce::analyze::episode

// SPDX-License-Identifier: Apache-2.0
// The order in which a sender sent what was captured: its passes over the PSNs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/episode/scratch.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// A captured transmission, and how much would have to be assumed for it to be this or that: bits, the
/// logarithm of how seldom that is.
struct Sent {
  static constexpr float never = 1000;
  std::int64_t psn = 0;
  std::int64_t end = 0;  ///< one behind its last PSN
  std::int64_t time_ns = 0;
  std::int32_t note = 0;
  std::int64_t lag_ns = 0;      ///< since `previous`
  std::int32_t before = -1;     ///< index of the last one before with its PSN; -1: none
  std::int32_t previous = -1;   ///< ... if it has its opcode as well
  float back = 14;              ///< the sender went back to it
  std::int64_t back_from = -1;  ///< ... from there, and what lies between is missing; -1: from itself
  std::int32_t told_by = -1;    ///< ... by that note; -1: by none
  bool named = false;           ///< a sequence NAK asked for just it since the one before was sent
  bool again = false;           ///< told before the episode, and sent again then: the first time is forgotten
  bool silent = false;          ///< nothing was sent for so long before it that a timer may have run out
  std::int64_t acked = 0;       ///< all before was confirmed: its sender need not send that again
  std::int64_t done = 0;        ///< ... and answered, where answers carry something
  float copy = never;           ///< shown twice
  float copy_again = 1;         ///< ... the next of a row
  float late = 7;               ///< overtaken
  float not_first = 0;          ///< ... more, if it had not been sent before
};

enum class Move : std::uint8_t {
  next,   ///< the next of the pass
  ahead,  ///< of the pass, but PSNs before it are missing
  home,   ///< on with what was not sent before, though the pass had not come there
  back,   ///< a pass begins, perhaps further on than the one before had come
  late,   ///< belongs into a gap
  copy,   ///< was sent once, and shown before
};

struct Placed {
  Move move = Move::next;
  bool of_first = false;     ///< late: into a gap of what was sent for the first time
  std::int32_t pass = 0;     ///< of a late one: into whose gap
  std::int64_t cursor = 0;   ///< where the pass stood before; of a step back: where the new one began
  std::int64_t top = 0;      ///< behind the highest PSN sent before
  std::uint32_t length = 0;  ///< packets of the pass before, since its sender was silent
  std::int64_t late_ns = 0;  ///< late: by so much
};

struct StoryFacts {
  float ahead = 7;          ///< bits for a gap
  float skip = 1;           ///< bits for leaving out what is confirmed
  float pauses = 3;         ///< more bits if the sender waited before
  float home = 6;           ///< bits for a pass that ends early
  float late_again = 0.1F;  ///< the next late one in a row: a whole burst takes another way
  float too_late = 6;       ///< more bits for what would be late by more than
  std::int64_t late_by_ns = INT64_MAX;
  std::size_t before = 0;   ///< so many are told already: taken as they come
  std::int64_t acked = 0;   ///< what is before was confirmed when they were: of it nothing is missing
  std::int64_t top = 0;     ///< an answer before the first shows all before to have been sent
  std::int64_t bottom = 0;  ///< the lowest PSN sent so far: what lies before it may come late
};

/// The likeliest story, in which each came as it was captured. Linear in time.
[[nodiscard]] List<Placed> tell(std::span<const Sent> sent, const StoryFacts& facts);

/// The story where the order of sending is known: nothing is late or shown twice.
[[nodiscard]] List<Placed> tell_in_order(std::span<const Sent> sent, std::int64_t top);

}  // namespace roce::analyze::episode

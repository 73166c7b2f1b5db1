// SPDX-License-Identifier: Apache-2.0
// Stamps that a host makes when its interrupt is served: what it receives is stamped late, in batches, and
// what it sends at once. Between the two directions the order of stamps is then not that of the wire; within
// each it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"
#include "analyze/episode/scratch.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// A NAK or RNR NAK, and where the requester went back to just what it asks for.
struct Heard {
  std::size_t nak = 0, pass = 0;  ///< notes
  bool no_other = false;          ///< nothing else was asked for since it sent that packet before
  bool certain = false;  ///< stamped late: it asks for what was sent once more just before, and never again
};

/// In the order of passes. A requester goes back as soon as it hears a NAK: the last one since it sent that
/// packet before; if none is stamped so, the next one behind, if no timer can have run out by then. Once it
/// is known that stamps are late, also if the pass cannot have been answered yet, and of what came here only
/// then.
[[nodiscard]] List<Heard> naks_heard(std::span<const Note> notes, const Facts& facts);

/// When each note passed at the latest: those that `facts.clocks` says are stamped late no later than what
/// they caused, nor than those of their direction that came behind them; the others as they are stamped.
[[nodiscard]] List<std::int64_t> passed_by(std::span<const Note> notes, const Facts& facts);

}  // namespace roce::analyze::episode

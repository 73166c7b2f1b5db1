// SPDX-License-Identifier: Apache-2.0
// Two directions of a connection may be stamped by two clocks. How far they are apart is bounded by
// causality: no answer comes before its request, and no repeat before the NAK that asks for it.
#pragma once

#include <cstdint>
#include <span>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// By how much the stamps of answers have to be moved; 0 where they fit. `facts.clocks` learns what the
/// notes show.
[[nodiscard]] std::int64_t clock_shift(std::span<const Note> notes, Facts& facts);

}  // namespace roce::analyze::episode

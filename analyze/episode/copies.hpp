// SPDX-License-Identifier: Apache-2.0
// Which notes show a transmission that another one shows: a mirror, a second capture point, a network that
// doubles. Decided before anything else, of requests, responses and acknowledgements alike.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"
#include "analyze/episode/scratch.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// Of a note: whether it is a copy, as far as more tells it than the story of its sender.
struct Copied {
  Rule rule = Rule::none;  ///< none: it is not
  std::int32_t of = -1;    ///< the note that shows the same; -1: forgotten, or none
  /// No copy, but shown by the second of two points alone: lost, or damaged, between the two.
  bool alone = false;
};

[[nodiscard]] List<Copied> find_copies(std::span<const Note> notes, const Facts& facts);

}  // namespace roce::analyze::episode

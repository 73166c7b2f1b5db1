// SPDX-License-Identifier: Apache-2.0
// The order in which packets were sent, where the file has them in another: stamps that jitter, or a path on
// which many overtake each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"
#include "analyze/episode/scratch.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

struct WireOrder {
  std::span<const Note> notes;  ///< in that order, with times that rise: those given, or
  List<Note> moved;
  List<std::int32_t> from;  ///< which note of the file each is
  List<bool> overtaken;     ///< the file has one behind it that was sent later
};

/// Nothing is changed where IPv4 IDs tell, or the file's order is as the sender's. `facts` learns how far
/// they differ.
[[nodiscard]] WireOrder wire_order(std::span<const Note> notes, Facts& facts);

}  // namespace roce::analyze::episode

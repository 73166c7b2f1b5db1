// SPDX-License-Identifier: Apache-2.0
// What the graph of pauses draws, as plain numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/results/snapshot.hpp"

namespace roce::gui {

/// A piece of time and how much of it a port had paused its neighbour.
struct PauseStep {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::int64_t paused_ns = 0;
  [[nodiscard]] double share() const noexcept;  ///< 0 to 1
};

/// Something at one time, with the packet that shows it.
struct PauseSign {
  enum class Kind : std::uint8_t {
    longest,     ///< where the longest pause begins
    storm,       ///< the same, of one that is a storm
    first_word,  ///< the first DCBX announcement
    change,      ///< another one than before
  };
  Kind kind = Kind::longest;
  std::int64_t time_ns = 0;
  std::uint64_t packet = 0;
  std::string text;  ///< what there is to say of it: may hold any bytes of the capture
};

/// One row: a priority that a port pauses, or what a port announces.
struct PauseStrip {
  std::string name;       ///< "02:00:00:00:00:01 priority 3": may hold any bytes of the capture
  bool at_least = false;  ///< the speed is not known: pauses are at least as long
  std::int64_t paused_ns = 0;
  std::vector<PauseStep> steps;  ///< by time, those with a pause
  std::vector<PauseSign> signs;  ///< by time
};

struct PauseStrips {
  std::vector<PauseStrip> strips;  ///< pauses by port and priority, then ports that announce
  std::size_t left_out = 0;        ///< rows beyond the most: those that pause least, or announce last
  std::int64_t from_ns = 0;        ///< of the capture
  std::int64_t to_ns = 0;
};
[[nodiscard]] PauseStrips pause_strips(const analyze::Snapshot& snapshot, std::size_t most = 16);

/// The sign or, where there is none, the step at a place: `row` counts from the top in whole strips, and what
/// is no further than `reach_ns` away is hit.
struct PauseHit {
  const PauseStrip* strip = nullptr;
  const PauseStep* step = nullptr;  ///< null: it is a sign
  const PauseSign* sign = nullptr;
};
[[nodiscard]] std::optional<PauseHit> pause_at(const PauseStrips& strips, std::int64_t time_ns, double row,
                                               std::int64_t reach_ns) noexcept;

}  // namespace roce::gui

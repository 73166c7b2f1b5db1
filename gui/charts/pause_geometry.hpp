// SPDX-License-Identifier: Apache-2.0
// Geometry of the pause graph, as plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/results/snapshot.hpp"

namespace roce::gui {

/// An interval and how long a port had paused its link partner within it.
struct PauseStep {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::int64_t paused_ns = 0;
  [[nodiscard]] double share() const noexcept;  ///< 0 to 1
};

/// An event with the packet that shows it.
struct PauseSign {
  enum class Kind : std::uint8_t {
    longest,     ///< start of the longest pause
    storm,       ///< the same, if it is a pause storm
    first_word,  ///< the first DCBX announcement
    change,      ///< a DCBX announcement that differs from the one before
  };
  Kind kind = Kind::longest;
  std::int64_t time_ns = 0;
  std::uint64_t packet = 0;
  std::string text;  ///< description; may contain any bytes of the capture
};

/// One row: a priority paused by a port, or the DCBX announcements of a port.
struct PauseStrip {
  std::string name;       ///< "02:00:00:00:00:01 priority 3"; may contain any bytes of the capture
  bool at_least = false;  ///< the link speed is unknown: durations are lower bounds
  std::int64_t paused_ns = 0;
  std::vector<PauseStep> steps;  ///< by time, only those with a pause
  std::vector<PauseSign> signs;  ///< by time
};

struct PauseStrips {
  std::vector<PauseStrip> strips;  ///< pauses by port and priority, then DCBX by port
  std::size_t left_out = 0;        ///< rows beyond `most`: those that pause least, and the last DCBX rows
  std::int64_t from_ns = 0;        ///< of the capture
  std::int64_t to_ns = 0;
};
[[nodiscard]] PauseStrips pause_strips(const analyze::Snapshot& snapshot, std::size_t most = 16);

/// The event or, failing that, the step at a place of the graph: `row` counts strips from the top, `reach_ns`
/// is the tolerance in time.
struct PauseHit {
  const PauseStrip* strip = nullptr;
  const PauseStep* step = nullptr;  ///< null: an event was hit
  const PauseSign* sign = nullptr;
};
[[nodiscard]] std::optional<PauseHit> pause_at(const PauseStrips& strips, std::int64_t time_ns, double row,
                                               std::int64_t reach_ns) noexcept;

}  // namespace roce::gui

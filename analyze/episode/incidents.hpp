// SPDX-License-Identifier: Apache-2.0
// The incidents of an episode: which of its losses, NAKs and passes follow from each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/connection/incident.hpp"
#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// A packet with a wrong ICRC, which its receiver throws away: it is no Note, and its PSN may be wrong, too.
struct Damaged {
  std::int64_t psn = 0;
  std::int64_t time_ns = capture::no_time;
  std::uint64_t frame = 0;
  bool request = false;
};

struct Incidents {
  /// In the order of their first packets. Whose they are, and their numbers, the caller knows.
  std::vector<Incident> all;
  /// By note: index in `all`; -1: of none. From before the episode as well.
  std::vector<std::int32_t> of_note;
  /// By incident: the frame of the request from before the episode that its responses answer again; 0: there
  /// is none. It goes on with the incident of that.
  std::vector<std::uint64_t> asked_by;
  /// As of_note, of what was damaged.
  std::vector<std::int32_t> of_damaged;
};

/// `facts`: those with which it was explained.
[[nodiscard]] Incidents incidents_of(std::span<const Note> notes, const Explanation& said, const Facts& facts,
                                     std::span<const Damaged> damaged = {});

/// A damaged packet for which nothing was sent again.
[[nodiscard]] Incident incident_of(const Damaged& damaged);

}  // namespace roce::analyze::episode

// SPDX-License-Identifier: Apache-2.0
// What the losses of one incident have in common.
#pragma once

#include <cstdint>

#include "analyze/connection/incident.hpp"
#include "analyze/episode/incident_groups.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// Losses in a row: PSN after PSN before one packet that shows them missing.
[[nodiscard]] std::uint32_t longest_row(const Group& group);
/// The size of the smallest that was lost, by itself or by what was sent in its place; 0: not known of all.
[[nodiscard]] std::uint32_t least_lost_bytes(const Grouping& all, const Group& group);
/// Timers that ran out after a repeat for which the responder had no second NAK (IBTA 9.7.5.2.8): it was
/// lost, as what it repeats had been.
[[nodiscard]] std::uint32_t lost_again(const Group& group);

/// Fills in what the answers before the first packet took.
void measure_answers(const Grouping& all, const Group& group, Incident& incident);

}  // namespace roce::analyze::episode

// SPDX-License-Identifier: Apache-2.0
// Queue pair numbers that are used again without a word of the CM, most by the same two hosts and from the
// same PSN: what follows is no repeat of what was there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// Beyond this a PSN belongs to another sequence; the largest messages have as many packets.
inline constexpr std::int64_t far_psns = std::int64_t{1} << 18U;
/// So near behind another, a request far from all others follows that one.
inline constexpr std::int64_t soon_psns = 4096;

enum class Use : std::uint8_t {
  unknown,
  same,
  another,
  shown_again,  ///< the same, and of long before: of another capture point, by another clock
};

/// Whether the notes of a PSN space from `begins` on, which follow a silence, are of another use of the queue
/// pairs than those before. IPv4 IDs that change are no other use's. The responder's count of messages begins
/// anew then (MSN, IBTA 9.7.7.1), and never falls otherwise; and what is sent again is what was sent before.
[[nodiscard]] Use use_from(std::span<const Note> notes, std::size_t begins, const Facts& facts);

}  // namespace roce::analyze::episode

// SPDX-License-Identifier: Apache-2.0
// The proof of an explanation: a responder that receives what is said to have reached it must be able to give
// the answers that were captured.
#pragma once

#include <span>
#include <vector>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// The answers among `notes`, in the order of the wire, that no responder gives if it was as `said`.
/// Answers may be lost, coalesced, overtaken or late, and what is left open may have been either way; so
/// whatever is possible is no contradiction.
[[nodiscard]] std::vector<ImpossibleAnswer> replay(std::span<const Note> notes, const Explanation& said,
                                                   const Facts& facts);

}  // namespace roce::analyze::episode

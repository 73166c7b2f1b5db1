// SPDX-License-Identifier: Apache-2.0
// Which requests were lost, and where: from the passes of the requester, and from what the responder asked
// for.
#pragma once

#include "analyze/episode/scene.hpp"
#include "analyze/episode/stream.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// `stream`: the requests, told, and ruled in `scene`.
void lose_requests(Scene& scene, const Stream& stream);
/// What sequence NAKs prove lost downstream of the capture (IBTA 9.7.5.1.1).
void lose_named(Scene& scene, const Stream& stream);

}  // namespace roce::analyze::episode

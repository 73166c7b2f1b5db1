// SPDX-License-Identifier: Apache-2.0
// Both queue pair numbers of a connection in use again, without the CM and with PSNs that were used before:
// the responder's count of messages (MSN, IBTA 9.7.7.1) begins anew then, and never falls otherwise.
#include <algorithm>
#include <utility>
#include <vector>

#include "analyze/tracker_impl.hpp"

namespace roce::analyze {

/// A request that may be the first of another use of the numbers waits for an answer, and those behind it
/// wait with it. True if this one does.
bool Tracker::Impl::awaits_answer(std::uint32_t connection, unsigned side, const PacketRecord& record,
                                  std::uint64_t number, Verdict& verdict) {
  Track& track = tracks[connection];
  if (track.views != nullptr || track.jump != nullptr || track.restart_known) return false;
  if (track.restart == nullptr) {
    track.restart = std::make_unique<Restart>();
    track.restart->side = side;
    link(track);
  }
  if (track.restart->side != side) return false;
  if (track.restart->held.size() == Restart::limit) {
    release_restart(connection);
    return false;
  }
  track.restart->held.push_back({record, number});
  ++held;
  verdict.connection = track.result.id;
  publish(number, verdict);
  return true;
}

/// The answer tells. True if it was dealt with: it belongs to a connection that begins with what waited.
bool Tracker::Impl::restarted(std::uint32_t connection, const PacketRecord& record, std::uint64_t number,
                              Verdict& verdict) {
  Track& track = tracks[connection];
  const Restart& restart = *track.restart;
  const std::uint32_t first = restart.held.front().record.psn;
  const bool to_these = ((record.psn - first) & 0xffffffU) < 2 * Restart::limit;
  if (!to_these || !track.spaces[restart.side]->counts_anew(record)) {
    release_restart(connection);
    return false;
  }
  std::vector<Held> packets = std::move(track.restart->held);
  track.restart.reset();
  for (const std::uint32_t each : track.places) {
    if (each != no_place && !states[each].retired) retire(each);
  }
  replay(packets);
  track_long(record, number, verdict);
  return true;
}

/// They were sent again.
void Tracker::Impl::release_restart(std::uint32_t connection) {
  const std::unique_ptr<Restart> restart = std::move(tracks[connection].restart);
  if (restart == nullptr) return;
  link(tracks[connection]);
  held -= std::min(held, restart->held.size());
  tracks[connection].restart_known = true;
  for (const Held& packet : restart->held) {
    step(connection, restart->side, packet.record, packet.number, tracks[connection].places[restart->side]);
  }
  tracks[connection].restart_known = false;
}

void Tracker::Impl::release_held_back(std::uint32_t connection) {
  release_restart(connection);
  release_far_answer(connection);
}

}  // namespace roce::analyze

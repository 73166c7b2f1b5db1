// SPDX-License-Identifier: Apache-2.0
// Where there are more flows than the tracker may keep: who leaves, and what goes with him.
#include "analyze/tracker_impl.hpp"

namespace roce::analyze {

/// Makes room: the longest idle flows leave, with their connections.
void Tracker::Impl::evict() {
  flows.evict(
      [&](std::uint32_t place) -> std::optional<std::uint64_t> {
        if (place >= states.size()) return 0;
        if (states[place].in_hand) return std::nullopt;
        // Half the range before now, and half behind, for used_at wraps in days.
        return static_cast<std::uint32_t>(states[place].used_at - frames / idle_step + 0x8000'0000U);
      },
      [&](std::uint32_t place) { leave(place); });
}

/// A flow leaves: what was known of its connection goes with it.
void Tracker::Impl::leave(std::uint32_t place) {
  if (place >= states.size()) return;
  unlist(place);
  if (PlainFlow* plain = states[place].plain_flow.get(); plain != nullptr && plain->copies != nullptr) {
    plain->copies->release(copy_budget);
  }
  if (states[place].unpaired != nullptr) {
    std::uint64_t uncounted = 0;
    for (const Held& packet : states[place].unpaired->held) {
      if (packet.record.has(PacketRecord::selected)) ++uncounted;
    }
    held -= std::min(held, states[place].unpaired->held.size());
    flows.count_evicted(uncounted);
  }
  const std::uint32_t connection = states[place].connection;
  const bool queued = states[place].queued;
  drop_unpaired(place);
  states[place] = FlowState{};
  states[place].queued = queued;
  if (connection == no_place) return;
  Track& track = tracks[connection];
  ++flows.departed().connections;
  for (const Held* const waits : {track.jump.get(), track.far_answer.get()}) {
    if (waits != nullptr && waits->record.has(PacketRecord::selected)) flows.count_evicted(1);
  }
  if (track.views != nullptr) {
    for (const CaptureViews::Packet& packet : track.views->held) {
      if (packet.record.has(PacketRecord::selected)) flows.count_evicted(1);
    }
  }
  for (const auto& space : track.spaces) {
    if (space) space->release(shared.budget);
  }
  // The other direction begins anew when it is seen again.
  for (const std::uint32_t each : track.places) {
    if (each == no_place || each == place) continue;
    drop_unpaired(each);
    const bool retired = states[each].retired;
    const std::uint64_t first_frame = states[each].first_frame;
    const std::uint32_t used_at = states[each].used_at;
    const bool in_queue = states[each].queued;
    const bool in_hand = states[each].in_hand;
    states[each] = FlowState{};
    states[each].queued = in_queue;
    states[each].in_hand = in_hand;
    states[each].retired = retired;
    states[each].first_frame = first_frame;
    states[each].used_at = used_at;
    flows.at(each).connection.reset();
  }
  drop(connection);
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// Where there are more flows than the tracker may keep: who leaves, and what goes with him.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analyze/tracker/tracker_impl.hpp"

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

/// Whether findings may tell of it.
bool Tracker::Impl::in_trouble(const Track& track) noexcept {
  const Connection& c = track.result;
  return !c.sent[0].empty() || !c.sent[1].empty() || c.requester[0].trouble.there() ||
         c.requester[1].trouble.there();
}

void Tracker::Impl::retire_idle(std::uint64_t frame) {
  const auto limit = static_cast<std::uint32_t>(frame / idle_step);
  const auto age = [&](std::uint32_t place) {
    return static_cast<std::int32_t>(limit - states[place].used_at);  // used_at wraps in days
  };
  const auto idle = [&](std::uint32_t place) {
    const FlowState& state = states[place];
    if (!flows.at(place).in_use || state.in_hand || age(place) <= 0) return false;
    if (state.connection == no_place) return true;
    const auto& places = tracks[state.connection].places;
    return std::all_of(places.begin(), places.end(),
                       [&](std::uint32_t each) { return each == no_place || age(each) > 0; });
  };
  std::vector<std::pair<std::int32_t, std::uint32_t>> in_trouble_too;
  for (std::uint32_t place = 0; place < states.size(); ++place) {
    // What waits may show trouble.
    if (!idle(place) || !conclude_idle(place)) continue;
    if (states[place].connection != no_place && in_trouble(tracks[states[place].connection])) {
      close_out(place);
      if (idle(place)) in_trouble_too.emplace_back(-age(place), place);
    } else {
      depart(place);
    }
  }
  std::sort(in_trouble_too.begin(), in_trouble_too.end());
  for (const auto& [order, place] : in_trouble_too) {
    if (flows.size() <= flows.limit() / 2) break;
    if (idle(place)) depart(place);  // it may have left with another
  }
}

/// Says of an idle flow's connection all that can be said at an end, and releases its state. False if what
/// waited has begun something new: then it is not idle.
bool Tracker::Impl::conclude_idle(std::uint32_t place) {
  release_waiting(place);
  const std::uint32_t connection = states[place].connection;
  if (connection == no_place) return true;
  if (tracks[connection].concluded) return true;
  if (end_views(connection, false)) static_cast<void>(end_views(connection, false));
  release_held_back(connection);
  if (states[place].connection != connection || !tracks[connection].in_use) return false;
  conclude(tracks[connection]);
  release_state(tracks[connection]);
  return true;
}

/// An idle connection is over. Findings tell of it, so its results stay listed; a packet of its flows begins
/// another one.
void Tracker::Impl::close_out(std::uint32_t place) {
  if (!conclude_idle(place) || states[place].connection == no_place) return;
  for (const std::uint32_t each : tracks[states[place].connection].places) {
    if (each != no_place && !states[each].retired) retire(each);
  }
}

/// An idle flow leaves with its connection.
void Tracker::Impl::depart(std::uint32_t place) {
  if (!conclude_idle(place)) return;
  std::array<std::uint32_t, 2> places{place, no_place};
  if (const std::uint32_t connection = states[place].connection; connection != no_place) {
    places = tracks[connection].places;
    if (places[0] != place) std::swap(places[0], places[1]);
  }
  for (const std::uint32_t each : places) {
    if (each == no_place || !flows.at(each).in_use) continue;
    flows.departed().idle_flows += flows.at(each).packets != 0 ? 1U : 0U;
    leave(each);
    flows.free(each);
  }
}

/// A flow leaves: what was known of its connection goes with it.
void Tracker::Impl::leave(std::uint32_t place) {
  if (place >= states.size()) return;
  if (states[place].connection != no_place) explain_episode(states[place].connection);
  unlist(place);
  if (PlainFlow* plain = states[place].plain_flow.get(); plain != nullptr) {
    settle_damaged(*plain);
    if (plain->copies != nullptr) plain->copies->release(copy_budget);
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

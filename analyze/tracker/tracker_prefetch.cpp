// SPDX-License-Identifier: Apache-2.0
// Asking for memory before it is needed: with a thousand connections waiting for it costs more than working.
#include <algorithm>
#include <array>
#include <span>

#include "analyze/base/prefetch.hpp"
#include "analyze/record/common_packet.hpp"
#include "analyze/tracker/tracker.hpp"
#include "analyze/tracker/tracker_impl.hpp"

namespace roce::analyze {
namespace {

/// Asks for memory that will be written.
[[gnu::always_inline]] inline void fetch(const void* at, std::size_t bytes = 1) noexcept {
  for (std::size_t i = 0; i < bytes; i += 64) prefetch(static_cast<const char*>(at) + i);
}

}  // namespace

/// `packet_at(i, place)` is the i-th packet and sets the place where its flow probably is, or returns
/// nullptr for one that is rare enough to be waited for.
template <class PacketAt>
[[gnu::always_inline]] inline void Tracker::Impl::approach(std::size_t count, PacketAt packet_at,
                                                           Hints& hints) const {
  struct Way {
    const PacketBrief* packet;
    const FlowState* state;
    const PsnSpace* space;
  };
  // Requests and answers apart, without a branch between them: which comes next is as good as random.
  std::array<std::array<Way, group>, 2> ways;
  std::array<std::size_t, 2> counts{};
  std::array<std::uint32_t, 2> last{no_place, no_place};
  for (std::size_t i = 0; i < count; ++i) {
    hints[i] = no_hint;
    const PacketBrief* const packet = packet_at(i, hints[i]);
    const std::uint32_t place = hints[i];
    if (place >= states.size()) continue;
    fetch(&flows.at(place), Flow::hot_bytes);
    fetch(&states[place]);
    const std::size_t kind = of_responder(packet->common) ? 1 : 0;
    ways[kind][counts[kind]] = {packet, &states[place], nullptr};
    // Packets often come in bursts of one flow, and find next to each other what they need.
    counts[kind] += place != last[kind] ? 1U : 0U;
    last[kind] = place;
  }
  const std::span<Way> requests(ways[0].data(), counts[0]);
  const std::span<Way> answers(ways[1].data(), counts[1]);
  for (Way& way : requests) {
    way.space = way.state->spaces[0];
    if (way.space == nullptr) continue;
    if (PsnSpace::asks_connection(*way.packet)) fetch(&tracks[way.state->connection]);
    fetch(way.space, PsnSpace::hot_bytes(false));
  }
  for (Way& way : answers) {
    way.space = way.state->spaces[1];
    if (way.space != nullptr) fetch(way.space, PsnSpace::hot_bytes(true));
  }
  for (const Way& way : requests) {
    if (way.space != nullptr) way.space->fetch(way.packet->psn, false);
  }
  for (const Way& way : answers) {
    if (way.space != nullptr) way.space->fetch(way.packet->psn, true);
  }
  for (const Way& way : answers) {
    if (way.space != nullptr) way.space->fetch_histogram();
  }
  for (const Way& way : answers) {
    if (way.space != nullptr) way.space->fetch_latency(way.packet->time_ns);
  }
}

void Tracker::approach(std::span<const PacketBrief> packets, std::span<const PacketRecord> records,
                       Hints& hints) const {
  impl_->approach(
      std::min(packets.size(), group),
      [&](std::size_t i, std::uint32_t& place) -> const PacketBrief* {
        place = packets[i].place;
        if (packets[i].image != 0) return &packets[i];
        if (place >= records.size()) return nullptr;
        const PacketRecord& record = records[place];
        place = record.common != 0 ? impl_->flows.guess(record) : no_hint;
        return &record;
      },
      hints);
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// What follows from pauses and announcements when all of the capture is known.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/flow/marking.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

[[nodiscard]] std::string mac_text(std::uint64_t mac);  ///< "02:00:00:00:00:01"

/// Whether quanta of that port can be told in time.
[[nodiscard]] bool is_speed_known(const PausePort& port) noexcept;
/// The paused time in quanta; where the speed is not known the sum of what was asked for, which is no less.
[[nodiscard]] std::uint64_t paused_quanta(const PausePort& port, const PauseLane& lane) noexcept;
/// The share of the capture's time; nothing where either is not known.
[[nodiscard]] std::optional<double> duty_of(const Snapshot& snapshot, const PausePort& port,
                                            const PauseLane& lane) noexcept;

/// RoCE packets by the priority that they take and by class.
struct PriorityUse {
  struct Row {
    std::uint64_t packets = 0;
    std::uint64_t guessed = 0;  ///< of them, those of which only DSCP >> 3 tells the priority
    Sightings first;            ///< the first packet of each flow and mark; its count means nothing
    std::vector<std::uint32_t> connections;  ///< ids of the first few
  };
  std::array<std::array<Row, traffic_class_count>, 8> rows;

  [[nodiscard]] const Row& of(std::uint8_t priority, TrafficClass traffic_class) const noexcept {
    return rows[priority & 7U][static_cast<std::size_t>(traffic_class)];
  }
  /// Bits of the priorities that any class uses.
  [[nodiscard]] std::uint8_t used() const noexcept;
  /// Bits of the priorities of what fills links: requests, READ responses and atomics. Where a fabric is
  /// lossless, these are. ACKs, CM and CNPs often have queues of their own.
  [[nodiscard]] std::uint8_t used_by_data() const noexcept;
  /// Those of them that only the guess DSCP >> 3 leads to: devices may map these DSCPs elsewhere. A tag, a
  /// policy and an announced DSCP tell; so does DSCP 0, which is everywhere what nobody has marked.
  [[nodiscard]] std::uint8_t guessed_for_data() const noexcept;
};
/// What an explanation says where all rests on the guess.
inline constexpr std::string_view guessed_priority_text =
    " This holds if devices map a DSCP to the priority DSCP >> 3, a guess: no tag, policy or announcement "
    "tells (--policy does).";
[[nodiscard]] constexpr bool fills_links(TrafficClass traffic_class) noexcept {
  return traffic_class == TrafficClass::data || traffic_class == TrafficClass::response ||
         traffic_class == TrafficClass::atomic;
}
[[nodiscard]] PriorityUse priority_use(const Snapshot& snapshot, const PriorityMap& map,
                                       PacketVersion version = PacketVersion::any);
/// The snapshot's map; without a policy, with the DSCPs that ports announce a priority for.
[[nodiscard]] PriorityMap announced_map(const Snapshot& snapshot);

/// Bits of priorities that some PFC frame paused, and that some port announces as lossless.
struct Lossless {
  std::uint8_t paused = 0;
  std::uint8_t announced = 0;
  bool global = false;   ///< PAUSE stops all of them
  bool any_pfc = false;  ///< some port announces PFC for at least one priority
  [[nodiscard]] std::uint8_t all() const noexcept { return global ? 0xff : paused | announced; }
};
/// Of all capture points, or of one. Of two ends of a link one of which is willing, the other's announcement
/// counts (IEEE 802.1Q, 38.4), unless the willing one goes on announcing its own.
[[nodiscard]] Lossless lossless_priorities(const Snapshot& snapshot,
                                           std::optional<std::uint16_t> point = std::nullopt);
/// Whether each capture point shows the same priorities as lossless. Where not, it is not known which of
/// them concern the RoCE packets of another point.
[[nodiscard]] bool is_lossless_alike_everywhere(const Snapshot& snapshot);
/// What an explanation says where it is not.
inline constexpr std::string_view other_point_text =
    " The capture points do not show the same priorities as lossless, and RoCE packets of one need not cross "
    "the links of another.";

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// Conclusions from pause frames and DCBX announcements over the whole capture.
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

/// Whether pause quanta of that port can be converted to time: 1 quantum is 512 bit times (IEEE 802.3, 31B).
[[nodiscard]] bool is_speed_known(const PausePort& port) noexcept;
/// The paused time in quanta; if the link speed is not known, the sum of the requested quanta, which is an
/// upper bound.
[[nodiscard]] std::uint64_t paused_quanta(const PausePort& port, const PauseLane& lane) noexcept;
/// The paused share of the capture time, 0..1; nothing if the link speed or the times are not known.
[[nodiscard]] std::optional<double> duty_of(const Snapshot& snapshot, const PausePort& port,
                                            const PauseLane& lane) noexcept;

/// RoCE packets by the priority that they use (0..7) and by class.
struct PriorityUse {
  struct Row {
    std::uint64_t packets = 0;
    std::uint64_t guessed = 0;  ///< of them, those whose priority is only assumed as DSCP >> 3
    Sightings first;            ///< the first packet of each flow and marking; its count is not used
    std::vector<std::uint32_t> connections;  ///< ids of the first few
  };
  std::array<std::array<Row, traffic_class_count>, 8> rows;

  [[nodiscard]] const Row& of(std::uint8_t priority, TrafficClass traffic_class) const noexcept {
    return rows[priority & 7U][static_cast<std::size_t>(traffic_class)];
  }
  /// Bits of the priorities that any class uses.
  [[nodiscard]] std::uint8_t used() const noexcept;
  /// Bits of the priorities of what fills links: requests, READ responses and atomics. In a lossless fabric
  /// these must be lossless; ACKs, CM and CNPs often have queues of their own.
  [[nodiscard]] std::uint8_t used_by_data() const noexcept;
  /// Those of them that are only assumed as DSCP >> 3: devices may map these DSCPs elsewhere. A tag, a policy
  /// or an announced DSCP proves the priority, and so does DSCP 0, which is unmarked traffic everywhere.
  [[nodiscard]] std::uint8_t guessed_for_data() const noexcept;
};
/// Part of an explanation where everything depends on that assumption.
inline constexpr std::string_view guessed_priority_text =
    " This is valid if devices map a DSCP to the priority DSCP >> 3, a guess: no tag, policy or announcement "
    "shows the mapping (--policy specifies it).";
[[nodiscard]] constexpr bool fills_links(TrafficClass traffic_class) noexcept {
  return traffic_class == TrafficClass::data || traffic_class == TrafficClass::response ||
         traffic_class == TrafficClass::atomic;
}
[[nodiscard]] PriorityUse priority_use(const Snapshot& snapshot, const PriorityMap& map,
                                       PacketVersion version = PacketVersion::any);
/// The snapshot's map; without a policy, including the DSCPs for which ports announce a priority.
[[nodiscard]] PriorityMap announced_map(const Snapshot& snapshot);

/// Bits of the priorities that PFC frames paused, and of those that ports announce as lossless.
struct Lossless {
  std::uint8_t paused = 0;
  std::uint8_t announced = 0;
  bool global = false;   ///< PAUSE stops all of them
  bool any_pfc = false;  ///< some port announces PFC for at least one priority
  [[nodiscard]] std::uint8_t all() const noexcept { return global ? 0xff : paused | announced; }
};
/// Of all capture points, or of one. If one end of a link is willing, the peer's announcement applies (IEEE
/// 802.1Q, 38.4), unless the willing one goes on announcing its own.
[[nodiscard]] Lossless lossless_priorities(const Snapshot& snapshot,
                                           std::optional<std::uint16_t> point = std::nullopt);
/// Whether all capture points show the same priorities as lossless. If not, it is not known which of them
/// apply to the RoCE packets of another point.
[[nodiscard]] bool is_lossless_alike_everywhere(const Snapshot& snapshot);
/// Part of an explanation where they do not.
inline constexpr std::string_view other_point_text =
    " The capture points do not show the same priorities as lossless, and RoCE packets seen at one need not "
    "cross the links of another.";

}  // namespace roce::analyze

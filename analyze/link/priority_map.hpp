// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace roce::analyze {

/// Which of the eight priorities (IEEE 802.1Q, 6.9) a packet has. This is configured in the devices: a policy
/// or a DCBX announcement overrides the defaults here.
struct PriorityMap {
  enum class Trust : std::uint8_t {
    tag_then_dscp,  ///< by PCP; of untagged packets by DSCP
    dscp,           ///< by DSCP, even of tagged packets
    tag,            ///< by PCP; `untagged` without a tag
  };
  Trust trust = Trust::tag_then_dscp;
  std::uint8_t untagged = 0;  ///< default priority of the port, 0-7
  /// Priority by DSCP; by default the three class selector bits (RFC 2474, 4.2.2).
  std::array<std::uint8_t, 64> by_dscp = class_selectors();

  /// The priority of a packet, 0-7. `pcp` is absent without a tag.
  [[nodiscard]] constexpr std::uint8_t priority_of(std::uint8_t dscp,
                                                   std::optional<std::uint8_t> pcp) const noexcept {
    if (trust != Trust::dscp && pcp) return *pcp & 7U;
    return trust == Trust::tag ? untagged & 7U : by_dscp[dscp & 63U] & 7U;
  }

  [[nodiscard]] static constexpr std::array<std::uint8_t, 64> class_selectors() noexcept {
    std::array<std::uint8_t, 64> map{};
    for (std::size_t dscp = 0; dscp < map.size(); ++dscp) map[dscp] = static_cast<std::uint8_t>(dscp >> 3U);
    return map;
  }
};

}  // namespace roce::analyze

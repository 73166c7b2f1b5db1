// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/compare/compare.hpp"

// Internal to compare: packets of MRC that only the first point shows.
namespace roce::analyze {

/// A sender of MRC sends again what was lost, and nothing else proves it: the other point may see some of its
/// paths only, or its capture may have missed the packet. Bounded.
class SprayBook {
 public:
  struct Missing {
    LostPacket packet;  ///< sent_again once that is seen
    std::uint32_t flow = 0;
    std::uint32_t before = 0;  ///< the same PSN, missing before it: its place plus one; 0: none
  };

  /// A write at the first point that the other one does not show. False: there is no room.
  [[nodiscard]] bool miss(const LostPacket& packet, std::uint32_t flow);
  /// A write at the first point, in the order in which they pass it; call before miss() of the same one.
  void sent(std::uint32_t flow, std::uint32_t psn, std::uint64_t number, bool arrived);
  /// As they passed the first point.
  [[nodiscard]] std::vector<Missing>& missing() noexcept { return missing_; }

 private:
  static constexpr std::size_t most = std::size_t{1} << 17U;
  static constexpr unsigned psn_bits = 24;
  [[nodiscard]] static std::uint64_t key_of(std::uint32_t flow, std::uint32_t psn) noexcept {
    return std::uint64_t{flow} << psn_bits | psn;
  }

  std::vector<Missing> missing_;
  tsl::robin_map<std::uint64_t, std::uint32_t> open_;  ///< not repaired yet: the last one's place plus one
};

}  // namespace roce::analyze

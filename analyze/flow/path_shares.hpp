// SPDX-License-Identifier: Apache-2.0
// What of a flow went which way through the fabric.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/packet/verdict.hpp"

namespace roce::analyze {

/// What a fabric that balances load tells packets between two hosts apart by.
struct FlowPath {
  std::uint64_t source_mac = 0;  ///< 0 = none
  std::uint32_t flow_label = 0;  ///< of IPv6
  std::uint16_t udp_source = 0;
  bool has_port = false;

  [[nodiscard]] auto operator<=>(const FlowPath&) const noexcept = default;
};

/// Packets of a flow on one path.
struct PathShare {
  FlowPath path;
  bool others = false;  ///< packets of paths beyond the limit
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ce = 0;
  std::uint64_t late = 0;  ///< out of order
  // Known as long as the flow has one path: what is proven later may have been lost on any.
  LossCounts lost{};
  std::uint64_t retransmitted = 0;
};

/// The shares of a flow that changes its path; bounded. Empty while it has one path only: then they are the
/// counts of the flow.
class PathShares {
 public:
  static constexpr std::size_t limit = 256;

  [[nodiscard]] bool several() const noexcept { return !shares_.empty(); }
  /// The flow, of which so much was `counted`, leaves `path` for another.
  void leave(const FlowPath& path, const PathShare& counted);
  /// A late packet of `path`.
  void note_late(const FlowPath& path) { ++of(path).late; }
  /// When the capture has been judged.
  void read_losses_as(LossReading reading) noexcept;
  /// All shares of a flow that is on `path` and of which so much was counted.
  [[nodiscard]] std::vector<PathShare> all(const FlowPath& path, const PathShare& counted) const;

 private:
  PathShare& of(const FlowPath& path);

  std::vector<PathShare> shares_;
  PathShare before_;  ///< what was counted when the present path began
};

/// Packets with reserved bits of the BTH that are set (PacketRecord::reserved).
struct ReservedBits {
  std::uint16_t seen = 0;       ///< all bits that were set
  std::uint64_t packets_6 = 0;  ///< with one of byte 4
  std::uint64_t packets_7 = 0;  ///< with one of byte 8
  std::uint64_t late = 0;       ///< with any, out of order

  void add(std::uint16_t bits, std::uint64_t packets) noexcept {
    seen = static_cast<std::uint16_t>(seen | bits);
    if (bits >> 8U != 0) packets_6 += packets;
    if ((bits & 0xffU) != 0) packets_7 += packets;
  }
};

}  // namespace roce::analyze

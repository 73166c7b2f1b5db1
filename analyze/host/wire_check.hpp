// SPDX-License-Identifier: Apache-2.0
// Validates counters of a host against a capture of the same time, as Yu et al., "Understanding the
// Micro-Behaviors of Hardware Offloaded Network Stacks with Lumina" (SIGCOMM 2023), who found wrong counters
// in several NICs.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/host/difference.hpp"
#include "analyze/host/wire_counts.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

enum class WireVerdict : std::uint8_t {
  agrees,     ///< the counter equals the capture
  explained,  ///< it differs within what the capture cannot see, or because of how the driver counts
  differs,
};
[[nodiscard]] std::string_view wire_verdict_name(WireVerdict verdict) noexcept;

struct WireCheck {
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
  std::string place;  ///< "mlx5_0:1"
  std::string counter;
  std::string_view quantity;  ///< the figure it is compared with: "sequence NAKs sent"
  std::uint64_t host = 0;     ///< increment of the counter
  std::uint64_t wire = 0;     ///< the figure of the capture
  std::uint64_t low = 0,
                high = 0;  ///< allowed range of the counter; `high` may be `unlimited`
  WireVerdict verdict = WireVerdict::agrees;
  std::string why;  ///< reason for `explained` and `differs`
};

/// How the time of the capture relates to that of the snapshots.
enum class WireCover : std::uint8_t {
  whole,    ///< the whole capture is between the snapshots
  beyond,   ///< a part of the capture is outside
  apart,    ///< the whole capture is outside
  unknown,  ///< the capture has no timestamps
};

struct WireComparison {
  WireCover cover = WireCover::unknown;
  std::uint64_t ports = 0;         ///< ports of this host with traffic in the capture
  std::vector<std::string> notes;  ///< limitations of the comparison, one sentence each
  std::vector<WireCheck> checks;
  std::vector<HostFinding> findings;
};

/// `after` provides the host's addresses.
[[nodiscard]] WireComparison compare_with_wire(const capture::HostFacts& after,
                                               const HostDifference& difference, const Snapshot& snapshot);

}  // namespace roce::analyze

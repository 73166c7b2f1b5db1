// SPDX-License-Identifier: Apache-2.0
// Counters of a host against what a capture of the same time shows: the cross-check of Yu et al.,
// "Understanding the Micro-Behaviors of Hardware Offloaded Network Stacks with Lumina" (SIGCOMM 2023), which
// found counters of several NICs to be wrong.
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
  agrees,     ///< the counter says what was seen
  explained,  ///< it differs by what the capture cannot see, or by how the driver counts
  differs,
};
[[nodiscard]] std::string_view wire_verdict_name(WireVerdict verdict) noexcept;

struct WireCheck {
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
  std::string place;  ///< "mlx5_0:1"
  std::string counter;
  std::string_view quantity;  ///< what it is held against: "sequence NAKs sent"
  std::uint64_t host = 0;     ///< by what the counter moved
  std::uint64_t wire = 0;     ///< what the capture shows
  std::uint64_t low = 0,
                high = 0;  ///< what the counter may be; `high` unlimited where the capture cannot tell
  WireVerdict verdict = WireVerdict::agrees;
  std::string why;  ///< of explained and differs
};

/// How well times and traffic of capture and counters fit together.
enum class WireCover : std::uint8_t {
  whole,    ///< all of the capture lies between the snapshots
  beyond,   ///< a part of the capture lies outside
  apart,    ///< all of it
  unknown,  ///< the capture carries no times
};

struct WireComparison {
  WireCover cover = WireCover::unknown;
  std::uint64_t ports = 0;         ///< of this host that the capture shows traffic of
  std::vector<std::string> notes;  ///< what limits the comparison, a sentence each
  std::vector<WireCheck> checks;
  std::vector<HostFinding> findings;
};

/// `after` says which addresses are the host's.
[[nodiscard]] WireComparison compare_with_wire(const capture::HostFacts& after,
                                               const HostDifference& difference, const Snapshot& snapshot);

}  // namespace roce::analyze

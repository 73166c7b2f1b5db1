// SPDX-License-Identifier: Apache-2.0
#include "analyze/snapshot.hpp"

#include <algorithm>
#include <limits>

namespace roce::analyze {

std::optional<std::uint64_t> Snapshot::dropped() const noexcept {
  std::optional<std::uint64_t> sum;
  for (const capture::InterfaceInfo& interface : interfaces) {
    // What packets say of drops before them matters only where no statistics block says more.
    std::optional<std::uint64_t> told_by_packets;
    if (!interface.dropped_by_interface && !interface.dropped_by_kernel &&
        interface.dropped_before_packets != 0) {
      told_by_packets = interface.dropped_before_packets;
    }
    for (const auto& part : {interface.dropped_by_interface, interface.dropped_by_kernel, told_by_packets}) {
      if (!part) continue;
      const std::uint64_t before = sum.value_or(0);
      sum = before + *part < before ? std::numeric_limits<std::uint64_t>::max() : before + *part;
    }
  }
  if (skipped_packets != 0) {
    const std::uint64_t before = sum.value_or(0);
    sum = before + std::min(skipped_packets, std::numeric_limits<std::uint64_t>::max() - before);
  }
  return sum;
}

}  // namespace roce::analyze

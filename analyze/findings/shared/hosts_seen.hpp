// SPDX-License-Identifier: Apache-2.0
// What the capture shows of each host, over all connections.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analyze/results/snapshot.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

struct HostSeen {
  std::optional<std::int64_t> last_time_ns;            ///< of its last RoCE packet, ns since the epoch
  std::uint64_t last_flow = 0;                         ///< id of the flow of that packet
  std::optional<std::int64_t> last_time_of_others_ns;  ///< of the last packet of any other flow
  bool v1 = false;                                     ///< it sent RoCE v1
  bool v2 = false;
};

/// Every address that sent a RoCE packet of any kind.
using HostsSeen = std::map<dissect::IpAddress, HostSeen>;
[[nodiscard]] HostsSeen hosts_seen(const Snapshot& snapshot);

/// Time of the last packet that a host sent in any other flow, if known.
[[nodiscard]] std::optional<std::int64_t> last_time_without(const HostSeen& host,
                                                            std::optional<std::uint64_t> flow) noexcept;

[[nodiscard]] constexpr bool is_v2(dissect::Transport transport) noexcept {
  return transport == dissect::Transport::roce_v2_ipv4 || transport == dissect::Transport::roce_v2_ipv6;
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// What the capture shows of hosts, whatever the connection.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analyze/results/snapshot.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

struct HostSeen {
  std::optional<std::int64_t> last_time_ns;            ///< of its last RoCE packet
  std::uint64_t last_flow = 0;                         ///< whose packet that was
  std::optional<std::int64_t> last_time_of_others_ns;  ///< of the last packet of any other flow
  bool v1 = false;                                     ///< it sent RoCE v1
  bool v2 = false;
};

/// Every address that sent a RoCE packet of any kind.
using HostsSeen = std::map<dissect::IpAddress, HostSeen>;
[[nodiscard]] HostsSeen hosts_seen(const Snapshot& snapshot);

/// The last packet that a host sent in any flow but this one, if it had a time.
[[nodiscard]] std::optional<std::int64_t> last_time_without(const HostSeen& host,
                                                            std::optional<std::uint64_t> flow) noexcept;

[[nodiscard]] constexpr bool is_v2(dissect::Transport transport) noexcept {
  return transport == dissect::Transport::roce_v2_ipv4 || transport == dissect::Transport::roce_v2_ipv6;
}

}  // namespace roce::analyze

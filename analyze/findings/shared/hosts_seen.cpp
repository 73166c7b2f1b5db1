// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/hosts_seen.hpp"

#include <algorithm>

namespace roce::analyze {

HostsSeen hosts_seen(const Snapshot& snapshot) {
  HostsSeen hosts;
  for (const Flow& flow : snapshot.flows) {
    HostSeen& host = hosts[flow.key.src];
    host.v1 |= flow.key.transport == dissect::Transport::roce_v1;
    host.v2 |= is_v2(flow.key.transport);
    if (!flow.any_time) continue;
    if (!host.last_time_ns || flow.last_time_ns > *host.last_time_ns) {
      host.last_time_of_others_ns = host.last_time_ns;
      host.last_time_ns = flow.last_time_ns;
      host.last_flow = flow.id;
    } else {
      host.last_time_of_others_ns =
          std::max(host.last_time_of_others_ns.value_or(flow.last_time_ns), flow.last_time_ns);
    }
  }
  return hosts;
}

std::optional<std::int64_t> last_time_without(const HostSeen& host,
                                              std::optional<std::uint64_t> flow) noexcept {
  return flow && *flow == host.last_flow ? host.last_time_of_others_ns : host.last_time_ns;
}

}  // namespace roce::analyze

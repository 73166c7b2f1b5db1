// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/hosts.hpp"

#include <algorithm>

namespace roce::analyze {

HostsSeen hosts_seen(const Snapshot& snapshot) {
  HostsSeen hosts;
  for (const Flow& flow : snapshot.flows) {
    HostSeen& host = hosts[flow.key.src];
    host.v1 |= flow.key.transport == dissect::Transport::roce_v1;
    host.v2 |= is_v2(flow.key.transport);
    if (flow.any_time)
      host.last_time_ns = std::max(host.last_time_ns.value_or(flow.last_time_ns), flow.last_time_ns);
  }
  return hosts;
}

}  // namespace roce::analyze

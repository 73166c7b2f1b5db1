// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/tunnels.hpp"
#include "dissect/dissect.hpp"

namespace roce::analyze {
namespace {

std::string inner_dscps(const TunnelCase& each) {
  return each.inner.size() == 1 ? fmt::format("DSCP {}", *each.inner.begin())
                                : fmt::format("DSCPs {}", fmt::join(each.inner, ", "));
}

}  // namespace

void find_tunnel_marking(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<TunnelCase> cases;
  const std::vector<TunnelWay> ways = tunnel_ways(snapshot);
  for (const TunnelWay& way : ways) {
    TunnelCase found;
    found.way = &way;
    bool tagged = false;
    found.test = "roce.dscp != 0 && roce.outer.dscp == 0";
    for (const auto& [flow, row] : way.rows) {
      if (row->inner_dscp() == 0) continue;
      found.of += row->packets;
      tagged = tagged || row->outer.pcp;
      if (best_effort(row->outer)) found.add(*flow, *row);
    }
    if (tagged) found.test += " && !(roce.outer.pcp > 0)";
    if (found.proof.count != 0) cases.push_back(std::move(found));
  }
  report_tunnels(sink, snapshot, cases, [](const TunnelCase& each) {
    return Words{
        Severity::warning,
        fmt::format("RoCE with {} travels in outer DSCP 0 (best effort) from tunnel end {}: {}. The fabric "
                    "queues by the outer header, so between these two it is neither lossless nor in the "
                    "queue whose ECN thresholds are set for RoCE.",
                    inner_dscps(each), each.ends(), share_text(each.proof.count, each.of)),
        fmt::format(
            "On {}, which encapsulates: copy the DSCP into the outer header (the uniform model of RFC 2983; "
            "Linux: tos inherit of ip link add type {}, Open vSwitch: options:tos=inherit, switches: the "
            "uniform QoS mode of the VTEP), or set the outer DSCP to that of the RoCE queue.",
            address_text(each.way->from),
            each.way->tunnel == dissect::Tunnel::ip_in_ip ? "ipip" : dissect::tunnel_name(each.way->tunnel)),
    };
  });
}

}  // namespace roce::analyze

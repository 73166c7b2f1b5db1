// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/congestion_cases.hpp"

namespace roce::analyze {

void find_cnp_without_ce(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    if (!connection.congestion[side].there() || connection.packets[side] == 0) return;
    const CongestionSide& congested = *connection.congestion[side];
    // A single one at the beginning answers packets from before the capture.
    if (congested.cnps_without_ce < 2 || congested.left_out != 0) return;
    // The CE marks were set between this point and another one, which shows them.
    if (connection.flow[side] && ce_copies(snapshot, *connection.flow[side]) != 0) return;
    Case& each = cases.emplace_back();
    each.connection = &connection;
    each.side = side;
    each.of = congested.cnps;
    each.proof.add(connection.sent[1 - side].find(Event::cnp));
    each.confidence = confidence_in(snapshot, connection);
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const std::uint64_t without =
        group.sum([](const Case& c) { return (*c.connection->congestion[c.side]).cnps_without_ce; });
    return Words{
        Severity::info,
        fmt::format("{}{} to {} came without a packet marked CE before {}. That is normal if the capture "
                    "point is upstream of the congested switch, which sets the CE marks. If the capture "
                    "point is at {}, its NIC sends CNPs for another reason (packets out of order, its own "
                    "buffers).{}",
                    scope_text(group), share_text(without, group.of, "CNPs"), from_text(group),
                    verb(without, "it", "them"), to_text(group), worst_text(group)),
        fmt::format("Capture closer to {} to see the CE marks; compare np_ecn_marked_roce_packets with "
                    "np_cnp_sent there (/sys/class/infiniband/DEV/ports/1/hw_counters). {}",
                    to_text(group), show_command(snapshot, group, "The CNPs", shown_by_cnps())),
    };
  });
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/congested.hpp"

namespace roce::analyze {

void find_ce_without_cnp(const Snapshot& snapshot, FindingSink& sink) {
  // A few marks at the end of a capture have no CNP yet.
  constexpr std::uint64_t enough = 3;
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    if (!connection.congestion[side].there()) return;
    const CongestionSide& congested = *connection.congestion[side];
    if (congested.ce < enough || congested.cnps != 0 || congested.left_out != 0) return;
    // Nothing of the other direction: CNPs would not have been captured either.
    if (connection.packets[1 - side] == 0) return;
    add_case(snapshot, cases, connection, {side, side, Event::ce_marked, all_packets(connection, side)});
  });
  const std::uint64_t others = snapshot.congestion.cnp_packets;
  // Whoever sends CNPs may send them another way than the acknowledgements.
  for (Case& each : cases) each.confidence *= others == 0 ? 0.7 : 0.9;
  report_cases(sink, std::move(cases), [&](const Group& group) {
    return Words{
        Severity::warning,
        fmt::format("{}{} sent by {} {} marked CE by the network, and {} returned no CNP for any of them{}. "
                    "So the sender is never told to slow down: queues grow until PFC or loss stops it. CNPs "
                    "that take another way than the acknowledgements would not be seen at this capture "
                    "point.{}",
                    scope_text(group), share_text(group.count(), group.of), from_text(group),
                    verb(group.count(), "was", "were"), to_text(group),
                    others != 0 ? fmt::format(" (there are {} in the capture)", plural(others, "CNP", "CNPs"))
                                : std::string(),
                    worst_text(group)),
        fmt::format(
            "On {}: cat /sys/class/net/DEV/ecn/roce_np/enable/* (must be 1 for the priority), mlnx_qos "
            "-i DEV, and the counters np_ecn_marked_roce_packets and np_cnp_sent in "
            "/sys/class/infiniband/DEV/ports/1/hw_counters. Linux Soft-RoCE has no congestion control. "
            "{}",
            to_text(group), show_command(snapshot, group, "The packets", shown_by_ce())),
    };
  });
}

}  // namespace roce::analyze

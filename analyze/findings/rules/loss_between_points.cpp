// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/findings/shared/loss_cases.hpp"

namespace roce::analyze {

void find_loss_between_points(const Snapshot& snapshot, FindingSink& sink) {
  report_cases(sink, loss_cases(snapshot, Event::lost_between_points), [&](const Group& group) {
    const std::string from = from_text(group), to = to_text(group);
    const bool uc = std::any_of(group.cases.begin(), group.cases.end(),
                                [](const Case& c) { return c.connection->service == dissect::Service::uc; });
    return Words{
        loss_severity(group),
        fmt::format(
            "{}{} sent by {} to {} were seen at one capture point and never at the next one on the path, "
            "which did see the packets before and after them. The loss is between the two.{}{}{}",
            scope_text(group), share_text(group.count(), group.of), from, to,
            uc ? " UC packets are neither acknowledged nor sent again: those that the capture at the next "
                 "point "
                 "may have missed are among them."
               : "",
            repair_text(snapshot, group), worst_text(group)),
        fmt::format(
            "Check everything between the two capture points: drops of the RoCE queue on each port (ethtool "
            "-S DEV, tc -s qdisc show dev DEV, the switch's own counters), PFC counters, CRC and FEC errors "
            "of the links. {}",
            show_command(snapshot, group, "The packets that were lost there",
                         shown_by_flag("roce.analysis.lost_between_points", Event::lost_between_points))),
    };
  });
}

}  // namespace roce::analyze

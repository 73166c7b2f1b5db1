// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/incident_counts.hpp"
#include "analyze/findings/shared/loss_cases.hpp"

namespace roce::analyze {

void find_loss_before_capture(const Snapshot& snapshot, FindingSink& sink) {
  report_cases(sink, loss_cases(snapshot, Event::lost_before_capture), [&](const Group& group) {
    const std::string from = from_text(group);
    const std::string incidents =
        incidents_text(snapshot, group, true, [](const Incident& each) { return each.lost_before != 0; });
    return Words{
        loss_severity(group),
        fmt::format("{}{} sent by {} never reached the capture point; {} missed and retransmitted. The loss "
                    "is between {} and the capture point, or inside {}.{}{}{}",
                    scope_text(group), share_text(group.count(), group.of), from,
                    verb(group.count(), "it was", "they were"), from, from,
                    losses_in_text(group.count(), incidents), repair_text(snapshot, group),
                    worst_text(group)),
        fmt::format(
            "On {}: ethtool -S DEV | grep -iE 'drop|discard|pause|prio'; tc -s qdisc show dev DEV. On each "
            "switch from there to the capture point: drops of the RoCE queue, PFC counters. Check that PFC "
            "is enabled for the RoCE priority at both ends of each link: mlnx_qos -i DEV (or dcb pfc show "
            "dev DEV). {}",
            from,
            show_losses(snapshot, group,
                        shown_by_flag("roce.analysis.lost == before_capture", Event::lost_before_capture),
                        Event::lost_before_capture)),
    };
  });
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/loss.hpp"

namespace roce::analyze {

void find_loss_after_capture(const Snapshot& snapshot, FindingSink& sink) {
  report_cases(sink, loss_cases(snapshot, Event::lost_after_capture), [&](const Group& group) {
    const std::string to = to_text(group);
    return Words{
        severity_of(group.count(), group.of, loss_scale),
        fmt::format("{}{} sent by {} passed the capture point but never came to {}, which asked for them "
                    "again. The loss is between the capture point and {}, or inside {}. Of packets repeated "
                    "together with a lost one it cannot be told here whether they arrived.{}{}",
                    scope_text(group), share_text(group.count(), group.of), from_text(group), to, to, to,
                    repair_text(snapshot, group), worst_text(group)),
        fmt::format(
            "On {}: ethtool -S DEV | grep -iE 'drop|discard|out_of_buffer|crc|prio'; rdma statistic show "
            "(out_of_sequence counts these losses; rx_icrc_encapsulated means corruption). On each switch "
            "from the capture point to there: drops of the RoCE queue, PFC counters. Is PFC on for the RoCE "
            "priority: mlnx_qos -i DEV (or dcb pfc show dev DEV). The packets: {}",
            to, packets_command(group, "roce.analysis.lost == after_capture")),
    };
  });
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/common.hpp"

namespace roce::analyze {

void find_retransmission_marking(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    add_case(snapshot, cases, connection,
             {side, side, Event::repeat_marked_otherwise, repeats_of(connection.sent[side])});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    return Words{
        Severity::warning,
        fmt::format("{}{} that {} sent again {} another DSCP, VLAN or priority than its flow began with: the "
                    "repeat takes another queue than the loss that it repairs.{}",
                    scope_text(group), share_text(group.count(), group.of), from_text(group),
                    verb(group.count(), "has", "have"), worst_text(group)),
        fmt::format("Capture at {} itself: if it sends them so, see the NIC's firmware and its traffic class "
                    "settings (a traffic_class file changed while it ran?); if not, a policer on the way "
                    "re-marks what exceeds its rate. {}",
                    from_text(group), show_command(snapshot, group, "All repeats", shown_by_repeats())),
    };
  });
}

}  // namespace roce::analyze

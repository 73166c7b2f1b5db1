// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

void find_zero_credits(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    add_case(snapshot, cases, connection,
             {side, 1 - side, Event::zero_credits, all_acks(connection.requester[side])});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    return Words{
        Severity::notice,
        fmt::format(
            "{}{} by {} {} no credit: it had no receive posted at that moment, and {} may have only one "
            "outstanding request that consumes a receive (SEND, WRITE with immediate). Other WRITEs, READs "
            "and atomics are not limited by that.{}",
            scope_text(group), share_text(group.count(), group.of, "acknowledgements"), to_text(group),
            verb(group.count(), "grants", "grant"), from_text(group), worst_text(group)),
        fmt::format(
            "If throughput is low, post more receives on {}, earlier. If this continues, RNR NAKs (finding "
            "rnr) follow. {}",
            to_text(group),
            show_command(snapshot, group, "The packets",
                         shown_by_answers("roce.credits == 0 && !(roce.operation matches \"^RDMA READ\")",
                                          Event::zero_credits))),
    };
  });
}

}  // namespace roce::analyze

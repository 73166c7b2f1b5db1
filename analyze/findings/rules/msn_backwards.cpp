// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

void find_msn_backwards(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    // `from` is the responder: it counts the MSN.
    if (!add_case(snapshot, cases, connection,
                  {side, side, Event::msn_backwards, all_acks(connection.requester[1 - side])}))
      return;
    if (connection.sent[side].count(Event::out_of_order) != 0) cases.back().confidence *= 0.5;
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    constexpr std::uint64_t enough = 3;
    return Words{
        group.count() < enough ? Severity::notice : Severity::warning,
        fmt::format("{}{} by {} {} a lower message sequence number (MSN) than an earlier one, although the "
                    "PSN advanced: the responder counted fewer completed messages than before.{}",
                    scope_text(group), share_text(group.count(), group.of, "answers"), from_text(group),
                    verb(group.count(), "carries", "carry"), worst_text(group)),
        fmt::format("Suspect QP reuse (a queue pair destroyed and created again with the same number: rdma "
                    "resource show qp), answers that arrive out of order, or a firmware defect of the "
                    "responder (ethtool -i DEV on {}). {}",
                    from_text(group),
                    show_command(snapshot, group, "The answers",
                                 shown_by_flag("roce.analysis.msn_backwards", Event::msn_backwards))),
    };
  });
}

}  // namespace roce::analyze

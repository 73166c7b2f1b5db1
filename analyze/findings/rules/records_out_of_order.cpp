// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

void find_records_out_of_order(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    // Timestamps of several CPUs are slightly out of order now and then.
    const std::uint64_t packets = connection.packets[0] + connection.packets[1];
    const std::uint64_t backwards =
        connection.sent[0].count(Event::time_backwards) + connection.sent[1].count(Event::time_backwards);
    if (backwards * 1000 <= packets) return;
    if (!add_case(snapshot, cases, connection,
                  {side, side, Event::time_backwards, connection.packets[side]})) {
      return;
    }
    cases.back().confidence = 1;  // this itself is certain, unlike what follows from it
  });
  report_at_once(sink, std::move(cases), [&](const Group& group) {
    constexpr Scale scale{.warning_from = 0, .warning_at_least = 3};
    return Words{
        severity_of(group.count(), group.of, scale),
        fmt::format("{}{} have an earlier timestamp than the packet of their connection before them in the "
                    "capture. Their order is uncertain, and so is what was lost, late or retransmitted: "
                    "other findings on these connections have a lower confidence.",
                    scope_text(group), share_text(group.count(), group.of)),
        fmt::format("If the timestamps are right, sort the file (reordercap IN OUT) and analyse that. If the "
                    "clock was set back while capturing, analyse only the time after that (--from). Captures "
                    "of several queues or interfaces: let one program write them in time order (dumpcap), "
                    "and merge files with mergecap, not with cat. {}",
                    show_command(snapshot, group, "The packets",
                                 shown_by_flag("roce.analysis.time_backwards", Event::time_backwards))),
    };
  });
}

}  // namespace roce::analyze

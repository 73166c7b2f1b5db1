// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "analyze/findings/shared/loss_cases.hpp"

namespace roce::analyze {

void find_loss_by_capture(const Snapshot& snapshot, FindingSink& sink) {
  // About the capture, not the network: a warning only if its figures are misleading.
  constexpr Scale scale{.warning_from = 0.01, .warning_at_least = 10};
  // Answers show which requests are missing, and later responses which responses are.
  Shown shown = shown_by_flag("roce.analysis.lost == by_capture", Event::lost_by_capture, Shown::By::either);
  shown.whose = "roce.analysis.lost.direction";
  std::vector<Case> cases = loss_cases(snapshot, Event::lost_by_capture);
  // The first line of the report has them.
  std::erase_if(cases, [&](const Case& each) {
    const EventLog* const log = each.sent().find(Event::lost_by_capture);
    return log != nullptr && snapshot.completeness.explains_missing(log->frames[0]) &&
           snapshot.completeness.explains_missing(log->last_frame);
  });
  // The capture is one, whoever sent what it lacks.
  report_at_once(sink, std::move(cases), [&](const Group& group) {
    return Words{
        severity_of(group.count(), group.of, scale),
        fmt::format("{}{} sent by {} {} without a retransmission: the capture itself dropped {}. Nothing is "
                    "wrong with the network here; the figures of these connections are too low by that "
                    "much.{}",
                    scope_text(group), share_text(group.count(), group.of), from_text(group),
                    verb(group.count(), "is not in the capture, but was acknowledged",
                         "are not in the capture, but were acknowledged"),
                    verb(group.count(), "it", "them"), worst_text(group)),
        fmt::format("Capture with a larger buffer (dumpcap -B 512, tcpdump -B 524288), truncate packets (-s "
                    "128), filter (udp port 4791), write to a fast disk; at a mirror port: does the mirrored "
                    "traffic exceed the bandwidth of the port? {}",
                    show_losses(snapshot, group, shown, Event::lost_by_capture)),
    };
  });
}

}  // namespace roce::analyze

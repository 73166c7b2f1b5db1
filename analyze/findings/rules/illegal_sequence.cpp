// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

void find_illegal_sequence(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    if (!add_case(snapshot, cases, connection,
                  {side, side, Event::illegal_sequence, all_packets(connection, side)}))
      return;
    // Corrupted packets explain it, and so do packets that were not captured.
    const Events& sent = connection.sent[side];
    if (sent.count(Event::icrc_mismatch) != 0 || sent.count(Event::lost_by_capture) != 0)
      cases.back().confidence *= 0.5;
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    // One or two may come from gaps in the capture, unless the responder refused them.
    const std::uint64_t refused =
        group.sum([](const Case& c) { return c.answered().count(Event::nak_invalid_request); });
    return Words{
        group.count() <= 2 && refused == 0 ? Severity::notice : Severity::warning,
        fmt::format("{}{} sent by {} {} an opcode that may not follow the one before it (a Middle or Last "
                    "without a First, a First inside a message), although the PSNs are consecutive. The "
                    "responder answers with NAK invalid request or drops them.{}",
                    scope_text(group), share_text(group.count(), group.of), from_text(group),
                    verb(group.count(), "carries", "carry"), worst_text(group)),
        fmt::format(
            "Suspect a driver or firmware defect of {} (ethtool -i DEV, release notes), two queue pairs with "
            "the same number behind one address, or a traffic generator. Look at the packet before each of "
            "them. {}",
            from_text(group),
            show_command(snapshot, group, "The packets",
                         shown_by_flag("roce.analysis.illegal_sequence", Event::illegal_sequence))),
    };
  });
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/common.hpp"

namespace roce::analyze {

void find_uc_message_loss(const Snapshot& snapshot, FindingSink& sink) {
  constexpr Scale scale{.warning_from = 0, .error_from = 0.01, .error_at_least = 10};
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    std::uint64_t messages = connection.sent[side].count(Event::uc_message_lost);
    for (const OperationStats& operation : connection.requester[side].operations) messages += operation.count;
    // Of a part of the packets it is not known of how many messages they are.
    if (connection.left_out[side] != 0) messages = 0;
    add_case(snapshot, cases, connection, {side, side, Event::uc_message_lost, messages});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const bool missing =
        group.sum([](const Case& c) { return c.sent().count(Event::lost_before_capture); }) != 0;
    const bool late = group.sum([](const Case& c) { return c.sent().count(Event::out_of_order); }) != 0;
    // What came late leaves no hole, but its receiver did not wait for it.
    const std::string_view why = !late ? "packets are missing before the capture point, or in the capture"
                                 : missing
                                     ? "packets are missing before the capture point, or in the capture, "
                                       "or came out of order"
                                     : "packets came out of order, which a UC receiver does not bear";
    return Words{
        group.of == 0 ? Severity::warning : severity_of(group.count(), group.of, scale),
        fmt::format("{}At least {} sent by {} over UC {} incomplete: {}. UC repeats nothing: the receiver "
                    "throws the rest of such a message away, and nobody is told.{}",
                    scope_text(group), share_text(group.count(), group.of, "messages"), from_text(group),
                    verb(group.count(), "is", "are"), why, worst_text(group)),
        fmt::format("Find the drops between {} and the capture point (ethtool -S DEV | grep -iE "
                    "'drop|discard', switch queue counters). If the capture dropped packets (capture_drops), "
                    "capture again first. What must arrive belongs on RC. {}",
                    from_text(group),
                    show_command(snapshot, group, "All packets behind holes",
                                 shown_by_flag("roce.analysis.gap", Event::uc_message_lost))),
    };
  });
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

namespace {

std::string cause_text(std::uint64_t missing, std::uint64_t late) {
  const std::string came_late =
      fmt::format("{} came late, which a UC receiver does not wait for", packets_text(late));
  if (missing == 0 && late != 0) return "no packet is missing, but " + came_late;
  std::string text = missing == 0 ? std::string("packets are")
                                  : fmt::format("{} {}", packets_text(missing), verb(missing, "is", "are"));
  text += " missing (lost upstream of the capture point or not captured)";
  return late == 0 ? text : text + ", and " + came_late;
}

std::string remedy_text(const Group& group, std::uint64_t missing, std::uint64_t late) {
  std::string text;
  if (missing != 0 || late == 0) {
    text = fmt::format(
        "Find the drops between {} and the capture point (ethtool -S DEV | grep -iE 'drop|discard', switch "
        "queue counters). If the capture dropped packets (capture_drops), capture again first. ",
        from_text(group));
  }
  if (late != 0) {
    text +=
        "Find where packets are reordered (finding reordering): packet spraying, adaptive routing or a LAG "
        "that hashes per packet must be off for UC. ";
  }
  return text;
}

}  // namespace

void find_uc_message_loss(const Snapshot& snapshot, FindingSink& sink) {
  constexpr Scale scale{.warning_from = 0, .error_from = 0.01, .error_at_least = 10};
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    std::uint64_t messages = connection.sent[side].count(Event::uc_message_lost);
    for (const OperationStats& operation : connection.requester[side].operations) messages += operation.count;
    // With only a part of the packets the number of messages is not known.
    if (connection.left_out[side] != 0) messages = 0;
    add_case(snapshot, cases, connection, {side, side, Event::uc_message_lost, messages});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    // Gaps that were never filled. Late packets leave none, but the receiver did not wait for them.
    const std::uint64_t missing =
        group.sum([](const Case& c) { return c.sent().count(Event::lost_before_capture); });
    const std::uint64_t late = group.sum([](const Case& c) { return c.sent().count(Event::out_of_order); });
    return Words{
        group.of == 0 ? Severity::warning : severity_of(group.count(), group.of, scale),
        fmt::format("{}At least {} sent by {} over UC {} incomplete: {}. UC does not retransmit: the "
                    "receiver discards the rest of such a message, and neither side is notified.{}",
                    scope_text(group), share_text(group.count(), group.of, "messages"), from_text(group),
                    verb(group.count(), "is", "are"), cause_text(missing, late), worst_text(group)),
        fmt::format("{}Use RC for data that must arrive. {}", remedy_text(group, missing, late),
                    show_command(snapshot, group, "All packets after gaps",
                                 shown_by_flag("roce.analysis.gap", Event::uc_message_lost))),
    };
  });
}

}  // namespace roce::analyze

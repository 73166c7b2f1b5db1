// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {
namespace {

/// What copies do to their receivers. Over UC a First or Only of any PSN starts a new message, as in rxe's
/// check_psn().
std::string effect_text(const Group& group) {
  const auto unreliable = [](const Case& c) { return c.connection->service == dissect::Service::uc; };
  const bool any = std::any_of(group.cases.begin(), group.cases.end(), unreliable);
  const bool all = std::all_of(group.cases.begin(), group.cases.end(), unreliable);
  std::string text;
  if (!all) {
    text =
        " The receiver discards such copies, but they use bandwidth, and those of requests are acknowledged "
        "again.";
  }
  if (any) {
    text += fmt::format(
        " {}: the copy of an Only or First starts a new message, and a message with a duplicated Middle is "
        "dropped.",
        all ? "Over UC the receiver does not recognise them" : "UC receivers do not recognise them");
  }
  return text;
}

/// Who made the copy. A requester that goes back to the packet that it has just sent sends the same once
/// more.
std::string_view maker_text(const Group& group) {
  const bool ids = std::all_of(group.cases.begin(), group.cases.end(), [](const Case& c) {
    return c.connection->transport == dissect::Transport::roce_v2_ipv4;
  });
  return ids ? " that the network delivered twice"
             : ", delivered twice by the network or sent twice: no IPv4 ID tells";
}

}  // namespace

void find_duplicates_network(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    add_case(snapshot, cases, connection,
             {side, side, Event::duplicate_network, all_packets(connection, side)});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    constexpr Scale scale{.warning_from = 0.01, .warning_at_least = 10};
    return Words{
        severity_of(group.count(), group.of, scale),
        fmt::format("{}{} sent by {} {} of a transmission{}.{}{}", scope_text(group),
                    share_text(group.count(), group.of), from_text(group),
                    verb(group.count(), "is a second copy", "are second copies"), maker_text(group),
                    effect_text(group), worst_text(group)),
        fmt::format("Look for a loop or flooding on the path: bridge fdb show; spanning tree and MAC moves "
                    "in the switch log; a bond in broadcast mode (cat /proc/net/bonding/BOND), a VTEP or "
                    "multicast group that replicates. If the capture itself sees the port twice (two mirror "
                    "sessions), nothing is wrong. {}",
                    show_command(snapshot, group, "The packets",
                                 shown_by_flag("roce.analysis.duplicate_network", Event::duplicate_network))),
    };
  });
}

}  // namespace roce::analyze

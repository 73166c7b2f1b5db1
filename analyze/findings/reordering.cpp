// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/common.hpp"

namespace roce::analyze {
namespace {

std::uint64_t naks_of(const Case& c) {
  return c.answered().count(Event::nak_sequence_error);
}
std::uint64_t losses_of(const Case& c) {
  return c.sent().count(Event::lost_before_capture) + c.sent().count(Event::lost_after_capture);
}

}  // namespace

void find_reordering(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    add_case(snapshot, cases, connection, {side, side, Event::out_of_order, connection.packets[side]});
  });
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const std::uint64_t naks = group.sum(naks_of);
    const std::uint64_t losses = group.sum(losses_of);
    // More NAKs than losses: lateness alone is taken for loss.
    const bool costly = naks >= 3 && naks > 2 * losses;
    const bool often = 100 * group.count() >= group.of;
    std::string text =
        fmt::format("{}{} sent by {} came late, overtaken by later ones, without having been sent twice.",
                    scope_text(group), share_text(group.count(), group.of), from_text(group));
    if (costly) {
      text += fmt::format(
          " {} does not bear it: {} for {} lost, so it takes late packets for lost ones and makes the sender "
          "repeat.",
          to_text(group), plural(naks, "sequence NAK", "sequence NAKs"), packets_text(losses));
    } else {
      text += " Nothing was repeated for it: the receiver puts them in order, as with adaptive routing.";
    }
    return Words{
        costly ? Severity::warning : (often ? Severity::notice : Severity::info),
        text + goodput_text(group) + worst_text(group),
        costly
            ? fmt::format("Packets of one queue pair take several paths: packet spraying or adaptive routing "
                          "towards a NIC that cannot place out of order, a LAG that hashes per packet, or a "
                          "queue that differs by DSCP within one connection. Turn it off for this traffic, "
                          "or turn out-of-order placement on at both ends (mlx5: RoCE adaptive routing; "
                          "mlxconfig -d DEV q | grep -iE 'ADAPTIVE|OOO'). The packets: {}",
                          packets_command(group, "roce.analysis.out_of_order"))
            : fmt::format("Expected with adaptive routing or packet spraying; nothing to do. If neither is "
                          "on, look for a LAG that hashes per packet. The packets: {}",
                          packets_command(group, "roce.analysis.out_of_order")),
    };
  });
}

}  // namespace roce::analyze

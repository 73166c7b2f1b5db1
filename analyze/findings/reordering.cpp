// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/findings/loss.hpp"

namespace roce::analyze {
void find_reordering(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    add_case(snapshot, cases, connection, {side, side, Event::out_of_order, all_packets(connection, side)});
  });
  const Shown shown = shown_by_flag("roce.analysis.out_of_order", Event::out_of_order);
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const bool by_naks = std::any_of(group.cases.begin(), group.cases.end(), [](const Case& c) {
      return late_taken_for_lost(c.sent(), c.answered());
    });
    const bool by_reads = std::any_of(group.cases.begin(), group.cases.end(), [](const Case& c) {
      return late_responses_taken_for_lost(*c.connection, c.side);
    });
    const bool costly = by_naks || by_reads;
    const std::uint64_t naks =
        group.sum([](const Case& c) { return c.answered().count(Event::nak_sequence_error); });
    const std::uint64_t reads =
        group.sum([](const Case& c) { return reads_asked_again(c.connection->requester[1 - c.side]); });
    const std::uint64_t losses = group.sum([](const Case& c) { return losses_of(c.sent()); });
    const std::uint64_t repeats = group.sum([](const Case& c) { return repeats_of(c.sent()); });
    const bool often = 100 * group.count() >= group.of;
    std::string text =
        fmt::format("{}{} sent by {} came late, overtaken by later ones, without having been sent twice.",
                    scope_text(group), share_text(group.count(), group.of), from_text(group));
    if (costly) {
      text += fmt::format(
          " {} does not bear it: {} for {}, so it takes late packets for lost ones and makes the sender "
          "repeat.",
          to_text(group),
          by_naks ? plural(naks, "sequence NAK", "sequence NAKs")
                  : plural(reads, "READ asked again", "READs asked again"),
          losses == 0 ? std::string("no packet lost") : packets_text(losses) + " lost");
    } else if (repeats == 0) {
      text += " Nothing was repeated for it: the receiver puts them in order, as with adaptive routing.";
    } else {
      text += fmt::format(" {} sent again, {}: whether for want of late ones cannot be told.",
                          packets_text(repeats), repeats_text(group));
    }
    return Words{
        costly ? Severity::warning : (often ? Severity::notice : Severity::info),
        text + goodput_text(group) + worst_text(group),
        costly
            ? fmt::format("Packets of one queue pair take several paths: packet spraying or adaptive routing "
                          "towards a NIC that cannot place out of order, a LAG that hashes per packet, or a "
                          "queue that differs by DSCP within one connection. Turn it off for this traffic, "
                          "or turn out-of-order placement on at both ends (mlx5: RoCE adaptive routing; "
                          "mlxconfig -d DEV q | grep -iE 'ADAPTIVE|OOO'). {}",
                          show_command(snapshot, group, "The packets", shown))
            : fmt::format("Expected with adaptive routing or packet spraying; nothing to do. If neither is "
                          "on, look for a LAG that hashes per packet. {}",
                          show_command(snapshot, group, "The packets", shown)),
    };
  });
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/loss_cases.hpp"

namespace roce::analyze {
namespace {

/// " 10.0.0.2 does not tolerate it: 43 sequence NAKs for 12 packets lost, so it treats late packets as lost
/// and causes retransmissions."; `repeats`: how many packets the sender retransmitted.
std::string cost_text(const Group& group, std::size_t paying, std::uint64_t naks, std::uint64_t reads,
                      std::uint64_t losses, std::uint64_t repeats) {
  std::string asked;
  if (naks != 0) asked = plural(naks, "sequence NAK", "sequence NAKs");
  if (reads != 0) asked += (asked.empty() ? "" : " and ") + plural(reads, "READ retry", "READ retries");
  const bool one_receiver =
      group.single() || group.kind == Group::Kind::pair || group.kind == Group::Kind::to_host;
  const std::string among = paying == group.cases.size()
                                ? std::string()
                                : fmt::format(" in {} of {} directions", paying, group.cases.size());
  return fmt::format(" {} {} not tolerate it{}: {} for {}, so {} late packets as lost{}.", to_text(group),
                     one_receiver ? "does" : "do", among, asked,
                     losses == 0 ? std::string("no packet lost") : packets_text(losses) + " lost",
                     one_receiver ? "it treats" : "they treat",
                     repeats == 0
                         ? ", although nothing was retransmitted"
                         : (one_receiver ? " and causes retransmissions" : " and cause retransmissions"));
}

}  // namespace

void find_reordering(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    add_case(snapshot, cases, connection, {side, side, Event::out_of_order, all_packets(connection, side)});
  });
  const Shown shown = shown_by_flag("roce.analysis.out_of_order", Event::out_of_order);
  report_cases(sink, std::move(cases), [&](const Group& group) {
    // The figures are of the directions where it costs retransmissions.
    std::uint64_t naks = 0;
    std::uint64_t reads = 0;
    std::uint64_t losses = 0;
    std::uint64_t paid = 0;
    std::size_t paying = 0;
    for (const Case& c : group.cases) {
      const bool by_naks = late_taken_for_lost(c.sent(), c.answered());
      const bool by_reads = late_responses_taken_for_lost(*c.connection, c.side);
      if (!by_naks && !by_reads) continue;
      ++paying;
      losses += losses_of(c.sent());
      paid += repeats_of(c.sent());
      if (by_naks) naks += c.answered().count(Event::nak_sequence_error);
      if (by_reads) reads += reads_asked_again(c.connection->requester[1 - c.side]);
    }
    // A UC receiver discards the message that a late packet belongs to.
    const bool unreliable = std::any_of(group.cases.begin(), group.cases.end(), [](const Case& c) {
      return c.connection->service == dissect::Service::uc;
    });
    const bool borne = paying == 0 && !unreliable;
    const std::uint64_t repeats = group.sum([](const Case& c) { return repeats_of(c.sent()); });
    const bool often = 100 * group.count() >= group.of;
    std::string text = fmt::format(
        "{}{} sent by {} came out of order, after packets sent later, without being retransmissions.",
        scope_text(group), share_text(group.count(), group.of), from_text(group));
    if (paying != 0) text += cost_text(group, paying, naks, reads, losses, paid);
    if (unreliable) {
      text +=
          " A UC receiver does not wait for them and discards their messages: finding uc_message_loss counts "
          "those.";
    }
    if (borne && repeats == 0) {
      text += " Nothing was retransmitted: the receiver accepts them out of order, as with adaptive routing.";
    } else if (borne) {
      text += fmt::format(" {} retransmitted, {}: whether because of late ones is not known.",
                          packets_text(repeats), repeats_text(group));
    }
    return Words{
        paid != 0 || unreliable ? Severity::warning
        : often || !borne       ? Severity::notice
                                : Severity::info,
        text + goodput_text(group) + worst_text(group),
        !borne
            ? fmt::format("Packets of one queue pair take several paths: packet spraying or adaptive routing "
                          "towards a NIC without out-of-order placement, a LAG that hashes per packet, or "
                          "several queues (DSCPs) within one connection. Disable it for this traffic, or "
                          "{}enable out-of-order placement at both ends (mlx5: RoCE adaptive routing; "
                          "mlxconfig -d DEV q | grep -iE 'ADAPTIVE|OOO'). {}",
                          unreliable ? "use RC and " : "",
                          show_command(snapshot, group, "The packets", shown))
            : fmt::format("Expected with adaptive routing or packet spraying; nothing to do. If neither is "
                          "enabled, look for a LAG that hashes per packet. {}",
                          show_command(snapshot, group, "The packets", shown)),
    };
  });
}

}  // namespace roce::analyze

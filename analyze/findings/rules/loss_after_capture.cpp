// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/findings/shared/incident_counts.hpp"
#include "analyze/findings/shared/loss_cases.hpp"

namespace roce::analyze {

namespace {

/// A few losses among many late packets that the receiver treats as lost: these were probably late as well.
bool is_doubtful(const Case& c) {
  return late_taken_for_lost(c.sent(), c.answered()) &&
         4 * c.proof.count <= c.sent().count(Event::out_of_order);
}

/// What is known of those that were sent again with a lost one. A NAK names one packet: where others went
/// again with it, the losses are a lower bound.
std::string others_text(std::uint64_t others) {
  if (others == 0) return {};
  return fmt::format(" Of {} retransmitted with them it cannot be told here whether {} had arrived.",
                     packets_text(others), verb(others, "it", "they"));
}

}  // namespace

void find_loss_after_capture(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Case> cases = loss_cases(snapshot, Event::lost_after_capture);
  for (Case& c : cases) {
    if (is_doubtful(c)) c.confidence *= 0.5;
  }
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const bool doubtful = std::all_of(group.cases.begin(), group.cases.end(), is_doubtful);
    const std::string to = to_text(group);
    const std::uint64_t repeats = group.sum([](const Case& c) { return repeats_of(c.sent()); });
    const std::uint64_t others = repeats - std::min(repeats, group.count());
    const std::string incidents =
        incidents_text(snapshot, group, true, [](const Incident& each) { return each.lost_after != 0; });
    return Words{
        doubtful ? Severity::notice : loss_severity(group),
        fmt::format(
            "{}{} sent by {} passed the capture point but never reached {}, which requested {} again. The "
            "loss is between the capture point and {}, or inside {}.{}{}{}{}",
            scope_text(group),
            others == 0 ? share_text(group.count(), group.of)
                        : (group.single() ? "At least " : "at least ") + packets_text(group.count()),
            from_text(group), to, verb(group.count(), "it", "them"), to, to,
            incidents.empty() ? incidents : " " + incidents + ".",
            doubtful
                ? " But packets arrive out of order here (finding reordering), and late ones cause NAKs: "
                  "these may only have been late."
                : others_text(others),
            repair_text(snapshot, group), worst_text(group)),
        fmt::format(
            "On {}: ethtool -S DEV | grep -iE 'drop|discard|out_of_buffer|crc|prio'; rdma statistic show "
            "(out_of_sequence counts these losses; rx_icrc_encapsulated means corruption). On each switch "
            "from the capture point to there: drops of the RoCE queue, PFC counters. Check that PFC is "
            "enabled for the RoCE priority: mlnx_qos -i DEV (or dcb pfc show dev DEV). {}",
            to,
            show_losses(snapshot, group,
                        shown_by_flag("roce.analysis.lost == after_capture", Event::lost_after_capture,
                                      Shown::By::other),
                        Event::lost_after_capture)),
    };
  });
}

}  // namespace roce::analyze

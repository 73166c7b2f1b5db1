// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/incident_counts.hpp"

namespace roce::analyze {
namespace {

/// Requests that found no receive posted: `from` is the requester.
std::vector<Case> rnr_cases(const Snapshot& snapshot) {
  std::vector<Case> cases;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    if (connection.requester[side].rnr_exhausted) return;  // rnr_exhausted reports it
    add_case(snapshot, cases, connection,
             {side, 1 - side, Event::rnr_nak, all_requests(connection.requester[side])});
  });
  return cases;
}

std::string waits_text(const Case& c) {
  const RnrStats* rnr = c.requester().trouble->rnr.get();
  if (rnr == nullptr) return {};
  std::string text = fmt::format(" It requested waits of {} (timer code {})", wait_text(rnr->coded_wait_ns),
                                 rnr->timer_code);
  if (rnr->wait_ns.count() != 0) {
    const std::string usual = wait_text(rnr->wait_ns.percentile(0.5));
    const std::string most = wait_text(rnr->wait_ns.max());
    text += usual == most ? fmt::format("; the sender waited {}", most)
                          : fmt::format("; the sender waited {} (median), {} at most", usual, most);
  }
  text += '.';
  if (rnr->longest_chain > 1)
    text += fmt::format(" Longest series for one request: {} RNR NAKs.", rnr->longest_chain);
  return text;
}

}  // namespace

void find_rnr(const Snapshot& snapshot, FindingSink& sink) {
  constexpr Scale scale{.warning_from = 0.01, .warning_at_least = 3};
  report_cases(sink, rnr_cases(snapshot), [&](const Group& group) {
    const Case* longest = &group.worst();
    const std::uint64_t repeats =
        group.sum([](const Case& c) { return c.sent().count(Event::retransmitted_rnr); });
    std::string text =
        fmt::format("{}{} had no receive posted for {} from {} and answered with RNR NAK.", scope_text(group),
                    group.single() ? endpoint_text(group.first().to()) : to_text(group),
                    share_text(group.count(), group.of, "request packets"), from_text(group));
    text += waits_text(*longest);
    if (repeats != 0) text += fmt::format(" {} retransmitted for it.", packets_text(repeats));
    const std::string incidents = incidents_text(
        snapshot, group, false, [](const Incident& each) { return each.what == IncidentKind::rnr; });
    if (!incidents.empty()) text += fmt::format(" {}.", incidents);
    return Words{
        severity_of(group.count(), group.of, scale),
        text + goodput_text(group) + worst_text(group),
        fmt::format(
            "The application on {} posts receives too slowly or too few: post more before the sender "
            "starts, use an SRQ with a low-water mark, look for a stalled progress thread (top -H, "
            "perf). Counters: ethtool -S DEV | grep rx_out_of_buffer; rdma statistic show "
            "(rnr_nak_retry_err, out_of_buffer). {}",
            to_text(group),
            show_command(snapshot, group, "The NAKs",
                         shown_by_answers("infiniband.aeth.syndrome.opcode == \"RNR NAK\"", Event::rnr_nak))),
    };
  });
}

}  // namespace roce::analyze

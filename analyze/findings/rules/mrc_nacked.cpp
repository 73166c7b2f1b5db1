// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/mrc_cases.hpp"

namespace roce::analyze {

void find_mrc_nacked(const Snapshot& snapshot, FindingSink& sink) {
  constexpr Scale nacked_scale{.warning_from = 0.001, .warning_at_least = 3};
  std::vector<Finding> findings;
  for (const MrcWay& way : mrc_ways(snapshot)) {
    const MrcRefusals refused = refusals_of(way, false);
    if (refused.proof.count == 0) continue;
    const std::string from = address_text(way.src), to = address_text(way.dst);
    Finding finding =
        mrc_finding(severity_of(refused.proof.count, refused.of, nacked_scale), way, refused.proof);
    finding.explanation = fmt::format(
        "{} did not take {} that {} sent to it over MRC ({} of {} packets), and they have to be sent again: "
        "{}. They arrived: no path is to blame.",
        to, plural(refused.proof.count, "packet", "packets"), from,
        percent_text(refused.proof.count, refused.of), refused.of, refused.text);
    finding.advice = fmt::format(
        "No packet buffer, no bitmap and no resource: the NIC of {0} is at its limit, with too many streams "
        "or "
        "too much in flight. A PSN outside the window: the sender does not keep to the window that the SACKs "
        "grant. Let {0} grant a smaller window, or start fewer transfers at a time. The NACKs: {1}",
        to, packets_command(snapshot, refused.filter));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

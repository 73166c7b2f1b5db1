// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "analyze/findings/shared/mrc_cases.hpp"

namespace roce::analyze {

void find_mrc_refused(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Finding> findings;
  for (const MrcWay& way : mrc_ways(snapshot)) {
    const MrcRefusals refused = refusals_of(way, true);
    if (refused.proof.count == 0) continue;
    const std::string from = address_text(way.src), to = address_text(way.dst);
    Finding finding = mrc_finding(Severity::error, way, refused.proof);
    finding.explanation = fmt::format(
        "{} refused what {} writes to it over MRC, and its queue pair ends: {}. The SACKs "
        "for these packets say only that they arrived, not that the write was carried out.",
        to, from, refused.text);
    finding.advice = fmt::format(
        "On {0}: the application's log and rdma resource show qp. Remote access error: check R_Key, address "
        "range and access flags of the memory region (rdma resource show mr). Invalid request: check the "
        "length and the receive queue. Unexpected event: check the state of that queue pair. "
        "The refusals: {1}",
        to, packets_command(snapshot, refused.filter));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

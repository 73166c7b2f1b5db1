// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/mrc_cases.hpp"

namespace roce::analyze {

void find_mrc_needless(const Snapshot& snapshot, FindingSink& sink) {
  constexpr Scale needless_scale{.warning_from = 0.001, .warning_at_least = 3};
  std::vector<Finding> findings;
  for (const MrcWay& way : mrc_ways(snapshot)) {
    Proof proof;
    std::uint64_t packets = 0;
    for (const MrcStream* stream : way.streams) {
      packets += stream->packets;
      add_evidence(proof, stream->needless_shown);
    }
    if (proof.count == 0) continue;
    const std::string from = address_text(way.src), to = address_text(way.dst);
    Finding finding = mrc_finding(severity_of(proof.count, packets, needless_scale), way, proof);
    finding.explanation = fmt::format(
        "{} of {} packets that {} sent to {} over MRC ({}) {} of what had arrived. The sender took "
        "late packets for lost, or the SACK that confirms them was lost or late.",
        proof.count, packets, from, to, percent_text(proof.count, packets),
        proof.count == 1 ? "was a repeat" : "were repeats");
    finding.advice = fmt::format(
        "Raise the retransmission timeout of {0} above the longest round trip (rtt_max in the table "
        "mrc_paths "
        "of an export), and look for drops of what {1} sends back: SACKs use the control class. "
        "The repeats: {2}",
        from, to, packets_command(snapshot, fmt::format("{} && mrc.bth.rtx == 1", way_filter(way))));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

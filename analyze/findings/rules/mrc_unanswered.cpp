// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/mrc_cases.hpp"

namespace roce::analyze {

void find_mrc_unanswered(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Finding> findings;
  for (const MrcWay& way : mrc_ways(snapshot)) {
    Proof proof;
    std::uint64_t streams = 0;
    for (const MrcStream* stream : way.streams) {
      if (stream->unanswered.count == 0) continue;
      ++streams;
      add_evidence(proof, stream->unanswered);
    }
    if (streams == 0) continue;
    const std::string from = address_text(way.src), to = address_text(way.dst);
    Finding finding = mrc_finding(Severity::error, way, proof);
    finding.explanation = fmt::format(
        "{} no longer answers {}: {} of {} over MRC {} sent three times and more since its last SACK. "
        "The queue pair ends when the retries run out.",
        to, from, plural(proof.count, "packet", "packets"), plural(streams, "stream", "streams"),
        proof.count == 1 ? "was" : "were");
    finding.advice = fmt::format(
        "Is {0} still there: its process, its link, its queue pairs (rdma resource show qp)? If it has "
        "received the packets, look for what drops its SACKs on the way back. The packets: {1}",
        to, packets_command(snapshot, fmt::format("{} && mrc.bth.rtx == 1", way_filter(way))));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

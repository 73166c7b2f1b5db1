// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/mrc_cases.hpp"

namespace roce::analyze {

void find_mrc_trimmed_last_hop(const Snapshot& snapshot, FindingSink& sink) {
  std::map<dissect::IpAddress, std::vector<MrcWay>> receivers;
  for (MrcWay& way : mrc_ways(snapshot)) receivers[way.dst].push_back(std::move(way));
  std::vector<Finding> findings;
  for (const auto& [receiver, ways] : receivers) {
    Proof proof;
    std::uint64_t trimmed = 0, packets = 0, senders = 0;
    for (const MrcWay& way : ways) {
      std::uint64_t here = 0;
      for (const MrcStream* stream : way.streams) {
        here += stream->lost[static_cast<std::size_t>(MrcPlace::trimmed_last_hop)];
        packets += stream->packets;
      }
      trimmed += here;
      senders += here != 0 ? 1 : 0;
      if (here != 0)
        proof.add(losses_of(snapshot, way,
                            [](const MrcLoss& loss) { return loss.place == MrcPlace::trimmed_last_hop; }));
    }
    if (trimmed == 0) continue;
    proof.count = trimmed;
    MrcWay any = ways.front();
    Finding finding = mrc_finding(Severity::warning, any, proof);
    finding.from.reset();
    if (senders == 1) finding.from = any.src;
    finding.subject = address_text(receiver);
    finding.explanation = fmt::format(
        "The last switch before {} trimmed {} ({} of what MRC sends there), from {}: more arrives than "
        "the port to this receiver can send (incast). Its NACKs say trimmed at the last hop, so no path is "
        "to blame, and taking another one does not help.",
        address_text(receiver), plural(trimmed, "packet", "packets"), percent_text(trimmed, packets),
        plural(senders, "sender", "senders"));
    finding.advice = fmt::format(
        "On the switch port that leads to it: rate, queue and trim counters; and which senders are active at "
        "the same time. Let the receiver grant a smaller window in its SACKs, or start fewer transfers at a "
        "time. The NACKs: {}",
        packets_command(snapshot,
                        fmt::format("roce.src == {} && mrc.neth.reason == 2", address_text(receiver))));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

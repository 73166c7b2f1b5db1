// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/findings/shared/commands.hpp"
#include "analyze/findings/shared/port_cases.hpp"

namespace roce::analyze {
namespace {

namespace sflow = dissect::sflow;

/// What to look at, by the reason.
std::string_view remedy_of(std::uint32_t reason) {
  switch (reason) {
    case sflow::reason_no_buffer:
      return "The buffer was full: if this traffic is to be lossless, its priority has no PFC on that "
             "switch, or too "
             "little headroom; if not, ECN marks too late or senders do not slow down. Compare the queue's "
             "thresholds "
             "(show buffer, show ecn, show pfc) with those of the other switches.";
    case sflow::reason_red:
      return "RED or WRED drops what it should mark: enable ECN on that queue, and let hosts send ECT "
             "(traffic class "
             "with ECN bits 2).";
    case sflow::reason_too_big:
      return "The packet exceeds the MTU of that port: raise it to the path MTU of RDMA plus headers (4096 + "
             "58 and "
             "what tunnels add), or lower the RDMA MTU of the hosts.";
    default:
      return "Look the reason up in the switch's own drop counters, and whether the traffic should pass "
             "there at all.";
  }
}

Finding finding_of_group(const Snapshot& snapshot, const ExportDropGroup& group) {
  const Exports& e = snapshot.exports;
  Proof proof;
  std::vector<std::uint32_t> connections;
  for (const std::size_t i : group.drops) {
    const ExportDrop& drop = e.drops[i];
    if (!drop.roce) continue;
    ++proof.count;
    proof.add_frame(drop.packet);
    proof.add_time(drop.time_ns);
    if (drop.loss_shown_by != 0) connections.push_back(drop.connection);
  }
  std::sort(connections.begin(), connections.end());
  connections.erase(std::unique(connections.begin(), connections.end()), connections.end());
  const std::string place = drop_place_text(e, group), reason = drop_reason_text(group.reason);
  Finding finding = finding_of(group.matched != 0 ? Severity::error : Severity::warning, place, proof);
  finding.connections = std::move(connections);
  const bool traffic = snapshot.totals.roce_packets != 0;
  const std::uint64_t missed = group.matched, unmissed = group.roce - group.matched;
  finding.explanation = fmt::format("Switch {} says that it dropped {}: {}. ", place,
                                    plural(group.roce, "RoCE packet", "RoCE packets"), reason);
  if (!traffic) {
    finding.explanation += "The traffic itself was not captured, so whether it was sent again is not known.";
  } else if (missed != 0) {
    finding.explanation += fmt::format(
        "{} of them explain losses of the captured traffic (same addresses, queue pair and PSN): lost "
        "there, and nowhere else.",
        missed);
    if (unmissed != 0)
      finding.explanation += fmt::format(
          " Of {} others the capture shows no loss: they are of traffic that it does "
          "not have, or were not missed.",
          unmissed);
  } else {
    finding.explanation +=
        "The capture shows no loss of these packets: they are of traffic that it does not have, or "
        "nobody missed them.";
  }
  const bool ipv6 = !e.agents[group.agent].address.is_v4_mapped();
  finding.advice = fmt::format(
      "{} The datagrams that tell of such drops: {}", remedy_of(group.reason),
      packets_command(snapshot, fmt::format("sflow_245.agent{} == {} && sflow.discarded_sample.reason == {}",
                                            ipv6 ? ".v6" : "", address_text(e.agents[group.agent].address),
                                            group.reason)));
  return finding;
}

}  // namespace

void find_switch_drops(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Finding> findings;
  for (const ExportDropGroup& group : drop_groups(snapshot.exports)) {
    if (group.roce != 0) findings.push_back(finding_of_group(snapshot, group));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

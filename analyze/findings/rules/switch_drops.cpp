// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/findings/shared/commands.hpp"
#include "analyze/findings/shared/drop_remedy.hpp"
#include "analyze/findings/shared/port_cases.hpp"
#include "analyze/findings/shared/texts.hpp"

namespace roce::analyze {
namespace {

/// A display filter for the datagrams that tell of such drops.
std::string filter_of_drops(const ExportAgent& agent, const ExportDropGroup& group) {
  const std::string address = address_text(agent.address);
  const bool ipv6 = !agent.address.is_v4_mapped();
  if (group.reason.list == DropReason::List::sflow)
    return fmt::format("sflow_245.agent{} == {} && sflow.discarded_sample.reason == {}", ipv6 ? ".v6" : "",
                       address, group.reason.code);
  const std::string sender = fmt::format("{}.src == {}", ipv6 ? "ipv6" : "ip", address);
  if (group.reason.list == DropReason::List::mirror_on_drop)
    return group.output != 0
               ? fmt::format("{} && ipfix.mirror_on_drop.egress_port == {}", sender, group.output)
               : fmt::format("{} && ipfix.mirror_on_drop.reason", sender);
  return fmt::format("{} && cflow", sender);
}

/// What the capture has of reliable traffic: a packet of it that nobody missed was delivered.
class CapturedFlows {
 public:
  explicit CapturedFlows(const Snapshot& snapshot) {
    if (!snapshot.completeness.bears(needs::both_directions)) return;
    for (const Flow& flow : snapshot.flows) {
      const bool reliable = flow.service == dissect::Service::rc || flow.service == dissect::Service::xrc;
      if (reliable && flow.any_time) all_.emplace(flow.key, &flow);
    }
  }
  /// Whether it has the flow of that packet, at its time.
  [[nodiscard]] bool has(const ExportDrop& drop) const {
    const auto found = all_.find(drop.key);
    return found != all_.end() && drop.time_ns >= found->second->first_time_ns &&
           drop.time_ns <= found->second->last_time_ns;
  }

 private:
  struct Hash {
    std::size_t operator()(const FlowKey& key) const noexcept { return key.hash(); }
  };
  std::unordered_map<FlowKey, const Flow*, Hash> all_;
};

Finding finding_of_group(const Snapshot& snapshot, const CapturedFlows& flows, const ExportDropGroup& group) {
  const Exports& e = snapshot.exports;
  Proof proof;
  std::vector<std::uint32_t> connections;
  std::uint64_t delivered = 0;
  for (const std::size_t i : group.drops) {
    const ExportDrop& drop = e.drops[i];
    if (!drop.roce) continue;
    ++proof.count;
    proof.add_frame(drop.packet);
    proof.add_time(drop.time_ns);
    if (drop.loss_shown_by != 0 && drop.connection != LostTransmission::no_connection)
      connections.push_back(drop.connection);
    if (drop.loss_shown_by == 0 && flows.has(drop)) ++delivered;
  }
  std::sort(connections.begin(), connections.end());
  connections.erase(std::unique(connections.begin(), connections.end()), connections.end());
  const std::string place = drop_place_text(e, group), reason = drop_reason_text(group.reason);
  const Severity severity = group.matched != 0       ? Severity::error
                            : delivered < group.roce ? Severity::warning
                                                     : Severity::notice;
  Finding finding = finding_of(severity, place, proof);
  finding.connections = std::move(connections);
  const bool traffic = snapshot.totals.roce_packets != 0;
  const std::uint64_t missed = group.matched, unmissed = group.roce - group.matched - delivered;
  finding.explanation = fmt::format("Switch {} reports {} dropped: {}. ", place,
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
          " Of the other {} the capture shows no loss: {} of traffic that it does not have, or {} not "
          "missed.",
          unmissed == 1 ? "one" : std::to_string(unmissed), verb(unmissed, "it is", "they are"),
          verb(unmissed, "was", "were"));
  } else if (unmissed != 0) {
    finding.explanation += fmt::format(
        "The capture shows no loss of {}: they are of traffic that it does not have, or nobody missed them.",
        delivered == 0 ? "these packets" : fmt::format("{} of these packets", unmissed));
  }
  if (delivered != 0)
    finding.explanation += fmt::format(
        "{}The capture has the traffic of {}, and no loss of {}: {} delivered, and what the switch dropped "
        "was a copy, or a packet that it had also sent to its own processor (trap).",
        finding.explanation.back() == ' ' ? "" : " ",
        delivered == group.roce ? "these packets" : fmt::format("{} of them", delivered),
        delivered == 1 ? "it" : "them", delivered == 1 ? "it was" : "they were");
  finding.advice = fmt::format("{} The datagrams that tell of such drops: {}", drop_remedy(group.reason),
                               packets_command(snapshot, filter_of_drops(e.agents[group.agent], group)));
  return finding;
}

}  // namespace

void find_switch_drops(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Finding> findings;
  const CapturedFlows flows(snapshot);
  for (const ExportDropGroup& group : drop_groups(snapshot.exports)) {
    if (group.roce != 0) findings.push_back(finding_of_group(snapshot, flows, group));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"

namespace roce::analyze {

void find_pause_storm(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Finding> findings;
  for_each_lane(snapshot, [&](const PausePort& port, unsigned i, const PauseLane& lane) {
    if (lane.storms.count == 0) return;
    Proof proof;
    proof.add(&lane.storms);
    const std::string who = port_text(snapshot, port.mac, port.point);
    Finding finding = finding_of(Severity::error, fmt::format("{}, {}", who, lane_text(i)), proof);
    finding.explanation = fmt::format(
        "Port {} pauses {} for {} without a break; a PFC watchdog takes {} for a storm. It did so {}", who,
        lane_text(i), paused_text(port, lane.longest_ns), duration_text(snapshot.pauses.storm_ns),
        times_text(lane.storms.count));
    if (const auto duty = duty_of(snapshot, port, lane)) {
      finding.explanation += fmt::format(", and {} of the capture's time are paused",
                                         percent_text(static_cast<std::uint64_t>(*duty * 1e6), 1'000'000));
    }
    finding.explanation += lane.paused_at_end ? "; when the capture ended it still was." : ".";
    finding.explanation +=
        " Nothing of that priority moves on this link meanwhile, and the standstill spreads to whoever sends "
        "to it.";
    finding.advice =
        "The port that sends XOFF is the one that cannot take any more: look there first, not at those it "
        "stops. A host: ethtool -S DEV | grep -E 'pause|discard|out_of_buffer', a hung or slow receiver "
        "(PCIe width and errors, IOMMU, a stopped process), mlnx_qos -i DEV (buffer sizes). A switch: its "
        "own next hop pauses it; follow the XOFFs to where they begin. Let switches protect themselves: "
        "SONiC pfcwd start --action drop ports all detection-time 200, Arista priority-flow-control pause "
        "watchdog, NX-OS priority-flow-control watch-dog-interval on. All pause frames of that port: " +
        packets_command(snapshot, pause_filter(port.mac));
    findings.push_back(std::move(finding));
  });
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

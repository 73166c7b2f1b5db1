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
        "Port {} pauses {} for {} without interruption; a PFC watchdog treats {} as a storm. This happened "
        "{}",
        who, lane_text(i), paused_text(port, lane.longest_ns), duration_text(snapshot.pauses.storm_ns),
        times_text(lane.storms.count));
    if (const auto duty = duty_of(snapshot, port, lane)) {
      finding.explanation += fmt::format(", and {} of the capture time was paused",
                                         percent_text(static_cast<std::uint64_t>(*duty * 1e6), 1'000'000));
    }
    finding.explanation += lane.paused_at_end ? "; it was still paused when the capture ended." : ".";
    finding.explanation +=
        " Meanwhile nothing of that priority is sent on this link, and the congestion spreads upstream to "
        "all its senders.";
    finding.advice =
        "The port that sends XOFF cannot accept any more: look there first, not at the ports that it pauses. "
        "On a host: ethtool -S DEV | grep -E 'pause|discard|out_of_buffer', a hung or slow receiver (PCIe "
        "width and errors, IOMMU, a stopped process), mlnx_qos -i DEV (buffer sizes). On a switch: its own "
        "next hop pauses it; follow the XOFFs to their origin. Enable the PFC watchdog on the switches: "
        "SONiC pfcwd start --action drop ports all detection-time 200, Arista priority-flow-control pause "
        "watchdog, NX-OS priority-flow-control watch-dog-interval on. All pause frames of that port: " +
        packets_command(snapshot, pause_filter(port.mac));
    findings.push_back(std::move(finding));
  });
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

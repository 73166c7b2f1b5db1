// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"

namespace roce::analyze {

void find_traffic_while_paused(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Finding> findings;
  for_each_lane(snapshot, [&](const PausePort& port, unsigned i, const PauseLane& lane) {
    if (lane.overrun.count == 0) return;
    constexpr std::uint64_t many = 10;
    Proof proof;
    proof.add(&lane.overrun);
    const std::string who = port_text(snapshot, port.mac, port.point);
    Finding finding =
        finding_of(lane.overrun.count >= many && lane.overrun_to_port ? Severity::warning : Severity::notice,
                   fmt::format("to {}, {}", who, lane_text(i)), proof);
    finding.confidence = lane.overrun_to_port ? 0.7 : 0.4;
    finding.explanation = fmt::format(
        "{} ({}) of RoCE were sent to port {} on {} during a pause, later than the {} after an XOFF that are "
        "allowed for packets in flight. The sender does not obey the pause, and the port may have to drop "
        "them.",
        packets_text(lane.overrun.count), bytes_text(lane.overrun_bytes), who, lane_text(i),
        duration_text(in_flight_allowance_ns(port.speed_bps)));
    if (!lane.overrun_to_port) {
      finding.explanation +=
          " None is addressed to the port itself: they come from the only other port that sends link control "
          "frames at this capture point. If the two are not the ends of one link (a mirror of several), this "
          "is not valid.";
    }
    // A policy specifies the priority of each DSCP.
    const bool guessed = !snapshot.policy && 2 * lane.overrun_by_dscp > lane.overrun.count;
    if (guessed) {
      finding.severity = Severity::notice;
      finding.confidence = std::min(finding.confidence, 0.4);
    }
    if (!snapshot.policy && lane.overrun_by_dscp != 0) {
      finding.explanation += fmt::format(
          " {} of them {} untagged, and assumed to be on priority DSCP >> 3, a guess (--policy specifies how "
          "devices map DSCPs).",
          lane.overrun_by_dscp, verb(lane.overrun_by_dscp, "is", "are"));
    }
    const std::uint8_t wanted = i == PausePort::global ? std::uint8_t{0} : static_cast<std::uint8_t>(1U << i);
    finding.advice =
        i == PausePort::global
            ? std::string(
                  "Let the sender obey PAUSE: ethtool -A DEV rx on (with PFC enabled, NICs ignore PAUSE: "
                  "then enable PFC at the port that pauses). ")
            : fmt::format(
                  "Enable PFC for this priority at the sender: mlnx_qos -i DEV --pfc {} or dcb pfc set dev "
                  "DEV prio-pfc {}:on, the same on a switch port; and let both ends map packets to the same "
                  "priority (mlnx_qos -i DEV --trust dscp, switch class maps): a packet that the sender maps "
                  "to another priority is not paused. ",
                  pfc_list(wanted), i);
    finding.advice += fmt::format(
        "All RoCE packets from the first of these to the last one listed: {}",
        packets_command(snapshot, fmt::format("infiniband.bth && frame.number >= {} && frame.number <= {}",
                                              proof.frames.front(), proof.frames.back())));
    findings.push_back(std::move(finding));
  });
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

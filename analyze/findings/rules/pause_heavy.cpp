// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"

namespace roce::analyze {

void find_pause_heavy(const Snapshot& snapshot, FindingSink& sink) {
  // A single pause in a short capture proves nothing.
  constexpr std::uint64_t often = 10;
  constexpr double noticed = 0.01;
  constexpr double heavy = 0.1;
  std::vector<Finding> findings;
  for_each_lane(snapshot, [&](const PausePort& port, unsigned i, const PauseLane& lane) {
    const auto duty = duty_of(snapshot, port, lane);
    if (!duty || *duty < noticed || lane.xoff.count < often || lane.storms.count != 0) return;
    Proof proof;
    proof.add(&lane.xoff);
    const std::string who = port_text(snapshot, port.mac, port.point);
    Finding finding = finding_of(*duty >= heavy ? Severity::warning : Severity::notice,
                                 fmt::format("{}, {}", who, lane_text(i)), proof);
    finding.explanation = fmt::format(
        "Port {} pauses {} for {} of the capture time: {} in {}, the longest {}. It receives more than it "
        "can process or forward.",
        who, lane_text(i), percent_text(static_cast<std::uint64_t>(*duty * 1e6), 1'000'000),
        duration_text(lane.paused_ns), plural(lane.pauses, "pause", "pauses"),
        duration_text(lane.longest_ns));
    finding.advice =
        "PFC is the last resort; ECN and CNPs should slow senders down first. Is RoCE data ECT (see the "
        "markings in the report), do switches mark CE below the XOFF threshold, do CNPs come back? If the "
        "port belongs to a host, its receiver is slow: ethtool -S DEV | grep -E 'pause|out_of_buffer', PCIe "
        "width (lspci -vv), RNR NAKs. All pause frames of that port: " +
        packets_command(snapshot, pause_filter(port.mac));
    findings.push_back(std::move(finding));
  });
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

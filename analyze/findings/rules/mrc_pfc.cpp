// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/mrc_cases.hpp"

namespace roce::analyze {

void find_mrc_pfc(const Snapshot& snapshot, FindingSink& sink) {
  if (snapshot.mrc == nullptr || snapshot.mrc->streams.empty()) return;
  std::vector<Finding> findings;
  for_each_lane(snapshot, [&](const PausePort& port, unsigned i, const PauseLane& lane) {
    if (lane.xoff.count == 0) return;
    Proof proof;
    proof.add(&lane.xoff);
    const std::string who = port_text(snapshot, port.mac, port.point);
    Finding finding = finding_of(Severity::warning, fmt::format("{}, {}", who, lane_text(i)), proof);
    // Whether it is the priority of MRC, only tags could tell; other traffic may need it.
    finding.confidence = 0.6;
    finding.explanation = fmt::format(
        "Port {} pauses {} ({}) on a fabric that carries MRC. MRC is made for fabrics without PFC: it sprays "
        "over all "
        "paths, and one paused link holds up every stream that crosses it, where a lost or trimmed packet "
        "would "
        "have been sent again by another path at once.",
        who, lane_text(i), plural(lane.xoff.count, "XOFF", "XOFFs"));
    finding.advice = fmt::format(
        "Turn PFC off for the classes of MRC at both ends of each link (mlnx_qos -i DEV --pfc "
        "0,0,0,0,0,0,0,0, or dcb "
        "pfc set dev DEV prio-pfc all:off; the same on the switch ports), or give other lossless traffic a "
        "priority "
        "of its own. All pause frames of that port: {}",
        packets_command(snapshot, pause_filter(port.mac)));
    findings.push_back(std::move(finding));
  });
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

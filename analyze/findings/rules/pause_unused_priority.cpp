// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>

#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"

namespace roce::analyze {

void find_pause_unused_priority(const Snapshot& snapshot, FindingSink& sink) {
  if (snapshot.pauses.ports.empty() || snapshot.totals.roce_packets == 0) return;
  const PriorityMap map = announced_map(snapshot);
  const PriorityUse use = priority_use(snapshot, map);
  const std::uint8_t used = use.used();
  const Lossless lossless = lossless_priorities(snapshot);
  if (used == 0) return;
  // With no data on any paused priority the configuration is wrong; otherwise the pauses may be for other
  // traffic.
  const bool all_wrong = (use.used_by_data() & lossless.paused) == 0 && use.used_by_data() != 0;
  const bool guessed = use.guessed_for_data() != 0 && use.guessed_for_data() == use.used_by_data();
  const bool alike = is_lossless_alike_everywhere(snapshot);
  std::vector<Finding> findings;
  for_each_lane(snapshot, [&](const PausePort& port, unsigned i, const PauseLane& lane) {
    if (i == PausePort::global || lane.xoff.count == 0 || (used >> i & 1U) != 0) return;
    Proof proof;
    proof.add(&lane.xoff);
    const std::string who = port_text(snapshot, port.mac, port.point);
    Finding finding = finding_of(all_wrong && !guessed && alike ? Severity::warning : Severity::notice,
                                 fmt::format("{}, {}", who, lane_text(i)), proof);
    finding.confidence = !alike ? 0.3 : guessed ? 0.4 : all_wrong ? 0.8 : 0.6;
    finding.explanation =
        fmt::format("Port {} pauses {} ({} XOFF), but no RoCE packet in this capture uses it: RoCE is on {}.",
                    who, lane_text(i), lane.xoff.count, priority_words(used));
    if (all_wrong && alike)
      finding.explanation += " So RoCE is not protected from loss, and other traffic is paused instead.";
    if (!alike) finding.explanation += other_point_text;
    if (guessed) finding.explanation += guessed_priority_text;
    const std::uint8_t wanted = use.used_by_data() != 0 ? use.used_by_data() : used;
    finding.advice = fmt::format(
        "Either mark RoCE for the lossless priority (cma_roce_tos -d DEV -t TOS, the traffic_class file of "
        "the device, TOS = DSCP x 4), or make the priority that RoCE uses lossless at both ends: mlnx_qos -i "
        "DEV --pfc {}, or dcb pfc set dev DEV prio-pfc all:off {}:on; the same on the switch port, and trust "
        "the same field (mlnx_qos -i DEV --trust dscp). All pause frames of that port: {}",
        pfc_list(wanted), std::countr_zero(wanted), packets_command(snapshot, pause_filter(port.mac)));
    findings.push_back(std::move(finding));
  });
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"

namespace roce::analyze {

void find_pause_mutual(const Snapshot& snapshot, FindingSink& sink) {
  constexpr std::int64_t long_ns = 10'000'000;  // both ends may be full for a moment
  std::vector<Finding> findings;
  for (const MutualPause& mutual : snapshot.pauses.mutual) {
    const PausePort& a = snapshot.pauses.ports[mutual.a];
    const PausePort& b = snapshot.pauses.ports[mutual.b];
    const auto at_point = std::count_if(snapshot.pauses.ports.begin(), snapshot.pauses.ports.end(),
                                        [&](const PausePort& port) { return port.point == a.point; });
    // Two hosts on a mirror of their two ports pause like the ends of one link; but they have other peers.
    const bool one_link = at_point == 2 && !mutual.others;
    const bool known = is_speed_known(a) && is_speed_known(b);
    const Severity severity = !one_link                                       ? Severity::notice
                              : mutual.longest_ns >= snapshot.pauses.storm_ns ? Severity::error
                              : mutual.longest_ns >= long_ns                  ? Severity::warning
                                                                              : Severity::notice;
    Proof proof;
    proof.add(&mutual.seen);
    Finding finding = finding_of(severity,
                                 fmt::format("{} - {}, {}", mac_text(a.mac),
                                             port_text(snapshot, b.mac, b.point), lane_text(mutual.lane)),
                                 proof);
    finding.confidence = one_link ? 0.9 : 0.4;
    finding.explanation = fmt::format(
        "Ports {} and {} pause each other on {} at the same time: {}, for {}{} in total, the longest {}.",
        mac_text(a.mac), mac_text(b.mac), lane_text(mutual.lane), times_text(mutual.times),
        known ? "" : "at least ", duration_text(mutual.total_ns), duration_text(mutual.longest_ns));
    finding.explanation +=
        one_link ? (severity == Severity::error
                        ? " Neither can send, so neither can free its buffers: this is what a PFC deadlock "
                          "looks like."
                        : " While it lasts neither can send; if it did not end, it would be a PFC deadlock.")
        : at_point == 2
            ? " RoCE packets from or to other MAC addresses were captured too, so these two need not be the "
              "ends of one link: a mirror of two links looks the same."
            : " More ports send pause frames at this capture point, so these two need not be the ends of one "
              "link.";
    finding.advice =
        "Look for a cyclic buffer dependency: routes that go up again after going down, flooding because of "
        "a missing MAC address or ARP entry, packets that change from one lossless priority to another. On "
        "the switches: show priority-flow-control (or pfcwd show stats), let the PFC watchdog break the "
        "deadlock, and keep lossless traffic on routes that never go down and up again. All pause frames of "
        "the two: " +
        packets_command(snapshot,
                        fmt::format("macc && eth.src in {{{}, {}}}", mac_text(a.mac), mac_text(b.mac)));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

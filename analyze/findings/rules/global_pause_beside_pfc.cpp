// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"

namespace roce::analyze {

void find_global_pause_beside_pfc(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Finding> findings;
  for_each_lane(snapshot, [&](const PausePort& port, unsigned i, const PauseLane& lane) {
    if (i != PausePort::global || lane.xoff.count == 0) return;
    // The two exclude each other on a link; PFC on other links does not matter.
    const Lossless lossless = lossless_priorities(snapshot, port.point);
    if (lossless.paused == 0 && lossless.announced == 0) return;
    Proof proof;
    proof.add(&lane.xoff);
    const std::string who = port_text(snapshot, port.mac, port.point);
    Finding finding = finding_of(Severity::warning, who, proof);
    finding.confidence = 0.9;
    finding.explanation = fmt::format(
        "Port {} sends PAUSE ({} XOFF), which stops every priority of its link, while PFC is {} for {}. The "
        "two exclude each other on a link (IEEE 802.1Q, 36.1): a port with PFC ignores PAUSE, and one with "
        "PAUSE stops CNPs and ACKs together with data.",
        who, lane.xoff.count, lossless.paused != 0 ? "used" : "announced",
        priority_words(lossless.paused != 0 ? lossless.paused : lossless.announced));
    finding.advice = fmt::format(
        "Disable PAUSE on that port: ethtool -A DEV autoneg off rx off tx off on a host, no flowcontrol on a "
        "switch port; then enable PFC: mlnx_qos -i DEV --pfc {}. All pause frames of that port: {}",
        pfc_list(lossless.paused != 0 ? lossless.paused : lossless.announced),
        packets_command(snapshot, pause_filter(port.mac)));
    findings.push_back(std::move(finding));
  });
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

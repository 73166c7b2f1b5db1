// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"
#include "analyze/policy/policy_links.hpp"

namespace roce::analyze {

void find_dcbx_policy_differs(const Snapshot& snapshot, FindingSink& sink) {
  if (!snapshot.policy) return;
  const PolicyModel& model = snapshot.policy->model();
  const std::optional<std::uint8_t> lossless = lossless_of(model);
  std::vector<Finding> findings;
  for (const DcbxPort& port : snapshot.dcbx.ports) {
    const std::vector<std::string> texts = announced_against(model, port.settings());
    if (texts.empty()) continue;
    Proof proof;
    proof.add_frame(port.last_packet);
    proof.add_time(port.frames.last_time_ns);
    proof.count = texts.size();
    const std::string who = port_text(snapshot, port.mac, port.point);
    Finding finding = finding_of(Severity::warning, who, proof);
    finding.confidence = 0.9;
    constexpr std::size_t named = 4;
    const auto last = texts.begin() + static_cast<std::ptrdiff_t>(std::min(named, texts.size()));
    finding.explanation =
        fmt::format("Port {} announces DCBX settings that differ from the policy: {}{}.", who,
                    fmt::join(texts.begin(), last, ", "),
                    texts.size() > named ? fmt::format(" and {} more", texts.size() - named) : std::string());
    finding.advice = fmt::format(
        "Configure that port: {}mlnx_qos -i DEV --dscp2prio set,DSCP,PRIORITY, dcb app replace dev DEV "
        "port-prio 4791:PRIORITY; on a switch priority-flow-control and the DSCP map. All LLDP frames of "
        "that port: {}",
        lossless
            ? fmt::format("mlnx_qos -i DEV --pfc {} or dcb pfc set dev DEV prio-pfc, ", pfc_list(*lossless))
            : std::string(),
        packets_command(snapshot, fmt::format("lldp && eth.src == {}", mac_text(port.mac))));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <map>

#include "analyze/findings/common.hpp"
#include "analyze/findings/ports.hpp"

namespace roce::analyze {

void find_dcbx_priority_differs(const Snapshot& snapshot, FindingSink& sink) {
  std::map<std::uint8_t, std::vector<const DcbxPort*>> announced;  // by priorities
  for (const DcbxPort& port : snapshot.dcbx.ports) {
    if (const std::uint8_t bits = announced_roce_priorities(port.settings()); bits != 0)
      announced[bits].push_back(&port);
  }
  if (announced.empty()) return;
  const PriorityMap map = announced_map(snapshot);
  const PriorityUse use = priority_use(snapshot, map);
  std::vector<Finding> findings;
  for (const auto& [bits, ports] : announced) {
    const auto outside = static_cast<std::uint8_t>(use.used_by_data() & ~bits);
    if (outside == 0) continue;
    Proof proof;
    std::uint64_t all = 0;
    for (std::uint8_t p = 0; p < 8; ++p) {
      for (std::size_t c = 0; c < traffic_class_count; ++c) {
        const auto kind = static_cast<TrafficClass>(c);
        if (!fills_links(kind)) continue;
        const PriorityUse::Row& row = use.of(p, kind);
        all += row.packets;
        if ((outside >> p & 1U) == 0 || row.packets == 0) continue;
        const std::uint64_t before = proof.count;
        proof.add(&row.first);
        proof.count = before + row.packets;
      }
    }
    const DcbxPort& first = *ports.front();
    const bool guessed = (outside & ~use.guessed_for_data()) == 0;
    Finding finding = finding_of(
        guessed ? Severity::notice : Severity::warning,
        fmt::format("RoCE on {}, announced {}", priority_words(outside), priorities_text(bits)), proof);
    finding.confidence = guessed ? 0.4 : 0.8;
    finding.explanation = fmt::format(
        "By LLDP, port {}{} says that RoCE takes {}; {} that carry RoCE requests or READ responses take {}.",
        port_text(snapshot, first.mac, first.point),
        ports.size() > 1 ? fmt::format(" and {} more", ports.size() - 1) : std::string(),
        priority_words(bits), share_text(proof.count, all), priority_words(outside));
    if (guessed) finding.explanation += guessed_priority_text;
    const auto wanted = static_cast<unsigned>(std::countr_zero(bits));
    finding.advice = fmt::format(
        "Mark RoCE as announced: DSCP {1} for priority {0} (traffic class {2}, with ECT(0)), cma_roce_tos -d "
        "DEV -t {2}, "
        "echo "
        "{2} > /sys/class/infiniband/DEV/tc/1/traffic_class; on tagged frames the VLAN's priority: ip link "
        "set "
        "DEV.VLAN type vlan egress-qos-map {0}:{0}. Or announce what is used: dcb app replace dev DEV "
        "port-prio "
        "4791:{3}, lldptool -T -i DEV -V APP app={3},3,4791. All RoCE packets of these priorities: {4}",
        wanted, dscp_of(map, wanted), traffic_class_for(map, wanted), std::countr_zero(outside),
        packets_command(snapshot, priority_filter(outside, map)));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

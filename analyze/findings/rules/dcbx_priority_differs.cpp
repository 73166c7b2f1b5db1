// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <map>

#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"

namespace roce::analyze {

namespace {

/// For the RoCE version that the announcements name; the other version has its own.
void compare_version(const Snapshot& snapshot, PacketVersion version, std::vector<Finding>& findings) {
  std::map<std::uint8_t, std::vector<const DcbxPort*>> announced;  // by priorities
  for (const DcbxPort& port : snapshot.dcbx.ports) {
    if (const std::uint8_t bits = announced_roce_priorities(port.settings(), version); bits != 0)
      announced[bits].push_back(&port);
  }
  if (announced.empty()) return;
  const PriorityMap map = announced_map(snapshot);
  const PriorityUse use = priority_use(snapshot, map, version);
  const bool v1 = version == PacketVersion::v1;
  for (const auto& [bits, ports] : announced) {
    const auto outside = static_cast<std::uint8_t>(use.used_by_data() & ~bits);
    if (outside == 0) continue;
    const DataOn found = data_on(use, outside);
    const DcbxPort& first = *ports.front();
    const bool guessed = (outside & ~use.guessed_for_data()) == 0;
    Finding finding = finding_of(guessed ? Severity::notice : Severity::warning,
                                 fmt::format("RoCE{} on {}, announced {}", v1 ? " v1" : "",
                                             priority_words(outside), priorities_text(bits)),
                                 found.proof);
    finding.confidence = guessed ? 0.4 : 0.8;
    finding.explanation = fmt::format(
        "DCBX of port {}{} announces RoCE{} on {}, but {} that carry RoCE requests or READ responses use {}.",
        port_text(snapshot, first.mac, first.point),
        ports.size() > 1 ? fmt::format(" and {} more", ports.size() - 1) : std::string(), v1 ? " v1" : "",
        priority_words(bits), share_text(found.proof.count, found.all), priority_words(outside));
    if (guessed) finding.explanation += guessed_priority_text;
    const auto wanted = static_cast<unsigned>(std::countr_zero(bits));
    const std::string mark =
        v1 ? std::string("RoCE v1 has no IP header: tag its frames, ")
           : fmt::format(
                 "Mark RoCE as announced: DSCP {1} for priority {0} (traffic class {2}, with ECT(0)), "
                 "cma_roce_tos -d DEV -t {2}, echo {2} > /sys/class/infiniband/DEV/tc/1/traffic_class; on "
                 "tagged frames the VLAN priority: ",
                 wanted, dscp_of(map, wanted), traffic_class_for(map, wanted));
    const std::string announce =
        v1 ? fmt::format("lldptool -T -i DEV -V APP app={},1,35093", std::countr_zero(outside))
           : fmt::format(
                 "dcb app replace dev DEV port-prio 4791:{0}, lldptool -T -i DEV -V APP app={0},3,4791",
                 std::countr_zero(outside));
    finding.advice = fmt::format(
        "{0}ip link set DEV.VLAN type vlan egress-qos-map {1}:{1}. Or announce what is used: {2}. All RoCE "
        "packets of these priorities: {3}",
        mark, wanted, announce, packets_command(snapshot, priority_filter(outside, map)));
    findings.push_back(std::move(finding));
  }
}

}  // namespace

void find_dcbx_priority_differs(const Snapshot& snapshot, FindingSink& sink) {
  std::vector<Finding> findings;
  for (const PacketVersion version : {PacketVersion::v2, PacketVersion::v1})
    compare_version(snapshot, version, findings);
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze

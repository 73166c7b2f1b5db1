// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/hosts_seen.hpp"
#include "analyze/findings/shared/marked_traffic.hpp"

namespace roce::analyze {
namespace {

/// RoCE v1 has its priority in the tag only, and untagged packets have no PCP.
bool one_without_the_other(const Flow& flow, const Marks& marks) noexcept {
  return is_v2(flow.key.transport) && marks.pcp && (marks.dscp == 0) != (*marks.pcp == 0);
}

/// Packets that one host sends with one DSCP, by PCP; neither of the two is 0.
using Priorities = std::map<std::uint8_t, std::uint64_t>;
using OfHost = std::map<std::pair<dissect::IpAddress, std::uint8_t>, Priorities>;

bool has_both(const Flow& flow, const MarkRow& row) noexcept {
  return is_v2(flow.key.transport) && row.marks.dscp != 0 && row.marks.pcp.value_or(0) != 0;
}

/// A DSCP with only one PCP contradicts nothing and is left out.
OfHost priorities_of(const Snapshot& snapshot) {
  OfHost all;
  for (const Flow& flow : snapshot.flows) {
    for (const MarkRow& row : flow.marks()) {
      if (has_both(flow, row)) all[{flow.key.src, row.marks.dscp}][*row.marks.pcp] += row.packets;
    }
  }
  std::erase_if(all, [](const auto& each) { return each.second.size() < 2; });
  return all;
}

/// The PCP of most of the host's packets with this DSCP, if this row has another one.
std::optional<std::uint8_t> contradicted(const OfHost& all, const Flow& flow, const MarkRow& row) {
  if (all.empty() || !has_both(flow, row)) return std::nullopt;
  const auto of_host = all.find({flow.key.src, row.marks.dscp});
  if (of_host == all.end()) return std::nullopt;
  const auto most = std::max_element(of_host->second.begin(), of_host->second.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first != *row.marks.pcp ? std::optional(most->first) : std::nullopt;
}

/// Whether some DSCP is seen with several PCPs, whoever sends it.
bool several_priorities(const Snapshot& snapshot) {
  std::map<std::uint8_t, std::uint8_t> seen;
  return std::any_of(snapshot.markings.rows.begin(), snapshot.markings.rows.end(), [&](const Marking& row) {
    if (row.dscp == 0 || row.pcp.value_or(0) == 0) return false;
    return seen.emplace(row.dscp, *row.pcp).first->second != *row.pcp;
  });
}

void report_contradictions(const Snapshot& snapshot, FindingSink& sink) {
  if (!several_priorities(snapshot)) return;
  const OfHost all = priorities_of(snapshot);
  MarkedPairs pairs;
  for (const Flow& flow : snapshot.flows) {
    for (const MarkRow& row : flow.marks()) {
      const std::optional<std::uint8_t> usual = contradicted(all, flow, row);
      if (!usual || meant_so(snapshot, flow, row)) continue;
      Marked& marked = marked_of(pairs, flow);
      if (marked.note.empty()) {
        marked.note = fmt::format("{} ({}), while most of its packets with DSCP {} have PCP {}",
                                  label_text(row.marks, true), traffic_class_name(row.traffic_class),
                                  row.marks.dscp, *usual);
      }
      marked.add(flow, row);
    }
  }
  report_marked(sink, snapshot, pairs, [](const Marked& marked) {
    return Words{
        Severity::notice,
        fmt::format(
            "{} from {} to {} {} another VLAN priority than other packets of the same host with the same "
            "DSCP, for example {}. Switches that trust DSCP put them into the same queue, switches that "
            "trust the tag do not, and then at most one of the two is lossless.",
            packets_text(marked.proof.count), address_text(marked.src), address_text(marked.dst),
            verb(marked.proof.count, "has", "have"), marked.note),
        fmt::format(
            "Give all VLAN devices of {} the same map from priorities to PCPs (ip -d link show dev VLAN; ip "
            "link set dev VLAN type vlan egress-qos-map FROM:TO), or let the NIC derive the PCP from the "
            "DSCP (mlnx_qos -i DEV --trust dscp); and check what the switches trust.",
            address_text(marked.src)),
    };
  });
}

}  // namespace

void find_pcp_without_dscp(const Snapshot& snapshot, FindingSink& sink) {
  report_contradictions(snapshot, sink);
  const bool can_be =
      std::any_of(snapshot.markings.rows.begin(), snapshot.markings.rows.end(),
                  [](const Marking& row) { return row.pcp && (row.dscp == 0) != (*row.pcp == 0); });
  if (!can_be) return;
  MarkedPairs pairs;
  for (const Flow& flow : snapshot.flows) {
    for (const MarkRow& row : flow.marks()) {
      if (!one_without_the_other(flow, row.marks)) continue;
      Marked& marked = marked_of(pairs, flow);
      if (marked.note.empty()) {
        marked.note = fmt::format(
            "{} ({}){}", label_text(row.marks, true), traffic_class_name(row.traffic_class),
            row.marks.dscp == 0 ? ": past the first router, and on every switch that trusts DSCP, it is "
                                  "best-effort traffic"
                                : ": on every switch that trusts the tag it is best-effort traffic");
      }
      marked.add(flow, row);
    }
  }
  report_marked(sink, snapshot, pairs, [](const Marked& marked) {
    return Words{
        Severity::notice,
        fmt::format("{} from {} to {} {} a priority in only one of VLAN tag and DSCP, for example {}.",
                    packets_text(marked.proof.count), address_text(marked.src), address_text(marked.dst),
                    verb(marked.proof.count, "has", "have"), marked.note),
        fmt::format("Set both alike on {}: the DSCP through the traffic class (cma_roce_tos, the "
                    "traffic_class file), the tag through the VLAN device's map (ip link set dev VLAN type "
                    "vlan egress 0:0 3:3) or the NIC's (mlnx_qos -i DEV --trust dscp); and check what the "
                    "switches trust.",
                    address_text(marked.src)),
    };
  });
}

}  // namespace roce::analyze

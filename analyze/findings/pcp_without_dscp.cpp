// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyze/findings/hosts.hpp"
#include "analyze/findings/marked.hpp"

namespace roce::analyze {
namespace {

/// RoCE v1 has its priority in the tag only, and untagged packets have none.
bool one_without_the_other(const Flow& flow, const Marks& marks) noexcept {
  return is_v2(flow.key.transport) && marks.pcp && (marks.dscp == 0) != (*marks.pcp == 0);
}

}  // namespace

void find_pcp_without_dscp(const Snapshot& snapshot, FindingSink& sink) {
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
            row.marks.dscp == 0 ? ": behind the first router, and on every switch that trusts DSCP, it is "
                                  "ordinary traffic"
                                : ": on every switch that trusts the tag it is ordinary traffic");
      }
      marked.add(flow, row);
    }
  }
  report_marked(sink, snapshot, pairs, [](const Marked& marked) {
    return Words{
        Severity::notice,
        fmt::format("{} from {} to {} {} a priority in only one of VLAN tag and DSCP, as {}.",
                    packets_text(marked.proof.count), address_text(marked.src), address_text(marked.dst),
                    verb(marked.proof.count, "has", "have"), marked.note),
        fmt::format("Mark both alike on {}: the DSCP by the traffic class (cma_roce_tos, the traffic_class "
                    "file), the tag by the VLAN device's map (ip link set dev VLAN type vlan egress "
                    "0:0 3:3) or the NIC's (mlnx_qos -i DEV --trust dscp); and see what the switches trust.",
                    address_text(marked.src)),
    };
  });
}

}  // namespace roce::analyze

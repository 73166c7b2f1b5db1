// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/marked_traffic.hpp"

namespace roce::analyze {
namespace {

constexpr auto ecn_ce = static_cast<std::uint8_t>(dissect::Ecn::ce);

bool any_row(const Snapshot& snapshot, bool (*test)(const Marking&)) {
  return std::any_of(snapshot.markings.rows.begin(), snapshot.markings.rows.end(), test);
}

void report_congested(const Snapshot& snapshot, FindingSink& sink) {
  MarkedPairs pairs;
  for (const Flow& flow : snapshot.flows) {
    if (flow.opcodes.of(dissect::opcode_cnp) == 0) continue;
    for (const MarkRow& row : flow.marks()) {
      if (row.traffic_class != TrafficClass::cnp) continue;
      if (row.marks.ecn == ecn_ce) marked_of(pairs, flow).add(flow, row, ecn_test_of(row));
    }
  }
  for (auto& [ends, marked] : pairs) marked.of = marked.proof.count;
  report_marked(sink, snapshot, pairs, [](const Marked& marked) {
    return Words{
        Severity::warning,
        fmt::format("{} from {} to {} {} marked CE: CNPs wait in a congested queue, so senders learn of "
                    "congestion late, and a CE mark on a CNP has no effect.",
                    plural(marked.proof.count, "CNP", "CNPs"), address_text(marked.src),
                    address_text(marked.dst), verb(marked.proof.count, "is", "are")),
        "Give CNPs a strict-priority queue without ECN marking on every switch, and send them with its DSCP: "
        "/sys/class/net/DEV/ecn/roce_np/cnp_dscp (48 is usual).",
        "CNPs marked CE",
    };
  });
}

void report_unmarked(const Snapshot& snapshot, FindingSink& sink) {
  const bool marked_data = any_row(snapshot, [](const Marking& row) {
    return carries(row.traffic_class) && !unmarked({row.dscp, row.pcp});
  });
  if (!marked_data) return;
  MarkedPairs pairs;
  for (const Flow& flow : snapshot.flows) {
    const std::uint64_t cnps = flow.opcodes.of(dissect::opcode_cnp);
    if (cnps == 0) continue;
    bool found = false;
    for (const MarkRow& row : flow.marks()) {
      if (row.traffic_class != TrafficClass::cnp || !unmarked(label_of(row.marks))) continue;
      marked_of(pairs, flow).add(flow, row);
      found = true;
    }
    if (found) marked_of(pairs, flow).of += cnps;
  }
  report_marked(sink, snapshot, pairs, [](const Marked& marked) {
    return Words{
        Severity::warning,
        fmt::format("{} from {} to {} {} not marked (DSCP 0), while RoCE data in this capture is: they share "
                    "the best-effort queue and are dropped there under load, and then no sender slows down.",
                    share_text(marked.proof.count, marked.of, "CNPs"), address_text(marked.src),
                    address_text(marked.dst), verb(marked.proof.count, "is", "are")),
        fmt::format("On {}: /sys/class/net/DEV/ecn/roce_np/cnp_dscp (48 is usual) and cnp_802p_prio; give "
                    "that DSCP a strict-priority queue on the switches.",
                    address_text(marked.src)),
    };
  });
}

}  // namespace

void find_cnp_marking(const Snapshot& snapshot, FindingSink& sink) {
  if (!any_row(snapshot, [](const Marking& row) { return row.traffic_class == TrafficClass::cnp; })) return;
  report_congested(snapshot, sink);
  report_unmarked(snapshot, sink);
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/marked_traffic.hpp"

namespace roce::analyze {
namespace {

constexpr unsigned priorities = 7;  // SL & 7 is the PCP of the tag

/// What differs between the packet and the REQ.
enum class Differs : std::uint8_t { no, dscp, priority };

Differs differs(const CmExchange& exchange, const Marks& marks) noexcept {
  if (marks.dscp != exchange.traffic_class >> 2U) return Differs::dscp;
  const bool priority = marks.pcp && *marks.pcp != (exchange.sl & priorities);
  return priority ? Differs::priority : Differs::no;
}

}  // namespace

void find_cm_traffic_class(const Snapshot& snapshot, FindingSink& sink) {
  MarkedPairs pairs;
  for (const Connection& connection : snapshot.connections) {
    const CmExchange* const exchange = exchange_of(snapshot, connection);
    // Without a captured REQ the traffic class is not known: nothing to compare with.
    if (exchange == nullptr || !exchange->req) continue;
    for (unsigned side = 0; side < 2; ++side) {
      const Flow* const flow = flow_of(snapshot, connection, side);
      if (flow == nullptr) continue;
      for (const MarkRow& row : flow->marks()) {
        if (!carries(row.traffic_class) && row.traffic_class != TrafficClass::ack) continue;
        const Differs what = differs(*exchange, row.marks);
        if (what == Differs::no) continue;
        Marked& marked = marked_of(pairs, *flow);
        if (marked.note.empty()) {
          marked.note = fmt::format(
              "the REQ (packet {}) has traffic class {} (DSCP {}) and SL {}, but {} go out with {}",
              exchange->req.frame, exchange->traffic_class, exchange->traffic_class >> 2U, exchange->sl,
              row.traffic_class == TrafficClass::ack ? "acknowledgements" : "data packets",
              label_text(row.marks, true));
        }
        marked.add(*flow, row);
      }
    }
  }
  for (auto& [ends, marked] : pairs) marked.of = marked.proof.count;
  report_marked(sink, snapshot, pairs, [](const Marked& marked) {
    return Words{
        Severity::notice,
        fmt::format("{} from {} to {} {} not marked as the CM negotiated: {}.",
                    packets_text(marked.proof.count), address_text(marked.src), address_text(marked.dst),
                    verb(marked.proof.count, "is", "are"), marked.note),
        fmt::format("The network may re-mark packets on the way to the capture point: capture at {}. "
                    "Otherwise what the CM negotiated (cma_roce_tos -d DEV, rdma_set_option "
                    "RDMA_OPTION_ID_TOS) is overridden there: cat "
                    "/sys/class/infiniband/DEV/tc/1/traffic_class; the PCP follows from SL & 7 or from the "
                    "VLAN device's egress map: ip -d link show VLAN.",
                    address_text(marked.src)),
    };
  });
}

}  // namespace roce::analyze

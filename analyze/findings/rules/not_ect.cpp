// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/marked_traffic.hpp"

namespace roce::analyze {
namespace {

constexpr auto not_ect = static_cast<std::uint8_t>(dissect::Ecn::not_ect);

struct Share {
  std::uint64_t with = 0;  ///< packets that are ECN-capable
  std::uint64_t without = 0;
};

Share share_of(const Snapshot& snapshot) {
  Share share;
  for (const Marking& row : snapshot.markings.rows) {
    if (!carries(row.traffic_class)) continue;
    (row.ecn == not_ect ? share.without : share.with) += row.packets;
  }
  return share;
}

}  // namespace

void find_not_ect(const Snapshot& snapshot, FindingSink& sink) {
  // Without any ECT, ECN is not used here, which is a decision and no mistake; unless there are CNPs, which
  // only CE marks can cause.
  const Share share = share_of(snapshot);
  const std::uint64_t cnps = snapshot.congestion.cnp_packets;
  if (share.without == 0 || (share.with == 0 && cnps == 0)) return;
  const std::string beside = share.with != 0
                                 ? fmt::format("{} of RoCE data in the capture is ECN-capable",
                                               percent_text(share.with, share.with + share.without))
                                 : fmt::format(
                                       "there {} {} in the capture, so receivers see CE marks: a device on "
                                       "the path may clear ECN",
                                       verb(cnps, "is", "are"), plural(cnps, "CNP", "CNPs"));
  MarkedPairs pairs;
  for (const Flow& flow : snapshot.flows) {
    std::uint64_t data = 0;
    std::uint64_t without = 0;
    const std::vector<MarkRow> rows = flow.marks();
    for (const MarkRow& row : rows) {
      if (!carries(row.traffic_class)) continue;
      data += row.packets;
      if (row.marks.ecn == not_ect) without += row.packets;
    }
    if (without == 0) continue;
    Marked& marked = marked_of(pairs, flow);
    marked.of += data;
    for (const MarkRow& row : rows) {
      if (carries(row.traffic_class) && row.marks.ecn == not_ect) marked.add(flow, row, ecn_test_of(row));
    }
  }
  const bool most_use_it = share.with == 0 || share.with >= share.without;
  report_marked(sink, snapshot, pairs, [&](const Marked& marked) {
    return Words{
        most_use_it ? Severity::warning : Severity::notice,
        fmt::format("{} of RoCE data from {} to {} {} Not-ECT, while {}. A congested switch drops Not-ECT "
                    "packets where it would mark others CE, and no CNP slows their sender down.",
                    share_text(marked.proof.count, marked.of), address_text(marked.src),
                    address_text(marked.dst), verb(marked.proof.count, "is", "are"), beside),
        fmt::format("On {}: the low two bits of the traffic class must be 2 (ECT(0)), as in 106 = DSCP 26 x "
                    "4 + 2; ConnectX sets them itself where congestion control is enabled for the priority: "
                    "/sys/class/net/DEV/ecn/roce_np/enable/N and roce_rp/enable/N.",
                    address_text(marked.src)),
    };
  });
}

}  // namespace roce::analyze

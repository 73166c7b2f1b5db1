// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/results/unpaired_connections.hpp"

namespace roce::analyze {
namespace {

/// Services without acknowledgements have no other direction that could be missing.
bool acknowledges(dissect::Service service) noexcept {
  return service == dissect::Service::rc || service == dissect::Service::xrc;
}

/// Longer than answers take: a window that is not answered yet proves nothing, nor do answers to requests
/// that were sent before the capture began.
bool lasts(const Connection& connection) {
  constexpr std::int64_t answered_within_ns = 1'000'000;
  if (connection.first_time_ns == capture::no_time) return true;  // no timestamps
  return span_ns(connection.first_time_ns, connection.last_time_ns) >= answered_within_ns;
}

/// Packets keep coming although no answer was captured, so the answers took another path. A sender that
/// retransmits shows the opposite: nothing answered it.
bool goes_on_unanswered(const Connection& connection, unsigned side) {
  constexpr std::uint64_t enough = 8;
  if (!lasts(connection)) return false;
  const Requester& requester = connection.requester[side];
  if (all_packets(connection, side) < enough || requester.retries_exhausted) return false;
  return 4 * repeats_of(connection.sent[side]) < all_packets(connection, side);
}

}  // namespace

void find_asymmetric_capture(const Snapshot& snapshot, FindingSink& sink) {
  const UnpairedConnections unpaired(snapshot);
  std::vector<Case> cases;
  for (const Connection& connection : snapshot.connections) {
    if (connection.paired() || !acknowledges(connection.service)) continue;
    const unsigned side = seen_side(connection);
    if (!goes_on_unanswered(connection, side) || unpaired.other_may_be_there(connection)) continue;
    Case found;
    found.connection = &connection;
    found.side = side;
    found.proof.count = 1;
    found.proof.add_frame(connection.first_frame);
    found.proof.add_time(connection.first_time_ns);
    found.proof.add_time(connection.last_time_ns);
    // Answers without any request leave no doubt.
    found.confidence = connection.requester[1 - side].seen ? 1 : 0.9;
    cases.push_back(std::move(found));
  }
  report_cases(sink, std::move(cases), [&](const Group& group) {
    const std::uint64_t packets = group.sum([](const Case& c) { return c.connection->packets[c.side]; });
    return Words{
        Severity::notice,
        fmt::format("{}{} from {} were captured and none in the other direction, although the traffic "
                    "continues: the other direction did not pass the capture point. Where packets were lost, "
                    "latencies and which side stopped answering cannot be determined here.",
                    scope_text(group), packets_text(packets), from_text(group)),
        fmt::format(
            "Mirror both directions of the port (rx and tx), or all members of the LAG or ECMP group that "
            "lead to {}; merge two captures with mergecap, or give both files to roceanalyze.",
            to_text(group)),
    };
  });
}

}  // namespace roce::analyze

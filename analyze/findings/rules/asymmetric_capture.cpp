// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/results/unpaired_connections.hpp"

namespace roce::analyze {
void find_asymmetric_capture(const Snapshot& snapshot, FindingSink& sink) {
  const UnpairedConnections unpaired(snapshot);
  std::vector<Case> cases;
  for (const Connection& connection : snapshot.connections) {
    const bool elsewhere = unpaired.other_may_be_there(connection) || unpaired.reached(connection);
    if (!goes_on_unanswered(connection) || elsewhere) continue;
    const unsigned side = seen_side(connection);
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

// SPDX-License-Identifier: Apache-2.0
#include "analyze/connection/incident.hpp"

#include <algorithm>

#include "analyze/connection/connection.hpp"

namespace roce::analyze {

void settle_incidents(std::vector<Incident>& incidents, const std::vector<Connection>& connections) {
  for (Incident& incident : incidents) {
    if (incident.what != IncidentKind::path_silent) continue;
    const auto of = std::lower_bound(connections.begin(), connections.end(), incident.connection,
                                     [](const Connection& each, std::uint32_t id) { return each.id < id; });
    if (of == connections.end() || of->id != incident.connection) continue;
    if (of->requester[incident.side].retries_exhausted) continue;
    incident.what = IncidentKind::timeout;
    incident.over = false;
    incident.leave_open(Undecided::end_not_captured);
  }
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include "analyze/connection/incident.hpp"

#include <algorithm>

#include "analyze/connection/connection.hpp"
#include "analyze/connection/find_connection.hpp"

namespace roce::analyze {

void Incident::absorb(const Incident& more) noexcept {
  end_ns = std::max(end_ns, more.end_ns);
  last_frame = std::max(last_frame, more.last_frame);
  retries = std::max(retries, more.retries);
  lost_row = std::max(lost_row, more.lost_row);
  lost_again += more.lost_again;
  if (more.lost_at_least() != 0) {
    lost_least_bytes =
        lost_at_least() == 0 ? more.lost_least_bytes : std::min(lost_least_bytes, more.lost_least_bytes);
  }
  lost_before += more.lost_before;
  lost_or_missed += more.lost_or_missed;
  lost_after += more.lost_after;
  lost_at_most += more.lost_at_least();
  repeated_packets += more.repeated_packets;
  repeated_bytes += more.repeated_bytes;
  discarded_packets += more.discarded_packets;
  discarded_bytes += more.discarded_bytes;
  selected = selected || more.selected;
  for (std::size_t i = 0; i < silent.size(); ++i) {
    if (more.silent[i].length_ns() > silent[i].length_ns()) silent[i] = more.silent[i];
  }
}

void settle_incidents(std::vector<Incident>& incidents, const std::vector<Connection>& connections) {
  for (Incident& incident : incidents) {
    if (incident.what != IncidentKind::path_silent) continue;
    const Connection* const of = find_connection(connections, incident.connection);
    if (of == nullptr || of->requester[incident.side].retries_exhausted) continue;
    incident.what = IncidentKind::timeout;
    incident.over = false;
    incident.leave_open(Undecided::end_not_captured);
  }
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include "gui/models/incident_tables.hpp"

#include <algorithm>

#include "capture/core/frame.hpp"

namespace roce::gui {

analyze::Severity severity_of(const analyze::Incident& incident) noexcept {
  using enum analyze::IncidentKind;
  switch (incident.what) {
    case refused_request:
    case rnr_exhausted:
    case path_silent:
      return analyze::Severity::error;
    case needless_repeat:
    case slow_responder:
    case unexplained:
      return analyze::Severity::notice;
    default:
      return analyze::Severity::warning;
  }
}

std::string IncidentTable::key(std::size_t i) const {
  return std::to_string(rows_[i]->first_frame) + ' ' + std::to_string(rows_[i]->connection) + ' ' +
         std::to_string(rows_[i]->side);
}

std::optional<TimeSpan> IncidentTable::time(std::size_t i) const {
  const analyze::Incident& incident = *rows_[i];
  if (incident.start_ns == capture::no_time) return std::nullopt;
  return TimeSpan{incident.start_ns, std::max(incident.start_ns, incident.end_ns)};
}

}  // namespace roce::gui

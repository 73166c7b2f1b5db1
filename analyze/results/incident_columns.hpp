// SPDX-License-Identifier: Apache-2.0
// The table of incidents, see columns.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/connection/connection.hpp"
#include "analyze/connection/incident.hpp"
#include "analyze/results/columns.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// An incident in its capture. Refers to the snapshot, which must outlive it.
struct IncidentRow {
  const Incident* incident = nullptr;
  const Connection* connection = nullptr;  ///< null if it is not listed
  std::int64_t begin_ns = 0;               ///< of the capture
  std::string dropped_at;  ///< where a switch says that it dropped what is lost; empty: none told of it

  [[nodiscard]] const Incident& operator*() const noexcept { return *incident; }
  [[nodiscard]] const Incident* operator->() const noexcept { return incident; }
};

/// Those of all connections, or of one, by id.
[[nodiscard]] std::vector<IncidentRow> incident_rows(const Snapshot& snapshot,
                                                     std::optional<std::uint32_t> connection = std::nullopt);

using IncidentColumn = Column<IncidentRow>;
[[nodiscard]] std::span<const IncidentColumn> incident_columns() noexcept;

// Of an incident, in the field's words.

/// "loss upstream", "timeout, request or answer lost"
[[nodiscard]] std::string incident_what_text(const Incident& incident);
/// "sequence NAK after 61.0 µs", "timer after 67.1 ms, 3 times"
[[nodiscard]] std::string incident_learned_text(const Incident& incident);
/// "2 lost, 79 repeated (84.1 kB), 77 discarded"
[[nodiscard]] std::string incident_cost_text(const Incident& incident);
/// "1", "1 to 3", "up to 3"
[[nodiscard]] std::string incident_lost_text(const Incident& incident);

}  // namespace roce::analyze

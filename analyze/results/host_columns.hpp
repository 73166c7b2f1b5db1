// SPDX-License-Identifier: Apache-2.0
// Hosts: the addresses that connections have at their ends, with what went wrong there. One row a column, see
// columns.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/results/columns.hpp"
#include "analyze/results/finding.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

struct HostRow {
  std::string address;
  std::uint64_t connections = 0;
  std::uint64_t sent_packets = 0;
  std::uint64_t sent_bytes = 0;   ///< on the wire
  std::uint64_t resent = 0;       ///< packets it sent again
  std::uint64_t lost = 0;         ///< transmissions it sent that were lost
  std::uint64_t naks = 0;         ///< it received, RNR NAKs included
  std::optional<Severity> worst;  ///< of the findings that name its connections
};

/// Those with most trouble first, then by bytes. Only hosts with connections.
[[nodiscard]] std::vector<HostRow> host_rows(const Snapshot& snapshot);

using HostColumn = Column<HostRow>;
[[nodiscard]] std::span<const HostColumn> host_columns() noexcept;

/// By place in Snapshot::connections: the worst finding that names it. A failed one is an error whatever was
/// found.
[[nodiscard]] std::vector<std::optional<Severity>> connection_severities(const Snapshot& snapshot);

}  // namespace roce::analyze

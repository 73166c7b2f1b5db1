// SPDX-License-Identifier: Apache-2.0
// The table of hosts, i.e. addresses with connections, and their errors; see columns.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/results/columns.hpp"
#include "analyze/results/finding.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

struct HostRow {
  std::string address;
  std::uint64_t connections = 0;
  std::uint64_t sent_packets = 0;
  std::uint64_t sent_bytes = 0;          ///< on the wire
  std::uint64_t resent = 0;              ///< packets it retransmitted
  std::uint64_t lost = 0;                ///< transmissions it sent that were lost
  std::uint64_t naks = 0;                ///< NAKs it received, including RNR NAKs
  std::optional<Severity> worst;         ///< of the findings about its connections
  std::optional<std::size_t> diagnosis;  ///< index of the worst that lies on its side
  std::string_view cause;                ///< of that diagnosis
};

/// The hosts on whose side the worst diagnoses lie first, then those with most errors, then by bytes. Only
/// hosts with connections.
[[nodiscard]] std::vector<HostRow> host_rows(const Snapshot& snapshot);

using HostColumn = Column<HostRow>;
[[nodiscard]] std::span<const HostColumn> host_columns() noexcept;

/// By index in Snapshot::connections: the worst finding about it. A failed connection always has
/// Severity::error.
[[nodiscard]] std::vector<std::optional<Severity>> connection_severities(const Snapshot& snapshot);

}  // namespace roce::analyze

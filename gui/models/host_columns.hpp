// SPDX-License-Identifier: Apache-2.0
// Hosts: the addresses that connections have at their ends, with what went wrong there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/columns.hpp"
#include "analyze/finding.hpp"
#include "analyze/snapshot.hpp"

namespace roce::gui {

struct Host {
  std::string address;
  std::uint64_t connections = 0;
  std::uint64_t sent_packets = 0;
  std::uint64_t sent_bytes = 0;            ///< on the wire
  std::uint64_t resent = 0;                ///< packets it sent again
  std::uint64_t lost = 0;                  ///< transmissions it sent that were lost
  std::uint64_t naks = 0;                  ///< it received, RNR NAKs included
  std::optional<analyze::Severity> worst;  ///< of the findings that name its connections
};

/// Those with most trouble first, then by bytes. Only hosts with connections.
[[nodiscard]] std::vector<Host> hosts_of(const analyze::Snapshot& snapshot);

[[nodiscard]] std::span<const analyze::Column<Host>> host_columns() noexcept;

}  // namespace roce::gui

// SPDX-License-Identifier: Apache-2.0
// The table of paths, see columns.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyze/base/histogram.hpp"
#include "analyze/flow/path_shares.hpp"
#include "analyze/results/columns.hpp"
#include "analyze/results/snapshot.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// All that one host sends to another with the same UDP source port, flow label, source MAC address and
/// segment: what a fabric that balances load by headers sends one way.
struct PathRow {
  dissect::IpAddress src;
  dissect::IpAddress dst;
  FlowPath path;
  std::optional<dissect::IpAddress> segment;  ///< outer IPv6 destination: an SRv6 segment, or a tunnel's end
  /// False: what flows of several paths had, of which nobody can tell on which: losses, repeats.
  bool told = true;

  std::uint64_t flows = 0;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ce = 0;
  std::uint64_t late = 0;
  std::uint64_t retransmitted = 0;
  LossCounts lost{};
  Histogram latency_ns;          ///< of operations that were requested on it
  std::uint64_t fastest_ns = 0;  ///< from a request to its response; 0 = unknown
  std::uint64_t pair_bytes = 0;  ///< of all paths from src to dst
  std::uint64_t pair_paths = 0;  ///< number of these

  /// Its bytes as a multiple of what it would have if all paths between the two had the same; 0 = only path.
  [[nodiscard]] double load() const noexcept {
    if (pair_paths < 2 || pair_bytes == 0) return 0;
    return static_cast<double>(bytes) * static_cast<double>(pair_paths) / static_cast<double>(pair_bytes);
  }
};

/// By source, destination and path.
[[nodiscard]] std::vector<PathRow> path_rows(const Snapshot& snapshot);

using PathColumn = Column<PathRow>;
[[nodiscard]] std::span<const PathColumn> path_columns() noexcept;

/// The display filter that selects its packets; of a row of several paths, those between its hosts.
[[nodiscard]] std::string path_filter(const PathRow& row);

/// "UDP source port 51234", "UDP source port 51234, flow label 0x012345, segment fd00::7".
[[nodiscard]] std::string path_text(const PathRow& row);

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// The table of pairs of hosts, see columns.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyze/base/histogram.hpp"
#include "analyze/packet/verdict.hpp"
#include "analyze/results/columns.hpp"
#include "analyze/results/snapshot.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// All that one host sends to another, and what became of it: the sum of its paths (path_columns.hpp).
struct HostPairRow {
  dissect::IpAddress src;
  dissect::IpAddress dst;
  std::uint64_t connections = 0;  ///< between the two, in either direction
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;          ///< on the wire
  std::uint64_t goodput_bytes = 0;  ///< of messages that src requested: without repeats
  std::uint64_t ce = 0;
  std::uint64_t cnps = 0;  ///< sent by dst: src is to slow down
  std::uint64_t late = 0;
  std::uint64_t retransmitted = 0;
  LossCounts lost{};
  std::uint64_t naks = 0;         ///< received by src, RNR NAKs included
  std::uint64_t wrong_marks = 0;  ///< packets with markings that the policy forbids
  Histogram latency_ns;           ///< of operations that src requested

  /// Transmissions, those among them that were lost before the capture saw them.
  [[nodiscard]] std::uint64_t sent() const noexcept {
    return packets + lost[static_cast<std::size_t>(Lost::before_capture)];
  }
};

/// By source and destination.
[[nodiscard]] std::vector<HostPairRow> host_pair_rows(const Snapshot& snapshot);

using HostPairColumn = Column<HostPairRow>;
[[nodiscard]] std::span<const HostPairColumn> host_pair_columns() noexcept;

/// The display filter that selects its packets.
[[nodiscard]] std::string host_pair_filter(const HostPairRow& row);

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// The table of connections (see columns.hpp), and the figures of a connection that are sums of its two flows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/connection/connection.hpp"
#include "analyze/flow/flow.hpp"
#include "analyze/results/columns.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// A connection with its flows and its CM exchange. Refers to the snapshot, which must outlive it.
class ConnectionRow {
 public:
  ConnectionRow(const Snapshot& snapshot, const Connection& connection) noexcept;

  [[nodiscard]] const Connection& operator*() const noexcept { return *connection_; }
  [[nodiscard]] const Connection* operator->() const noexcept { return connection_; }
  /// The flow sent by side 0 (a) or 1 (b); null if it was not captured or is not listed.
  [[nodiscard]] const Flow* flow(std::size_t side) const noexcept { return flows_[side]; }
  [[nodiscard]] const CmExchange* cm() const noexcept { return cm_; }

  /// Sums over both directions.
  [[nodiscard]] std::uint64_t packets() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;          ///< on the wire
  [[nodiscard]] std::uint64_t goodput_bytes() const noexcept;  ///< message bytes without retransmissions
  [[nodiscard]] std::uint64_t acks() const noexcept;
  [[nodiscard]] std::uint64_t cnps() const noexcept;
  [[nodiscard]] NakCounts naks() const noexcept;  ///< as Requester::naks
  [[nodiscard]] SequenceCounts sequence() const noexcept;
  [[nodiscard]] std::uint64_t lost() const noexcept;  ///< transmissions, wherever they were lost
  [[nodiscard]] double goodput_bps() const noexcept;  ///< from its first to its last packet
  [[nodiscard]] double throughput_bps() const noexcept;
  /// Latency of all operations of that kind; of all kinds with OperationKind::count_.
  [[nodiscard]] Histogram latency_ns(OperationKind kind = OperationKind::count_) const;
  /// A measure of errors, for lists with the degraded connections first. 0 = none.
  [[nodiscard]] std::uint64_t trouble() const noexcept;

 private:
  const Connection* connection_;
  std::array<const Flow*, 2> flows_{};
  const CmExchange* cm_ = nullptr;
};

/// A row for each connection, by id. Refers to the snapshot.
[[nodiscard]] std::vector<ConnectionRow> connection_rows(const Snapshot& snapshot);

using ConnectionColumn = Column<ConnectionRow>;

[[nodiscard]] std::span<const ConnectionColumn> connection_columns() noexcept;
[[nodiscard]] const ConnectionColumn* find_connection_column(std::string_view name) noexcept;

}  // namespace roce::analyze

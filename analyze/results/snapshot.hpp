// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/base/series.hpp"
#include "analyze/cm/cm_exchange.hpp"
#include "analyze/connection/clock_offset.hpp"
#include "analyze/connection/congestion.hpp"
#include "analyze/connection/connection.hpp"
#include "analyze/flow/flow.hpp"
#include "analyze/flow/flow_at_point.hpp"
#include "analyze/flow/marking_matrix.hpp"
#include "analyze/link/dcbx.hpp"
#include "analyze/link/pauses.hpp"
#include "analyze/link/priority_map.hpp"
#include "analyze/policy/violations.hpp"
#include "analyze/record/diagnostics.hpp"
#include "analyze/record/totals.hpp"
#include "analyze/results/finding.hpp"
#include "capture/core/source.hpp"

namespace roce::analyze {

/// All that front ends ever see of an analysis: whole, immutable, shared between threads freely.
struct Snapshot {
  bool final = true;                          ///< false while the capture is still being read
  bool icrc_checked = true;                   ///< false with --no-icrc
  std::uint64_t frames_read = 0;              ///< totals.packets and what a filter or time range left out
  std::optional<std::int64_t> first_read_ns;  ///< time of the first frame that has one, left out or not
  std::uint64_t skipped_packets = 0;          ///< that could not be read at all: see capture::Statistics
  std::string filter;                         ///< as typed, empty without
  /// Options with which `packets` looks at the same packets in the same way, each with a blank before it.
  std::string same_packets;
  Totals totals;
  std::vector<capture::FileInfo> files;
  std::vector<capture::InterfaceInfo> interfaces;
  std::vector<Flow> flows;          ///< by id
  std::uint64_t evicted_flows = 0;  ///< flows that left the bounded table, and their packets
  std::uint64_t evicted_packets = 0;
  Departed departed;  ///< what these had counted
  /// By flow, then by point; only in captures of several points.
  std::vector<FlowAtPoint> flow_points;
  std::uint64_t flow_points_dropped = 0;  ///< packets of flows beyond its bound
  std::vector<Connection> connections;    ///< by id; every RC, UC, XRC and RD flow belongs to one
  std::vector<ClockOffset> clocks;        ///< of capture points that show the same packets
  std::vector<CmExchange> exchanges;      ///< by first message
  Series series;                          ///< of all RDMA packets
  Pauses pauses;                          ///< PAUSE and PFC
  DcbxTable dcbx;                         ///< what LLDP announces
  PriorityMap priorities;                 ///< which priority a packet takes
  MarkingMatrix markings;                 ///< of the listed flows
  Congestion congestion;
  std::shared_ptr<const MarkingPolicy> policy;  ///< that packets were judged by; null: none
  std::vector<RuleBreach> breaches;             ///< of its rules
  std::vector<Finding> findings;                ///< most severe first
  std::uint64_t findings_dropped = 0;           ///< beyond the bound
  std::vector<Diagnostic> diagnostics;
  std::vector<capture::Error> errors;  ///< inputs that failed, also in diagnostics

  /// What the capture's own statistics say was lost, and packets that it holds in vain; absent if it holds
  /// no statistics.
  [[nodiscard]] std::optional<std::uint64_t> dropped() const noexcept;
};

/// Packets of a flow that another capture point shows marked CE, where none is at the point that the flow is
/// followed at: those of the point that shows most.
[[nodiscard]] std::uint64_t ce_copies(const Snapshot& snapshot, std::uint64_t flow) noexcept;
/// The same of all flows and points.
[[nodiscard]] std::uint64_t ce_copies(const Snapshot& snapshot) noexcept;

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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
#include "analyze/connection/coverage.hpp"
#include "analyze/connection/incident.hpp"
#include "analyze/exports/exports.hpp"
#include "analyze/flow/flow.hpp"
#include "analyze/flow/flow_at_point.hpp"
#include "analyze/flow/marking_matrix.hpp"
#include "analyze/link/dcbx.hpp"
#include "analyze/link/pauses.hpp"
#include "analyze/link/priority_map.hpp"
#include "analyze/numbered/numbered.hpp"
#include "analyze/policy/violations.hpp"
#include "analyze/record/diagnostics.hpp"
#include "analyze/record/totals.hpp"
#include "analyze/results/completeness.hpp"
#include "analyze/results/diagnosis.hpp"
#include "analyze/results/finding.hpp"
#include "capture/core/source.hpp"

namespace roce::analyze {

struct Mrc;

/// The complete result of an analysis, for command line and window. Immutable, so threads may share it.
struct Snapshot {
  bool final = true;  ///< false while the capture is still being read
  /// Reading was ended before the end of the input, for this reason:
  bool interrupted = false;
  capture::StopReason stop_reason = capture::StopReason::request;
  bool icrc_checked = true;                   ///< false with --no-icrc
  std::uint64_t trimmed_dscps = 0;            ///< that switches give to what they trim: as bits, by the user
  std::uint64_t frames_read = 0;              ///< totals.packets plus those left out by filter or time range
  std::optional<std::int64_t> first_read_ns;  ///< time of the first frame with one, left out or not
  std::uint64_t skipped_packets = 0;          ///< packets that could not be read: see capture::Statistics
  std::string filter;                         ///< as typed, empty without
  /// Options for `packets` to show the same packets in the same way, each with a blank before it.
  std::string same_packets;
  Totals totals;
  std::vector<capture::FileInfo> files;
  std::vector<capture::InterfaceInfo> interfaces;
  std::vector<Flow> flows;          ///< by id
  std::uint64_t evicted_flows = 0;  ///< flows evicted from the table, and their packets
  std::uint64_t evicted_packets = 0;
  Departed departed;                 ///< sums over the evicted flows
  std::vector<StrayPackets> strays;  ///< damaged packets of no flow
  /// By flow, then by point; only in captures of several points.
  std::vector<FlowAtPoint> flow_points;
  std::uint64_t flow_points_dropped = 0;         ///< packets of flows beyond the limit of flow_points
  std::vector<Connection> connections;           ///< by id; every RC, UC, XRC and RD flow belongs to one
  std::vector<Incident> incidents;               ///< by id: those with a selected packet
  std::uint64_t incidents_dropped = 0;           ///< beyond the limit of a connection, or of all
  std::uint64_t incidents_in_progress = 0;       ///< of these, if not final: what comes may still change them
  std::vector<ClockOffset> clocks;               ///< of capture points with common packets
  std::vector<CmExchange> exchanges;             ///< by first message
  Series series;                                 ///< of all RDMA packets
  Pauses pauses;                                 ///< PAUSE and PFC
  DcbxTable dcbx;                                ///< LLDP announcements
  PriorityMap priorities;                        ///< priorities of packets
  Exports exports;                               ///< what switches say of packets that were not captured here
  std::shared_ptr<const Mrc> mrc;                ///< what there is of MRC; null: nothing
  Numbered numbered;                             ///< shells and mirrors, by their own numbers
  std::array<std::uint64_t, 256> mad_classes{};  ///< MADs by management class
  MarkingMatrix markings;                        ///< of the listed flows
  Congestion congestion;
  CaptureGaps gaps;                             ///< what the capture does not have: for `completeness`
  Completeness completeness;                    ///< what the capture can bear
  std::shared_ptr<const MarkingPolicy> policy;  ///< packets were validated against it; null: none
  std::vector<RuleViolation> violations;        ///< violations of its rules
  std::vector<Finding> findings;                ///< most severe first
  std::uint64_t findings_dropped = 0;           ///< findings beyond the limit
  std::vector<Diagnosis> diagnoses;             ///< worst first
  std::vector<Diagnostic> diagnostics;
  std::vector<capture::Error> errors;  ///< inputs that failed, also in diagnostics

  /// Packets dropped by the capture by its own statistics, and packets that could not be read; absent if it
  /// has no statistics.
  [[nodiscard]] std::optional<std::uint64_t> dropped() const noexcept;

  /// False if anything could not be read, kept or judged: reading was interrupted, an input failed, or there
  /// is a diagnostic above info. The results then speak for the rest only, and nothing is called good.
  [[nodiscard]] bool complete() const noexcept;

  /// Id of the flow that a connection has in that direction (0: from a to b). Queue pair numbers that are
  /// used again have several flows of one key; only the connection tells which one a packet is of.
  [[nodiscard]] std::optional<std::uint64_t> flow_of(std::uint64_t connection, unsigned side) const noexcept;
};

/// CE-marked packets of a flow at another capture point, if there are none at the point where the flow is
/// followed; of the point with most of them.
[[nodiscard]] std::uint64_t ce_copies(const Snapshot& snapshot, std::uint64_t flow) noexcept;
/// The sum over all flows.
[[nodiscard]] std::uint64_t ce_copies(const Snapshot& snapshot) noexcept;

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyze/cm/cm_tracker.hpp"
#include "analyze/exports/export_tracker.hpp"
#include "analyze/flow/flow_points.hpp"
#include "analyze/mrc/mrc_tracker.hpp"
#include "analyze/numbered/numbered_tracker.hpp"
#include "analyze/pipeline/analysis.hpp"
#include "analyze/pipeline/clock_steps.hpp"
#include "analyze/pipeline/idle_watch.hpp"
#include "analyze/pipeline/link_follower.hpp"
#include "analyze/record/outer_counts.hpp"
#include "analyze/record/time_order.hpp"
#include "analyze/record/totals.hpp"
#include "analyze/tracker/tracker.hpp"
#include "capture/core/source.hpp"

// Internal to the pipeline.
namespace roce::analyze {

/// Facts of a source at one moment; the source itself is changed by reading, on another thread.
struct SourceFacts {
  std::vector<capture::FileInfo> files;
  std::vector<capture::InterfaceInfo> interfaces;
  capture::Statistics statistics;
  std::vector<capture::Error> errors;                              ///< read errors so far
  bool interrupted = false;                                        ///< reading was ended before the end
  capture::StopReason stop_reason = capture::StopReason::request;  ///< of that
  bool any_time = false;                                           ///< some frame had a time; the first one:
  std::int64_t first_time_ns = 0;
  ClockSteps clock_steps;

  void read(const capture::CaptureSource& source) {
    files = source.files();
    interfaces = source.interfaces();
    statistics = source.statistics();
  }
};

/// State of the analysis after the packets followed so far. A copy is independent and may be concluded on any
/// thread: it shares only the options, which must outlive both.
struct AnalysisState {
  AnalysisState(const AnalysisOptions& analysis, bool shows_copies, LinkFollower::SpeedOf speed_of);

  /// Follows the packets in `order` that are due; everything with `all`.
  void follow_ordered(bool all);

  const AnalysisOptions& options;
  Tracker tracker;
  CmTracker managers;
  IdleWatch idle;
  TimeOrder order;
  FlowPoints points;
  OuterCounts outer;
  LinkFollower links;
  ExportTracker exports;
  MrcTracker mrc;
  NumberedTracker numbered;
  std::array<std::uint64_t, 256> mad_classes{};  ///< MADs by management class
  Totals totals;
  std::uint64_t frames = 0;
};

/// Makes the snapshot as if the capture ended here.
[[nodiscard]] std::shared_ptr<Snapshot> conclude(AnalysisState&& followed, SourceFacts&& facts);

}  // namespace roce::analyze

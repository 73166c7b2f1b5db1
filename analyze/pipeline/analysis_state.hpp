// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analyze/cm/cm_tracker.hpp"
#include "analyze/flow/flow_points.hpp"
#include "analyze/pipeline/analysis.hpp"
#include "analyze/pipeline/clock_steps.hpp"
#include "analyze/pipeline/idle_watch.hpp"
#include "analyze/pipeline/link_follower.hpp"
#include "analyze/record/time_order.hpp"
#include "analyze/record/totals.hpp"
#include "analyze/tracker/tracker.hpp"
#include "capture/core/source.hpp"

// Internal to the pipeline.
namespace roce::analyze {

/// What a source says of itself, at one moment. Reading on changes it, on another thread.
struct SourceFacts {
  std::vector<capture::FileInfo> files;
  std::vector<capture::InterfaceInfo> interfaces;
  capture::Statistics statistics;
  std::vector<capture::Error> errors;  ///< that reading has met so far
  bool any_time = false;               ///< a frame had one; the first of them:
  std::int64_t first_time_ns = 0;
  ClockSteps clock_steps;

  void read(const capture::CaptureSource& source) {
    files = source.files();
    interfaces = source.interfaces();
    statistics = source.statistics();
  }
};

/// All that is known of the packets followed so far. A copy goes its own way and may be concluded on any
/// thread while this goes on: it shares nothing but the options, which outlive both.
struct Followed {
  Followed(const AnalysisOptions& analysis, bool shows_copies, LinkWatch::SpeedOf speed_of);

  /// Follows what waits for its place in the order of time; everything if `all`.
  void follow_ordered(bool all);

  const AnalysisOptions& options;
  Tracker tracker;
  CmTracker managers;
  IdleWatch idle;
  TimeOrder order;
  FlowPoints points;
  LinkWatch links;
  Totals totals;
  std::uint64_t frames = 0;
};

/// The report, as if the capture ended here.
[[nodiscard]] std::shared_ptr<Snapshot> conclude(Followed&& followed, SourceFacts&& facts);

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "analyze/link/dcbx.hpp"
#include "analyze/link/pause_tracker.hpp"
#include "analyze/link/priority_map.hpp"
#include "analyze/pipeline/analysis.hpp"
#include "analyze/pipeline/batch.hpp"
#include "analyze/pipeline/dissect_stage.hpp"

// Internal to the pipeline.
namespace roce::analyze {

/// Follows link control frames (PAUSE, PFC, LLDP) and packets during pauses. Frames of one point are in order
/// and points are independent, so TimeOrder is not needed. Batches must come in order.
class LinkFollower {
 public:
  /// Speed of an interface in bit/s, 0 = unknown.
  using SpeedOf = std::function<std::uint64_t(std::uint16_t interface)>;
  LinkFollower(const AnalysisOptions& options, SpeedOf speed_of);

  /// Processes a batch whose packets are dissected and selected.
  void watch(Batch& batch, const DissectStage& stage);
  /// Ends the analysis and writes the results.
  void publish(Snapshot& snapshot, Totals& totals);

 private:
  void see_control(Batch& batch, std::size_t i, const DissectStage& stage);

  PriorityMap priorities_;
  SpeedOf speed_of_;
  PauseTracker pauses_;
  DcbxTracker links_;
};

}  // namespace roce::analyze

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

/// What ports tell each other (PAUSE, PFC, LLDP), and what comes while they have paused somebody. A point's
/// frames are in its order, and points do not mix, so this needs no TimeOrder. Batches come in order.
class LinkWatch {
 public:
  /// Bits a second of an interface, 0 = unknown.
  using SpeedOf = std::function<std::uint64_t(std::uint16_t interface)>;
  LinkWatch(const AnalysisOptions& options, SpeedOf speed_of);

  /// A batch whose packets are dissected and selected.
  void watch(Batch& batch, const DissectStage& stage);
  /// Ends it.
  void publish(Snapshot& snapshot, Totals& totals);

 private:
  void see_control(Batch& batch, std::size_t i, const DissectStage& stage);

  PriorityMap priorities_;
  SpeedOf speed_of_;
  PauseTracker pauses_;
  DcbxTracker links_;
};

}  // namespace roce::analyze

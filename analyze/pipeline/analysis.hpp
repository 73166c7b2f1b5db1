// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "analyze/base/time_bound.hpp"
#include "analyze/filter/filter.hpp"
#include "analyze/flow/psn_marks.hpp"
#include "analyze/link/pauses.hpp"
#include "analyze/link/priority_map.hpp"
#include "analyze/packet/packet_summary.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "analyze/results/snapshot.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissect.hpp"

namespace roce::analyze {

/// Options of analyze(). Pointers are not owned and must outlive the call.
struct AnalysisOptions {
  unsigned jobs = 0;  ///< threads, 0 = one per core; never changes the result
  bool check_icrc = true;
  std::string filter_text;                      ///< text of `filter`, for the report
  std::string same_packets;                     ///< see Snapshot
  const Filter* filter = nullptr;               ///< only matching packets are counted; null: all
  TimeRange times;                              ///< packets outside are left out
  std::shared_ptr<const MarkingPolicy> policy;  ///< packets are validated against it; null: none
  std::size_t flow_limit = default_flow_limit;
  std::size_t epoch_frames = 4096;  ///< maximum frames per batch, so that a batch stays in the CPU cache
  dissect::Options dissecting;
  bool short_way = true;             ///< see TrackerOptions
  VerdictStore* verdicts = nullptr;  ///< receives the verdict of each packet; null: none
  TakeSummaries summaries;           ///< called on the calling thread; may be empty
  /// Sees all packets, whatever is selected, on the calling thread; null: none.
  PsnMarks* marks = nullptr;
  VerdictStore* known = nullptr;  ///< verdicts of a former analysis of the same files, for the filter
  /// That analysis was interrupted, and so is this one, for this reason:
  bool known_interrupted = false;
  capture::StopReason known_stop_reason = capture::StopReason::request;
  /// It saw the capture end then: who gave up is told by the silence that followed.
  std::optional<std::int64_t> known_end_ns;
  std::uint64_t link_speed_bps = 0;                ///< of links with pauses; 0 = as recorded in the capture
  std::int64_t pause_storm_ns = default_storm_ns;  ///< a pause this long is a storm
  WatchdogTimes pfc_watchdog;                      ///< of the switches; none: not known
  PriorityMap priorities;                          ///< priorities of packets
  // For live captures, which may run for days:
  /// Flows and connections that are idle for so long, by packet times, are no longer followed; 0 = never. See
  /// Tracker::retire_idle().
  std::chrono::nanoseconds idle_limit{0};
  std::size_t exchange_limit = default_exchange_limit;  ///< CM exchanges; the oldest are dropped
  /// Frames come as they are captured. Steps of the clock of their timestamps are detected by `clock`, and
  /// later times are corrected by the step.
  bool live = false;

  /// Called between batches on the calling thread, with the source for its progress. With `publish`, not
  /// called while the source waits for frames.
  std::function<void(const capture::CaptureSource&, std::uint64_t frames)> progress;

  /// Receives interim snapshots: the same as if the capture ended after so many frames, but `final` is false.
  /// Called on a separate thread, one call at a time; the last call has returned when analyze() returns. It
  /// may take any time: the analysis continues, further snapshots wait. An exception ends the snapshots, and
  /// analyze() rethrows it at its end.
  std::function<void(std::shared_ptr<const Snapshot>)> publish;
  /// Minimum interval between snapshots, if frames have come. Longer if making snapshots would take more than
  /// a tenth of the time.
  std::chrono::nanoseconds publish_every{std::chrono::milliseconds{250}};
  /// The clock for these intervals; called on any thread.
  std::function<std::chrono::steady_clock::time_point()> clock = std::chrono::steady_clock::now;
};

/// Default options for a live capture: smaller tables, so that frequent snapshots are possible, and idle
/// flows are retired after five minutes.
[[nodiscard]] AnalysisOptions live_analysis();

/// Reads `source` to its end (or until `stop`) and returns the results. Never fails: inputs that cannot be
/// read further are in the snapshot's errors. A source that was stopped before its end makes the snapshot
/// `interrupted`, but not with `live`: a live capture has no other end.
[[nodiscard]] std::shared_ptr<const Snapshot> analyze(capture::CaptureSource& source,
                                                      const AnalysisOptions& options,
                                                      const std::stop_token& stop = {});

}  // namespace roce::analyze

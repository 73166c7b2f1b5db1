// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "analyze/base/time_bound.hpp"
#include "analyze/filter/filter.hpp"
#include "analyze/link/pauses.hpp"
#include "analyze/link/priority_map.hpp"
#include "analyze/packet/packet_summary.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "analyze/results/snapshot.hpp"
#include "capture/core/source.hpp"

namespace roce::analyze {

struct AnalysisOptions {
  unsigned jobs = 0;  ///< threads, 0 = one a core; never changes the result
  bool check_icrc = true;
  std::string filter_text;                      ///< of `filter`, for the report
  std::string same_packets;                     ///< see Snapshot
  const Filter* filter = nullptr;               ///< only what matches is analysed
  TimeRange times;                              ///< what lies outside is left out
  std::shared_ptr<const MarkingPolicy> policy;  ///< what packets are judged by; null: nothing
  std::size_t flow_limit = default_flow_limit;
  std::size_t epoch_frames = 4096;    ///< handled at once, at most; they and their records stay in the cache
  std::uint8_t roce_ip_protocol = 0;  ///< see dissect::Options
  bool short_way = true;              ///< see TrackerOptions
  VerdictStore* verdicts = nullptr;   ///< takes what is said of each packet
  TakeGlances glances;                ///< called on the calling thread; empty: nobody wants them
  VerdictStore* known = nullptr;      ///< what an analysis of the same files said, for the filter
  std::uint64_t link_speed_bps = 0;   ///< of the links that pauses are about; 0 = what the capture says
  std::int64_t pause_storm_ns = default_storm_ns;  ///< a pause this long is a storm
  PriorityMap priorities;                          ///< which priority a packet takes
  // For live captures, which go on for days:
  /// Flows and connections without a packet for so long, in packets' time, are no longer followed; 0 = never.
  /// See Tracker::retire_idle().
  std::chrono::nanoseconds idle_limit{0};
  std::size_t exchange_limit = default_exchange_limit;  ///< of connection managers: the oldest go
  /// Frames come as they are captured. Then `clock` shows where the clock that stamps them was set, and
  /// times behind that are taken as by the clock before.
  bool live = false;

  /// Called between epochs on the calling thread, with the source for its progress. While a source that may
  /// wait does, with `publish`, calls are left out.
  std::function<void(const capture::CaptureSource&, std::uint64_t frames)> progress;

  /// Takes interim snapshots: just what the report would be if the capture ended after so many frames, but
  /// `final` is false. Called on a thread of its own, one call at a time; the last has returned when
  /// analyze() does. May take as long as it likes: meanwhile there are no others, and following goes on.
  /// What it throws ends the snapshots, and analyze() throws it in the end.
  std::function<void(std::shared_ptr<const Snapshot>)> publish;
  /// From one copy to the next, at least, if frames have come. Longer where making snapshots would take
  /// more than a tenth of the time.
  std::chrono::nanoseconds publish_every{std::chrono::milliseconds{250}};
  /// What measures that; on any thread.
  std::function<std::chrono::steady_clock::time_point()> clock = std::chrono::steady_clock::now;
};

/// What to begin with for a live capture: tables for as many connections as can be looked at every moment,
/// idle ones retired after five minutes.
[[nodiscard]] AnalysisOptions live_analysis();

/// Reads `source` to its end (or until stopped) and returns what it holds. Never fails: inputs
/// that cannot be read on are in the snapshot's errors.
[[nodiscard]] std::shared_ptr<const Snapshot> analyze(capture::CaptureSource& source,
                                                      const AnalysisOptions& options,
                                                      const std::stop_token& stop = {});

}  // namespace roce::analyze

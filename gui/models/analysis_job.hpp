// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "analyze/pipeline/analysis.hpp"
#include "analyze/policy/dissect_choice.hpp"
#include "analyze/results/snapshot.hpp"
#include "capture/core/source.hpp"
#include "gui/models/packet_store.hpp"
#include "gui/models/time_span.hpp"

namespace roce::gui {

/// Progress of reading a capture.
struct LoadProgress {
  std::uint64_t bytes = 0;  ///< read so far, counted as on disk (compressed)
  std::uint64_t size = 0;   ///< of all files on disk; 0: unknown (pipes)
  std::uint64_t packets = 0;
  [[nodiscard]] bool operator==(const LoadProgress&) const noexcept = default;
};

/// The options of an analysis that the user can set in the window.
struct AnalysisChoice {
  std::shared_ptr<const analyze::MarkingPolicy> policy;  ///< null: none
  unsigned jobs = 0;                                     ///< threads, 0 = one a core
  std::shared_ptr<PacketStore> packets;                  ///< receives all packets; null: not needed
  bool check_icrc = true;
  std::uint64_t link_speed_bps = 0;  ///< of links with PAUSE and PFC frames; 0: taken from the capture
  analyze::DissectChoice dissecting;
  bool live = false;              ///< live capture, which may run for days
  std::optional<TimeSpan> times;  ///< only packets in this range, as with --from and --to; none: all
  [[nodiscard]] bool operator==(const AnalysisChoice&) const noexcept = default;
  /// As packets are read: by the choice, and by the policy.
  [[nodiscard]] dissect::Options dissect_options() const { return dissecting.with(policy.get()); }
};

/// The options of the command line for that range, each with a blank before it. Times of 1970 and later.
[[nodiscard]] std::string range_words(const TimeSpan& times);

/// The analysis options for that choice, without callbacks.
[[nodiscard]] analyze::AnalysisOptions analysis_options(const AnalysisChoice& choice);

/// One analysis of some files on its own thread. Owner and thread share this object; the owner polls take()
/// and may drop it at any time. All members are callable from any thread.
class AnalysisJob {
 public:
  using Opener = std::function<capture::Expected<std::unique_ptr<capture::CaptureSource>>()>;

  /// What is new since the last take().
  struct News {
    LoadProgress progress;
    std::shared_ptr<const analyze::Snapshot> snapshot;  ///< the newest; null: none since then
    bool ended = false;                                 ///< the analysis is over
    std::string failure;                                ///< why nothing could be read at all
  };

  /// `wake` is called on the job's thread when there is something to take, until abandon(). It must not call
  /// members of this job.
  [[nodiscard]] static std::shared_ptr<AnalysisJob> start(Opener open, AnalysisChoice choice,
                                                          std::function<void()> wake);

  /// Requests an end of reading. What was read so far is still analysed and delivered.
  void stop();
  /// Stops without delivering anything more: when this returns, `wake` is not running and is never called
  /// again.
  void abandon();
  [[nodiscard]] News take();

 private:
  AnalysisJob(AnalysisChoice choice, std::function<void()> wake);
  void run(const Opener& open);
  void analyze(capture::CaptureSource& source);
  void set_progress(const capture::CaptureSource& source, std::uint64_t packets);
  void publish(std::shared_ptr<const analyze::Snapshot> snapshot);
  void end(std::string failure);

  const AnalysisChoice choice_;
  std::stop_source stop_;
  std::stop_source abandoned_;

  std::mutex mutex_;  ///< for all below
  std::function<void()> wake_;
  capture::CaptureSource* source_ = nullptr;  ///< while it is open
  News news_;
  bool progress_taken_ = true;  ///< sizes are summed up again only after a take()
};

}  // namespace roce::gui

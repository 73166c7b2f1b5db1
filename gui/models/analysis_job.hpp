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
#include "analyze/results/snapshot.hpp"
#include "capture/core/source.hpp"
#include "gui/models/packet_store.hpp"

namespace roce::gui {

/// How far reading has come.
struct LoadProgress {
  std::uint64_t bytes = 0;  ///< read, of the sizes on disk
  std::uint64_t size = 0;   ///< 0: not known (pipes)
  std::uint64_t packets = 0;
  [[nodiscard]] bool operator==(const LoadProgress&) const noexcept = default;
};

/// What the window may choose about an analysis.
struct AnalysisChoice {
  std::shared_ptr<const analyze::MarkingPolicy> policy;  ///< null: none
  unsigned jobs = 0;                                     ///< threads, 0 = one a core
  std::shared_ptr<PacketStore> packets;                  ///< takes all packets; null: nobody asks for them
  bool check_icrc = true;
  std::uint64_t link_speed_bps = 0;  ///< of links with PAUSE and PFC frames; 0 = as the capture says
  bool live = false;                 ///< packets come as they are captured, perhaps for days
  [[nodiscard]] bool operator==(const AnalysisChoice&) const noexcept = default;
};

/// What the analysis is asked for by that choice; without what hears of its progress.
[[nodiscard]] analyze::AnalysisOptions analysis_options(const AnalysisChoice& choice);

/// One analysis of some files on a thread of its own. It and its thread share this object; whoever has
/// started it looks now and then at what has come, and may let go of it at any time. All members are callable
/// from any thread.
class AnalysisJob {
 public:
  using Opener = std::function<capture::Expected<std::unique_ptr<capture::CaptureSource>>()>;

  /// What has come since the last take().
  struct News {
    LoadProgress progress;
    std::shared_ptr<const analyze::Snapshot> snapshot;  ///< the newest; null: none since then
    bool ended = false;                                 ///< nothing more will come
    std::string failure;                                ///< why nothing could be read at all
  };

  /// `wake` is called on the job's thread when there is more to take, until abandon(). It must not call back.
  [[nodiscard]] static std::shared_ptr<AnalysisJob> start(Opener open, AnalysisChoice choice,
                                                          std::function<void()> wake);

  /// Ends reading soon. What was read until then is still analysed and comes.
  void stop();
  /// The same, and nothing comes any more: `wake` is not running when this returns, nor called again.
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
  bool progress_taken_ = true;  ///< so that nobody sums up sizes that nobody looks at
};

}  // namespace roce::gui

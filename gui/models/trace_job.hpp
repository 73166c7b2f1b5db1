// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "analyze/packet/verdict_store.hpp"
#include "analyze/trace/connection_trace.hpp"
#include "gui/models/analysis_job.hpp"

namespace roce::gui {

/// What all traces of one capture share: how to read it again, and the verdicts on its packets, those
/// of the list of packets, else of a full analysis, which is kept for the next trace. Callable from any
/// thread.
class TracedCapture {
 public:
  /// `frames`: number of frames read the first time; what a file has grown by since then is ignored.
  /// The choice's packets, if they are those frames, have the verdicts already.
  TracedCapture(AnalysisJob::Opener open, AnalysisChoice choice, std::uint64_t frames)
      : open_(std::move(open)), choice_(std::move(choice)), frames_(frames) {}

  /// Stops all traces of this capture.
  void stop() { stop_.request_stop(); }
  /// Progress of the current trace, including the analysis if it is needed: 0..1.
  [[nodiscard]] double progress() const noexcept;

 private:
  friend class TraceJob;
  [[nodiscard]] capture::Expected<std::unique_ptr<capture::CaptureSource>> open() const;
  /// Fills verdicts_ if necessary. Returns an error; empty on success.
  [[nodiscard]] std::string analyze();
  /// Whether choice_.packets has the verdicts of all frames.
  [[nodiscard]] bool is_judged() const;

  const AnalysisJob::Opener open_;
  const AnalysisChoice choice_;
  const std::uint64_t frames_;
  std::stop_source stop_;
  std::atomic<std::uint64_t> done_{0};    ///< frames read
  std::atomic<std::uint64_t> wanted_{1};  ///< frames to read

  std::mutex in_use_;  ///< for all below: one trace at a time
  analyze::VerdictStore verdicts_;
  bool analyzed_ = false;
};

/// One trace on its own thread; thread rules as for AnalysisJob.
class TraceJob {
 public:
  struct Result {
    bool ended = false;
    std::shared_ptr<const analyze::ConnectionTrace> trace;  ///< null: see failure
    std::string failure;
  };

  [[nodiscard]] static std::shared_ptr<TraceJob> start(std::shared_ptr<TracedCapture> capture,
                                                       analyze::TraceOptions options,
                                                       std::function<void()> wake);
  /// Stops it without delivering anything more. An analysis that all traces need continues.
  void abandon();
  [[nodiscard]] Result result();

 private:
  TraceJob(std::shared_ptr<TracedCapture> capture, analyze::TraceOptions options, std::function<void()> wake);
  void run();
  [[nodiscard]] Result trace();

  const std::shared_ptr<TracedCapture> capture_;
  analyze::TraceOptions options_;
  std::stop_source stop_;

  std::mutex mutex_;  ///< for all below
  std::function<void()> wake_;
  Result result_;
};

}  // namespace roce::gui

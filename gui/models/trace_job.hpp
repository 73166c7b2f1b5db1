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

/// What all traces of one capture share: how to read it again, and what was said of its packets, which takes
/// an analysis to know and is kept for the next trace. Callable from any thread.
class TracedCapture {
 public:
  /// `frames`: so many were read the first time; what a file has grown by since then is left out.
  TracedCapture(AnalysisJob::Opener open, AnalysisChoice choice, std::uint64_t frames)
      : open_(std::move(open)), choice_(std::move(choice)), frames_(frames) {}

  /// Ends whatever is reading it.
  void stop() { stop_.request_stop(); }
  /// Of all that has to be read for the trace under way: 0..1.
  [[nodiscard]] double progress() const noexcept;

 private:
  friend class TraceJob;
  [[nodiscard]] capture::Expected<std::unique_ptr<capture::CaptureSource>> open() const;
  /// Why not; empty if it can be used now.
  [[nodiscard]] std::string analyze();

  const AnalysisJob::Opener open_;
  const AnalysisChoice choice_;
  const std::uint64_t frames_;
  std::stop_source stop_;
  std::atomic<std::uint64_t> done_{0};    ///< frames,
  std::atomic<std::uint64_t> wanted_{1};  ///< of so many

  std::mutex in_use_;  ///< for all below: one trace at a time
  analyze::VerdictStore verdicts_;
  bool analyzed_ = false;
};

/// One trace on a thread of its own; see AnalysisJob for who may do what when.
class TraceJob {
 public:
  struct Result {
    bool ended = false;
    std::shared_ptr<const analyze::ConnectionTrace> trace;  ///< null: there is none,
    std::string failure;                                    ///< for this reason
  };

  [[nodiscard]] static std::shared_ptr<TraceJob> start(std::shared_ptr<TracedCapture> capture,
                                                       analyze::TraceOptions options,
                                                       std::function<void()> wake);
  /// Ends it soon, and nothing comes any more. An analysis that all traces need goes on.
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

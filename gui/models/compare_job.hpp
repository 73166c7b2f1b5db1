// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "analyze/compare/compare.hpp"
#include "capture/core/source.hpp"

namespace roce::gui {

/// One comparison on its own thread; thread rules as for AnalysisJob.
class CompareJob {
 public:
  /// The captures of one capture point, as capture::open_files() takes them.
  using Files = std::vector<std::string>;

  struct News {
    double progress = 0;  ///< 0..1 of both captures' sizes on disk; 0 where sizes are unknown
    bool ended = false;
    bool stopped = false;                                  ///< before the end of a capture
    std::shared_ptr<const analyze::CompareResult> result;  ///< null: see failure
    std::string failure;
  };

  /// `filter`: a display filter that uses only fields of single packets; empty: all packets are compared.
  /// `dissecting`: how packets are read. `wake` is called on the job's thread at the end. It must not call
  /// members of this job.
  [[nodiscard]] static std::shared_ptr<CompareJob> start(Files a, Files b, std::string filter,
                                                         std::function<void()> wake,
                                                         const dissect::Options& dissecting = {});
  /// Requests an end of reading. What was compared so far is delivered.
  void stop();
  /// Stops without delivering anything more.
  void abandon();
  [[nodiscard]] News take();

 private:
  using Source = std::unique_ptr<capture::CaptureSource>;

  CompareJob(Files a, Files b, std::string filter, std::function<void()> wake,
             const dissect::Options& dissecting);
  void run();
  [[nodiscard]] News compare();
  void name_connections(analyze::CompareResult& result, unsigned direction);
  void set_progress();
  /// The sources being read, for stop() and set_progress().
  void use(std::array<capture::CaptureSource*, 2> sources);
  /// Unregisters the sources before they are destroyed, also when an exception is thrown.
  struct Use {
    Use(CompareJob& used_by, std::array<capture::CaptureSource*, 2> sources) : job(used_by) {
      job.use(sources);
    }
    ~Use() { job.use({}); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    CompareJob& job;
  };

  const std::array<Files, 2> files_;
  const std::string filter_;
  const dissect::Options dissecting_;
  std::stop_source stop_;

  std::mutex mutex_;  ///< for all below
  std::function<void()> wake_;
  std::array<capture::CaptureSource*, 2> sources_{};
  News news_;
};

}  // namespace roce::gui

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

/// One comparison on a thread of its own; see AnalysisJob for who may do what when.
class CompareJob {
 public:
  /// The captures of one point, as capture::open_files() takes them.
  using Files = std::vector<std::string>;

  struct News {
    double progress = 0;  ///< 0..1 of both captures' sizes on disk; 0 where those are not known
    bool ended = false;
    bool stopped = false;                                  ///< before their ends
    std::shared_ptr<const analyze::CompareResult> result;  ///< null: there is none,
    std::string failure;                                   ///< for this reason
  };

  /// `filter`: a display filter of fields of single packets; empty: all packets are compared. `wake` is
  /// called on the job's thread at the end. It must not call back.
  [[nodiscard]] static std::shared_ptr<CompareJob> start(Files a, Files b, std::string filter,
                                                         std::function<void()> wake);
  /// Ends reading soon. What was compared until then comes.
  void stop();
  /// The same, and nothing comes any more.
  void abandon();
  [[nodiscard]] News take();

 private:
  using Source = std::unique_ptr<capture::CaptureSource>;

  CompareJob(Files a, Files b, std::string filter, std::function<void()> wake);
  void run();
  [[nodiscard]] News compare();
  void name_connections(analyze::CompareResult& result, unsigned direction);
  void set_progress();
  /// Of those that are read now, for stop() and set_progress().
  void use(std::array<capture::CaptureSource*, 2> sources);
  /// They are used no more when this goes, also by an exception: before they go themselves.
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
  std::stop_source stop_;

  std::mutex mutex_;  ///< for all below
  std::function<void()> wake_;
  std::array<capture::CaptureSource*, 2> sources_{};
  News news_;
};

}  // namespace roce::gui

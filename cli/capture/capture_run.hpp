// SPDX-License-Identifier: Apache-2.0
// Runs the command `capture`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/flow/psn_marks.hpp"
#include "capture/confine/privileges.hpp"
#include "capture/devices/open_live.hpp"
#include "capture/live/live.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/live/capture_observer.hpp"

namespace roce::cli {

/// The options of the command line, as typed.
struct CaptureOptions {
  AnalyzeOptions analyze;     ///< without files and times
  capture::LiveOptions live;  ///< its device: of -i
  std::vector<std::string> listen;
  std::string write;              ///< -w
  std::string tee;                ///< a named pipe that gets all packets too; empty: none
  std::string compress;           ///< empty: by the extension of `write`
  std::vector<std::string> stop;  ///< -a
  std::vector<std::string> ring;  ///< -b
  std::uint64_t count = 0;        ///< -c, 0 = any number
  std::vector<std::string> trigger;
  std::string before;  ///< empty: the default
  std::string after;
  std::vector<std::string> trigger_limits;
  std::optional<std::size_t> trigger_memory_mib;  ///< none: the default
  std::string ring_time;                          ///< empty: the default
  std::string every;                              ///< empty: no summaries
  std::string idle_limit;                         ///< empty: the default
  std::string fail_on;
  std::size_t top = 20;
  bool whole_ring = false;
  bool force = false;  ///< let -w overwrite what it would not
  bool capture_only = false;
  bool stop_with_input = false;
  bool json = false;
  bool pretty = false;

  /// Descriptor of reports: standard error if packets go to standard output.
  [[nodiscard]] int report_descriptor() const noexcept { return write == "-" ? 2 : 1; }
};

/// Error message for options that exclude each other; empty if they are valid.
[[nodiscard]] std::string capture_usage_error(const CaptureOptions& options);

/// What surrounds the capture; tests replace parts of it.
struct CaptureSetup {
  std::function<capture::Expected<std::unique_ptr<capture::LiveSource>>(const capture::LiveOptions&)> open =
      capture::open_live;
  bool served = false;  ///< metrics or the system log are in use: runs on although nobody reads its output
  analyze::PsnMarks* marks = nullptr;  ///< see AnalysisOptions
  std::optional<capture::User> user;   ///< owner of the files: one of the observers becomes this user
  std::vector<std::unique_ptr<CaptureObserver>> observers;
};

/// Captures until the end, prints the report, and returns the exit status.
[[nodiscard]] int run_capture(const CaptureOptions& options, CaptureSetup setup);

}  // namespace roce::cli

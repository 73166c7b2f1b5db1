// SPDX-License-Identifier: Apache-2.0
// The command `capture`, once its options are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/devices/open_live.hpp"
#include "capture/live/live.hpp"
#include "cli/capture/privileges.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/live/capture_observer.hpp"

namespace roce::cli {

struct CaptureOptions {
  AnalyzeOptions analyze;  ///< without files and times
  capture::LiveOptions live;
  std::string write;              ///< -w
  std::string compress;           ///< empty: by the name's end
  std::vector<std::string> stop;  ///< -a
  std::vector<std::string> ring;  ///< -b
  std::uint64_t count = 0;        ///< -c, 0 = any number
  std::vector<std::string> trigger;
  std::string before;  ///< empty: the default
  std::string after;
  std::vector<std::string> trigger_limits;
  std::optional<std::size_t> trigger_memory_mib;  ///< nothing: the default
  std::string ring_time;                          ///< empty: the default
  std::string every;                              ///< empty: no summaries
  std::string idle_limit;                         ///< empty: the default
  std::string fail_on;
  std::size_t top = 20;
  bool whole_ring = false;
  bool capture_only = false;
  bool stop_with_input = false;
  bool json = false;
  bool pretty = false;

  /// Reports go to standard error when packets go to standard output.
  [[nodiscard]] int report_descriptor() const noexcept { return write == "-" ? 2 : 1; }
};

/// What options ask for that does not go together; empty if they do.
[[nodiscard]] std::string capture_usage_error(const CaptureOptions& options);

/// What tests replace.
struct CaptureSetup {
  std::function<capture::Expected<std::unique_ptr<capture::LiveSource>>(const capture::LiveOptions&)> open =
      capture::open_live;
  bool served = false;  ///< metrics or a system log take what it finds: of use though nobody reads its output
  std::optional<User> user;  ///< whose the files shall be: one of the observers becomes this user
  std::vector<std::unique_ptr<CaptureObserver>> observers;
};

/// Captures until told to stop, reports, and returns the exit status.
[[nodiscard]] int run_capture(const CaptureOptions& options, CaptureSetup setup);

}  // namespace roce::cli

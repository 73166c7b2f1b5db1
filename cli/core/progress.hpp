// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "capture/core/source.hpp"

namespace roce::cli {

/// A progress bar on standard error, if that is a terminal and the work takes over a second. The destructor
/// removes it.
class Progress {
 public:
  /// `label` precedes the bar and must outlive this object.
  explicit Progress(std::string_view label = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Draws at most ten times a second; other calls are cheap.
  void update(const capture::CaptureSource& source, std::uint64_t frames);
  /// Removes the bar from the screen.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string_view label_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_;
  Clock::time_point next_;
};

}  // namespace roce::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "capture/core/source.hpp"

namespace roce::cli {

/// A bar on standard error for work that takes over a second, on a terminal only. Removes itself.
class Progress {
 public:
  /// `label` stands before the bar and must live as long.
  explicit Progress(std::string_view label = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap when nothing is to be drawn; draws at most ten times a second.
  void update(const capture::CaptureSource& source, std::uint64_t frames);
  /// Takes the bar off the screen.
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

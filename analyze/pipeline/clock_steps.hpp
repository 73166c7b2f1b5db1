// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capture/core/frame.hpp"

// Internal to the pipeline.
namespace roce::analyze {

/// Corrects the timestamps of a live capture for steps of the clock, so that durations between packets stay
/// right. A step is a timestamp that is more than a second earlier than the one before, or more than ten
/// seconds ahead of the elapsed time (longer than frames are buffered). Each capture point has its own clock.
class ClockSteps {
 public:
  static constexpr std::int64_t back_ns = 1'000'000'000;
  static constexpr std::int64_t ahead_ns = 10'000'000'000;
  static constexpr std::size_t texts_kept = 8;

  /// The capture begins.
  void begin(std::chrono::steady_clock::time_point now) noexcept { last_call_ = now; }
  /// Corrects the times of frames received at `now`; the first one is frame `number` of the capture.
  void mend(std::span<capture::Frame> frames, std::uint64_t number,
            std::chrono::steady_clock::time_point now);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// "packet 17: set back by 3600 s", of the first steps.
  [[nodiscard]] const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  struct Clock {
    bool any = false;
    std::int64_t last_ns = 0;  ///< uncorrected timestamp of its last frame
    std::uint64_t ahead = 0;   ///< ns to subtract, modulo 2^64
    // That frame was received between these, except for the time that frames are buffered:
    std::chrono::steady_clock::time_point before;
    std::chrono::steady_clock::time_point given;
  };
  void note(std::uint64_t number, std::int64_t gap_ns, std::int64_t passed_ns);

  static constexpr std::size_t clocks_at_most = 16;  ///< further points share one
  std::array<Clock, clocks_at_most> clocks_;
  std::chrono::steady_clock::time_point last_call_;
  std::uint64_t count_ = 0;
  std::vector<std::string> texts_;
};

}  // namespace roce::analyze

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

/// Takes out of the times of a live capture what the clock that stamps them was set forward or back, so that
/// all that is measured between two packets stays true. A step shows in frames that are further apart than
/// they can have come: back by more than a second, or ahead by ten seconds more than have passed, which is
/// more than frames wait for their analysis. Each capture point has a clock of its own.
class ClockSteps {
 public:
  static constexpr std::int64_t back_ns = 1'000'000'000;
  static constexpr std::int64_t ahead_ns = 10'000'000'000;
  static constexpr std::size_t texts_kept = 8;

  /// Frames come from now on.
  void begin(std::chrono::steady_clock::time_point now) noexcept { last_call_ = now; }
  /// Frames that have come now, the first of them number `number` of the capture.
  void mend(std::span<capture::Frame> frames, std::uint64_t number,
            std::chrono::steady_clock::time_point now);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// "packet 17: set back by 3600 s": of the first ones.
  [[nodiscard]] const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  struct Clock {
    bool any = false;
    std::int64_t last_ns = 0;  ///< of its last frame, as stamped
    std::uint64_t ahead = 0;   ///< ns to be taken off, modulo 2^64
    // That frame came between these, but for the time that frames wait:
    std::chrono::steady_clock::time_point before;
    std::chrono::steady_clock::time_point given;
  };
  void note(std::uint64_t number, std::int64_t gap_ns, std::int64_t passed_ns);

  static constexpr std::size_t clocks_at_most = 16;  ///< points beyond share one
  std::array<Clock, clocks_at_most> clocks_;
  std::chrono::steady_clock::time_point last_call_;
  std::uint64_t count_ = 0;
  std::vector<std::string> texts_;
};

}  // namespace roce::analyze

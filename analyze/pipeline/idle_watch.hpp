// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

// Internal to the pipeline.
namespace roce::analyze {

/// Measures idleness in frames: tells how far back the frames lie that are older than the limit. Times may
/// jump: what lies between two calls counts for half the limit at most, so that a clock that is set forward
/// makes nothing idle, and for nothing if they run backwards.
class IdleWatch {
 public:
  /// 0 = nothing is ever idle.
  explicit IdleWatch(std::chrono::nanoseconds limit) : limit_(limit.count()) {}

  /// Frames up to `number` have come, the last at that time (or capture::no_time). Now and then, where it is
  /// worth looking: the number of a frame; what has not been seen since is idle.
  [[nodiscard]] std::optional<std::uint64_t> pass(std::uint64_t number, std::int64_t time_ns);

 private:
  static constexpr std::int64_t marks_a_limit = 8;
  struct Mark {
    std::int64_t elapsed_ns = 0;
    std::uint64_t number = 0;
  };

  std::int64_t limit_;
  std::optional<std::int64_t> last_time_ns_;
  std::int64_t elapsed_ns_ = 0;  ///< of the capture
  std::deque<Mark> marks_;       ///< oldest first, an eighth of the limit apart
};

}  // namespace roce::analyze

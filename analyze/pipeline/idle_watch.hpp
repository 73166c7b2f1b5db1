// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

// Internal to the pipeline.
namespace roce::analyze {

/// Finds the frame number before which everything is older than the idle limit. Robust against clock steps:
/// the time between two calls counts as half the limit at most, and as 0 if it is negative.
class IdleWatch {
 public:
  /// `limit` 0: nothing is ever idle.
  explicit IdleWatch(std::chrono::nanoseconds limit) : limit_(limit.count()) {}

  /// Frames up to `number` have come, the last with that time (or capture::no_time). From time to time it
  /// returns a frame number: flows without a packet since that frame are idle.
  [[nodiscard]] std::optional<std::uint64_t> pass(std::uint64_t number, std::int64_t time_ns);

 private:
  static constexpr std::int64_t marks_a_limit = 8;
  struct Mark {
    std::int64_t elapsed_ns = 0;
    std::uint64_t number = 0;
  };

  std::int64_t limit_;
  std::optional<std::int64_t> last_time_ns_;
  std::int64_t elapsed_ns_ = 0;  ///< corrected duration of the capture
  std::deque<Mark> marks_;       ///< oldest first, an eighth of the limit apart
};

}  // namespace roce::analyze

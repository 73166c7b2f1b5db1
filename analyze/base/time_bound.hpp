// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace roce::analyze {

/// A bound in time, in nanoseconds.
struct TimeBound {
  /// From when they count.
  enum class Since : std::uint8_t {
    epoch,
    first_frame,  ///< the time of the capture's first frame
    first_day,    ///< the midnight (UTC) before it
  };
  std::int64_t ns = 0;
  Since since = Since::epoch;

  /// Nanoseconds since the epoch, given the first frame's time.
  [[nodiscard]] std::int64_t resolve(std::int64_t first_ns) const noexcept {
    constexpr std::int64_t day_ns = 86'400'000'000'000;
    if (since == Since::epoch) return ns;
    const std::int64_t into_day = (first_ns % day_ns + day_ns) % day_ns;
    std::int64_t sum = 0;
    if (__builtin_add_overflow(ns, first_ns, &sum)) return std::numeric_limits<std::int64_t>::max();
    if (since == Since::first_frame) return sum;
    return __builtin_sub_overflow(sum, into_day, &sum) ? std::numeric_limits<std::int64_t>::min() : sum;
  }
};

/// A range of time, both bounds inclusive; absent = unbounded.
struct TimeRange {
  std::optional<TimeBound> from;
  std::optional<TimeBound> to;

  [[nodiscard]] bool any() const noexcept { return from || to; }
  /// Whether no time can be in it.
  [[nodiscard]] bool is_empty(std::int64_t first_ns) const noexcept {
    return from && to && from->resolve(first_ns) > to->resolve(first_ns);
  }
  /// Without a time (capture::no_time, the smallest number): only in a range without bounds.
  [[nodiscard]] bool contains(std::int64_t time_ns, std::int64_t first_ns) const noexcept {
    if (time_ns == std::numeric_limits<std::int64_t>::min()) return !any();
    return (!from || time_ns >= from->resolve(first_ns)) && (!to || time_ns <= to->resolve(first_ns));
  }
};

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace roce::analyze {

/// A limit in time: absolute, or so long after the capture's first frame.
struct TimeBound {
  std::int64_t ns = 0;
  bool relative = false;

  /// Nanoseconds since the epoch, given the first frame's time.
  [[nodiscard]] std::int64_t resolve(std::int64_t first_ns) const noexcept {
    if (!relative) return ns;
    std::int64_t sum = 0;
    return __builtin_add_overflow(ns, first_ns, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
  }
};

/// From when to when, both inclusive; absent = no limit.
struct TimeRange {
  std::optional<TimeBound> from;
  std::optional<TimeBound> to;

  [[nodiscard]] bool any() const noexcept { return from || to; }
  /// Whether nothing can lie in it.
  [[nodiscard]] bool is_empty(std::int64_t first_ns) const noexcept {
    return from && to && from->resolve(first_ns) > to->resolve(first_ns);
  }
  /// What has no time (capture::no_time, the smallest number) lies in no range.
  [[nodiscard]] bool contains(std::int64_t time_ns, std::int64_t first_ns) const noexcept {
    if (time_ns == std::numeric_limits<std::int64_t>::min()) return !any();
    return (!from || time_ns >= from->resolve(first_ns)) && (!to || time_ns <= to->resolve(first_ns));
  }
};

}  // namespace roce::analyze

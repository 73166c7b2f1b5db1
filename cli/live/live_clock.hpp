// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace roce::cli {

/// The clocks of the observers; replaced by tests.
struct LiveClock {
  /// Nanoseconds of a steady clock.
  std::int64_t (*now_ns)() = [] { return nanoseconds(std::chrono::steady_clock::now()); };
  /// Nanoseconds since the epoch.
  std::int64_t (*time_of_day_ns)() = [] { return nanoseconds(std::chrono::system_clock::now()); };

  template <class Time>
  [[nodiscard]] static std::int64_t nanoseconds(Time time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  }
};

}  // namespace roce::cli

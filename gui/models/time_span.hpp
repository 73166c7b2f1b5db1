// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace roce::gui {

/// Times in nanoseconds since the epoch; `from` is before `to`, or the same where nothing is chosen by it.
struct TimeSpan {
  std::int64_t from = 0;
  std::int64_t to = 0;
  [[nodiscard]] bool operator==(const TimeSpan&) const noexcept = default;
};

/// Whether what was seen in `of` is shown while `chosen` is: what touches it, and what has no times.
[[nodiscard]] inline bool is_in(const std::optional<TimeSpan>& of,
                                const std::optional<TimeSpan>& chosen) noexcept {
  return !of || !chosen || (of->from <= chosen->to && chosen->from <= of->to);
}

}  // namespace roce::gui

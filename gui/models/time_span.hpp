// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace roce::gui {

/// A time range in nanoseconds since the epoch, both ends included; `from` is not after `to`.
struct TimeSpan {
  std::int64_t from = 0;
  std::int64_t to = 0;
  [[nodiscard]] bool operator==(const TimeSpan&) const noexcept = default;
};

/// Whether something seen during `of` is shown while the time range `chosen` is selected: if they overlap, or
/// one of them is missing.
[[nodiscard]] inline bool is_in(const std::optional<TimeSpan>& of,
                                const std::optional<TimeSpan>& chosen) noexcept {
  return !of || !chosen || (of->from <= chosen->to && chosen->from <= of->to);
}

}  // namespace roce::gui

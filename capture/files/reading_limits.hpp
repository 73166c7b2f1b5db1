// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "capture/core/source.hpp"

namespace roce::capture {

/// Where reading ends at the latest. What it leaves unread makes CaptureSource::stopped() true.
struct ReadingLimits {
  std::uint64_t frames = 0;                                       ///< 0: no limit
  std::optional<std::chrono::steady_clock::time_point> deadline;  ///< none: no limit

  /// The deadline of the first of two passes, which take about as long, and of which the first begins now.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> half_time() const {
    if (!deadline) return std::nullopt;
    return *deadline - (*deadline - std::chrono::steady_clock::now()) / 2;
  }
};

/// `source` within these limits. After the last frame that is allowed, one more is tried, to know whether the
/// input ends there; not of pipes, which may pause: then it counts as stopped.
[[nodiscard]] std::unique_ptr<CaptureSource> within(std::unique_ptr<CaptureSource> source,
                                                    const ReadingLimits& limits);

}  // namespace roce::capture

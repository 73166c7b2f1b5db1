// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/idle_watch.hpp"

#include <algorithm>

#include "capture/core/frame.hpp"

namespace roce::analyze {

std::optional<std::uint64_t> IdleWatch::pass(std::uint64_t number, std::int64_t time_ns) {
  if (limit_ <= 0 || time_ns == capture::no_time) return std::nullopt;
  if (last_time_ns_ && time_ns > *last_time_ns_) {
    // Unsigned: the difference of any two times is less than 2^64 ns.
    const std::uint64_t step =
        static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(*last_time_ns_);
    elapsed_ns_ += static_cast<std::int64_t>(std::min(step, static_cast<std::uint64_t>(limit_) / 2));
  }
  last_time_ns_ = time_ns;
  if (!marks_.empty() && elapsed_ns_ - marks_.back().elapsed_ns < limit_ / marks_a_limit) return std::nullopt;
  marks_.push_back({elapsed_ns_, number});
  std::optional<std::uint64_t> idle_before;
  while (elapsed_ns_ - marks_.front().elapsed_ns >= limit_) {
    idle_before = marks_.front().number;
    marks_.pop_front();
  }
  return idle_before;
}

}  // namespace roce::analyze

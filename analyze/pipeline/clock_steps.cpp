// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/clock_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace roce::analyze {
namespace {

std::int64_t time_difference(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return a > b ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

std::int64_t without(std::uint64_t ahead, std::int64_t time_ns) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time_ns) - ahead);
}

}  // namespace

void ClockSteps::mend(std::span<capture::Frame> frames, std::uint64_t number,
                      std::chrono::steady_clock::time_point now) {
  const auto since = [now](std::chrono::steady_clock::time_point then) {
    return std::max<std::int64_t>(0,
                                  std::chrono::duration_cast<std::chrono::nanoseconds>(now - then).count());
  };
  for (capture::Frame& frame : frames) {
    if (frame.time_ns != capture::no_time) {
      Clock& clock = clocks_[frame.point % clocks_at_most];
      const std::int64_t gap = time_difference(frame.time_ns, clock.last_ns);
      if (clock.any && (gap < -back_ns || time_difference(gap, since(clock.before)) > ahead_ns))
          [[unlikely]] {
        const std::int64_t passed = since(clock.given);
        note(number, gap, passed);
        // Unsigned: the difference of any two times is less than 2^64 ns.
        clock.ahead += static_cast<std::uint64_t>(frame.time_ns) - static_cast<std::uint64_t>(clock.last_ns) -
                       static_cast<std::uint64_t>(passed);
      }
      clock.any = true;
      clock.last_ns = frame.time_ns;
      clock.before = last_call_;
      clock.given = now;
      frame.time_ns = without(clock.ahead, frame.time_ns);
    }
    ++number;
  }
  last_call_ = now;
}

void ClockSteps::note(std::uint64_t number, std::int64_t gap_ns, std::int64_t passed_ns) {
  ++count_;
  if (texts_.size() >= texts_kept) return;
  constexpr double second = 1e9;
  const double step = (static_cast<double>(gap_ns) - static_cast<double>(passed_ns)) / second;
  texts_.push_back(fmt::format("packet {}: set {} by {:.1f} s", number, step < 0 ? "back" : "forward",
                               step < 0 ? -step : step));
}

}  // namespace roce::analyze

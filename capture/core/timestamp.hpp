// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace roce::capture {

/// Turns the 64-bit tick count of one pcapng interface into nanoseconds since the epoch. pcapng section 4.2:
/// if_tsresol is a power of ten (top bit clear) or of two (top bit set), if_tsoffset counts whole seconds to
/// add. Every resolution is exact to the nanosecond, finer fractions are truncated. Times outside of 64-bit
/// nanoseconds (years 1677 to 2262) are clamped, except that a count with its top bit set that would lie
/// beyond 2262 is read as a negative number (times before the offset).
class TickClock {
 public:
  TickClock() noexcept : TickClock(6, 0) {}
  TickClock(std::uint8_t tsresol, std::int64_t offset_seconds) noexcept;

  [[nodiscard]] std::int64_t to_ns(std::uint64_t ticks) const noexcept {
    __extension__ using Wide = __int128;
    __extension__ using WideUnsigned = unsigned __int128;
    Wide offset = offset_seconds_;
    offset *= 1'000'000'000;
    Wide ns = 0;
    if (unit_ == Unit::multiply) {
      ns = static_cast<Wide>(ticks) * static_cast<Wide>(factor_);
    } else if (unit_ == Unit::divide) {
      ns = static_cast<Wide>(ticks / factor_);
    } else {
      ns = static_cast<Wide>((static_cast<WideUnsigned>(ticks) * 1'000'000'000U) >> shift_);
    }
    ns += offset;
    if (ns > INT64_MAX) [[unlikely]] {
      constexpr std::uint64_t top_bit = std::uint64_t{1} << 63U;
      if ((ticks & top_bit) == 0 || unit_ != Unit::multiply) return INT64_MAX;
      ns = static_cast<Wide>(static_cast<std::int64_t>(ticks)) * static_cast<Wide>(factor_) + offset;
    }
    if (ns > INT64_MAX) return INT64_MAX;
    if (ns < INT64_MIN) return INT64_MIN;
    return static_cast<std::int64_t>(ns);
  }

  /// For display; UINT64_MAX where the value does not fit.
  [[nodiscard]] std::uint64_t ticks_per_second() const noexcept { return ticks_per_second_; }

 private:
  enum class Unit : std::uint8_t { multiply, divide, shift };
  Unit unit_ = Unit::multiply;
  std::uint8_t shift_ = 0;
  std::uint64_t factor_ = 1000;
  std::int64_t offset_seconds_ = 0;
  std::uint64_t ticks_per_second_ = 1'000'000;
};

}  // namespace roce::capture

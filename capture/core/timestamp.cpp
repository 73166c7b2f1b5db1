// SPDX-License-Identifier: Apache-2.0
#include "capture/core/timestamp.hpp"

namespace roce::capture {
namespace {

constexpr std::uint8_t power_of_two_flag = 0x80;
constexpr unsigned largest_power_of_ten = 19;  // 10^19 < 2^64 < 10^20

constexpr std::uint64_t power_of_ten(unsigned exponent) noexcept {
  std::uint64_t value = 1;
  for (unsigned i = 0; i < exponent; ++i) value *= 10;
  return value;
}

}  // namespace

TickClock::TickClock(std::uint8_t tsresol, std::int64_t offset_seconds) noexcept
    : offset_seconds_(offset_seconds) {
  const unsigned exponent = tsresol & 0x7FU;
  if ((tsresol & power_of_two_flag) != 0) {
    unit_ = Unit::shift;
    shift_ = static_cast<std::uint8_t>(exponent);
    ticks_per_second_ = exponent < 64 ? std::uint64_t{1} << exponent : UINT64_MAX;
    return;
  }
  ticks_per_second_ = exponent <= largest_power_of_ten ? power_of_ten(exponent) : UINT64_MAX;
  if (exponent <= 9) {
    unit_ = Unit::multiply;
    factor_ = power_of_ten(9 - exponent);
  } else {
    // Below 10^-28 s even 2^64 ticks are about a nanosecond at most: they count as 0.
    unit_ = exponent - 9 <= largest_power_of_ten ? Unit::divide : Unit::multiply;
    factor_ = exponent - 9 <= largest_power_of_ten ? power_of_ten(exponent - 9) : 0;
  }
}

}  // namespace roce::capture

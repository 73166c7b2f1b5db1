// SPDX-License-Identifier: Apache-2.0
#include "analyze/link/pauses.hpp"

#include <algorithm>
#include <limits>

#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint64_t nanoseconds = 1'000'000'000;

}  // namespace

std::int64_t quanta_to_ns(std::uint16_t quanta, std::uint64_t speed_bps) noexcept {
  if (speed_bps == 0) return 0;
  const std::uint64_t bits = quanta * quantum_bits;  // below 2^25, so the product is below 2^55
  return static_cast<std::int64_t>((bits * nanoseconds + speed_bps / 2) / speed_bps);
}

std::uint64_t ns_to_quanta(std::int64_t ns, std::uint64_t speed_bps) noexcept {
  if (ns <= 0) return 0;
  const long double quanta = static_cast<long double>(ns) * static_cast<long double>(speed_bps) /
                             static_cast<long double>(nanoseconds * quantum_bits);
  constexpr auto most = static_cast<long double>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::uint64_t>(std::min(quanta + 0.5L, most));
}

std::int64_t in_flight_allowance_ns(std::uint64_t speed_bps) noexcept {
  constexpr std::uint16_t reaction = 905, frames = 288;
  constexpr std::int64_t cable_ns = 2'000;
  return quanta_to_ns(reaction + frames, speed_bps) + cable_ns;
}

std::string_view pause_fault_name(PauseFault fault) noexcept {
  using enum PauseFault;
  static constexpr EnumNames<PauseFault, 5> names({{reserved_bits, "reserved_bits"},
                                                   {no_priority, "no_priority"},
                                                   {wrong_destination, "wrong_destination"},
                                                   {tagged, "tagged"},
                                                   {too_short, "too_short"}});
  return names[fault];
}

}  // namespace roce::analyze

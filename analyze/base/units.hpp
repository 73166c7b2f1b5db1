// SPDX-License-Identifier: Apache-2.0
// Figures for display: three significant digits and a unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace roce::analyze {

/// "1 reply", "37 replies".
[[nodiscard]] std::string plural(std::uint64_t n, std::string_view one, std::string_view many);
[[nodiscard]] std::string packets_text(std::uint64_t n);  ///< "1 packet", "37 packets"

[[nodiscard]] std::string bytes_text(std::uint64_t bytes);          ///< "1.46 MB", decimal units
[[nodiscard]] std::string rate_text(double bits_per_second);        ///< "93.1 Gb/s"
[[nodiscard]] std::string duration_text(std::int64_t nanoseconds);  ///< "4.10 µs", "93.2 s", "2 h 13 min"
[[nodiscard]] std::string percent_text(std::uint64_t part, std::uint64_t whole);  ///< "99.0 %", "<0.1 %"
/// "2026-11-20 11:08:53.886729269 UTC"; a time outside the calendar as seconds.
[[nodiscard]] std::string time_text(std::int64_t nanoseconds_since_epoch);

/// last_ns - first_ns, saturated; 0 if it is negative.
[[nodiscard]] std::int64_t span_ns(std::int64_t first_ns, std::int64_t last_ns) noexcept;

/// Mean rate between the two times; 0 if there is no time between them.
[[nodiscard]] double mean_rate_bps(std::uint64_t bytes, std::int64_t first_ns, std::int64_t last_ns) noexcept;

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// Dates and times of day as text: in display filters, in options of the command line, in fields. All in UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roce::analyze {

/// Nanoseconds since the epoch of "2026-11-20 11:08:53.5" (T or a blank; without seconds, or the date alone)
/// or of Wireshark's "Nov 20, 2026 11:08:53.5". A zone may follow: Z, " UTC", +01:00, +0100 or +01; without
/// one the time is UTC. Decimals beyond nanoseconds are ignored. None if it is not a time between 1678 and
/// 2261.
[[nodiscard]] std::optional<std::int64_t> parse_date(std::string_view text) noexcept;

/// Nanoseconds since midnight of "11:08", "11:08:53" or "11:08:53.5".
[[nodiscard]] std::optional<std::int64_t> parse_time_of_day(std::string_view text) noexcept;

/// As Wireshark prints an absolute time: "Nov 20, 2026 11:08:53.886729269 UTC".
void append_date_text(std::string& out, std::int64_t nanoseconds_since_epoch);

}  // namespace roce::analyze

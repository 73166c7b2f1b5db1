// SPDX-License-Identifier: Apache-2.0
// Values of --link-speed, --pause-storm, --pfc-watchdog and durations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyze/link/pfc_watchdog.hpp"

namespace roce::cli {

/// Bits per second of "100G", "2.5G", "40000M" or a number without prefix; K, M, G and T are powers of 1000,
/// "b/s", "bps" or "bit/s" may follow. None for other texts, for less than 1 Mb/s (a forgotten prefix) and
/// for more than 10 Tb/s.
[[nodiscard]] std::optional<std::uint64_t> parse_link_speed(const std::string& text);
/// Error message with the valid forms; empty for a valid speed.
[[nodiscard]] std::string link_speed_error(const std::string& text);

/// Nanoseconds of "200ms", "0.2s", "150us", "5000ns": above 0, at most a day. The unit is required.
[[nodiscard]] std::optional<std::int64_t> parse_duration(const std::string& text);
[[nodiscard]] std::string duration_error(const std::string& text);

/// "200ms,400ms": detection and restoration, each as parse_duration() takes it.
[[nodiscard]] std::optional<analyze::WatchdogTimes> parse_watchdog(const std::string& text);
[[nodiscard]] std::string watchdog_error(const std::string& text);

}  // namespace roce::cli

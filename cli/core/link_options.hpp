// SPDX-License-Identifier: Apache-2.0
// The values of --link-speed and --pause-storm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace roce::cli {

/// Bits a second of "100G", "2.5G", "40000M" or a plain number of them; K, M, G and T are powers of 1000,
/// "b/s", "bps" or "bit/s" may follow. Nothing for anything else, less than 1 Mb/s (a unit was forgotten),
/// and more than 10 Tb/s.
[[nodiscard]] std::optional<std::uint64_t> parse_link_speed(const std::string& text);
/// What is wrong with such a text, and what is expected; empty for a speed.
[[nodiscard]] std::string link_speed_error(const std::string& text);

/// Nanoseconds of "200ms", "0.2s", "150us", "5000ns", above 0 and at most a day. A number needs its unit.
[[nodiscard]] std::optional<std::int64_t> parse_duration(const std::string& text);
[[nodiscard]] std::string duration_error(const std::string& text);

}  // namespace roce::cli

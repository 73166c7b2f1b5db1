// SPDX-License-Identifier: Apache-2.0
// Values of --link-speed, --pause-storm, --pfc-watchdog, --trimmed-dscp, --decode-as and durations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/link/pfc_watchdog.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissect.hpp"

namespace CLI {
class App;
}

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

/// "11" or "11,21": the DSCPs as bits. Not 0, which says nothing. None for other texts.
[[nodiscard]] std::optional<std::uint64_t> parse_dscps(const std::string& text);
/// "falcon=7777,veroce=4794,ifa=253": numbers of protocols that nobody assigned. None if it is not that.
[[nodiscard]] std::optional<dissect::NamedNumbers> parse_named_numbers(const std::string& text);
[[nodiscard]] std::string dscps_error(const std::string& text);
/// Adds --trimmed-dscp.
void add_trimmed_dscp_option(CLI::App& command, std::string& dscps);
/// --mrc-port
void add_mrc_port_option(CLI::App& command, std::optional<std::uint16_t>& port);
/// --time: of the capture, or the stamps of switches.
void add_time_option(CLI::App& command, std::string& clock);
/// Captures, with the times that --time asks for.
[[nodiscard]] capture::Expected<std::unique_ptr<capture::CaptureSource>> open_timed(
    const std::vector<std::string>& files, const std::string& clock);
void add_decode_as_option(CLI::App& command, std::string& numbers);

}  // namespace roce::cli

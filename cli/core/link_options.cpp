// SPDX-License-Identifier: Apache-2.0
#include "cli/core/link_options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

namespace roce::cli {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit speed_units[] = {{"", 1},    {"K", 1e3}, {"k", 1e3},  {"M", 1e6}, {"m", 1e6},
                                {"G", 1e9}, {"g", 1e9}, {"T", 1e12}, {"t", 1e12}};
constexpr Unit time_units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};

/// No Ethernet link is slower; "100" would be a forgotten G and make pauses last for minutes.
constexpr double slowest_bps = 1e6;
constexpr double fastest_bps = 1e13;
constexpr double longest_ns = 86'400e9;

/// Parses a decimal number (no sign, no exponent, no "inf") directly followed by one of the units.
std::optional<double> parse(std::string_view text, std::span<const Unit> units) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string_view digits = text.substr(0, end);
  double number = 0;
  const auto [stop, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed);
  if (failure != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  const std::string_view rest = end == std::string_view::npos ? std::string_view() : text.substr(end);
  for (const Unit& unit : units) {
    if (rest == unit.name) return number * unit.factor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_link_speed(const std::string& text) {
  std::string_view value = text;
  for (const std::string_view unit : {"bit/s", "b/s", "bps"}) {
    if (!value.ends_with(unit)) continue;
    value.remove_suffix(unit.size());
    break;
  }
  const auto bps = parse(value, speed_units);
  if (!bps || *bps < slowest_bps || *bps > fastest_bps) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(*bps));
}

std::string link_speed_error(const std::string& text) {
  if (parse_link_speed(text)) return {};
  return fmt::format(
      "not a link speed: '{}' (10G, 25G, 40G, 50G, 100G, 200G, 400G, 800G, or another number from 1M to 10T "
      "with K, M, G or T; without a prefix in bits per second)",
      text);
}

std::optional<std::int64_t> parse_duration(const std::string& text) {
  const auto ns = parse(text, time_units);
  if (!ns || *ns < 1 || *ns > longest_ns) return std::nullopt;
  return std::llround(*ns);
}

std::string duration_error(const std::string& text) {
  if (parse_duration(text)) return {};
  return fmt::format("not a duration: '{}' (a number with unit: 200ms, 0.2s, 150us or 5000ns; at most a day)",
                     text);
}

std::optional<analyze::WatchdogTimes> parse_watchdog(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) return std::nullopt;
  const auto detection = parse_duration(text.substr(0, comma));
  const auto restoration = parse_duration(text.substr(comma + 1));
  if (!detection || !restoration) return std::nullopt;
  return analyze::WatchdogTimes{*detection, *restoration};
}

std::string watchdog_error(const std::string& text) {
  if (parse_watchdog(text)) return {};
  return fmt::format(
      "not the times of a watchdog: '{}' (detection and restoration, each with its unit: 200ms,400ms)", text);
}

}  // namespace roce::cli

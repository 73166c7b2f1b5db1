// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/units.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <iterator>
#include <limits>

namespace roce::analyze {
namespace {

/// Three significant digits.
std::string three_digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

template <std::size_t N>
std::string scaled(double value, const char* const (&units)[N]) {
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < N) {
    value /= 1000;
    ++unit;
  }
  return three_digits(value) + " " + units[unit];
}

}  // namespace

std::string plural(std::uint64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string packets_text(std::uint64_t n) {
  return plural(n, "packet", "packets");
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  static constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  return scaled(static_cast<double>(bytes), units);
}

std::string rate_text(double bits_per_second) {
  static constexpr const char* units[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"};
  return scaled(bits_per_second, units);
}

std::string duration_text(std::int64_t nanoseconds) {
  constexpr std::int64_t second = 1'000'000'000;
  if (nanoseconds == std::numeric_limits<std::int64_t>::min()) ++nanoseconds;
  if (nanoseconds < 0) return "-" + duration_text(-nanoseconds);
  if (nanoseconds < 1000) return fmt::format("{} ns", nanoseconds);
  if (nanoseconds < 120 * second) {
    static constexpr const char* units[] = {"ns", "µs", "ms", "s"};
    return scaled(static_cast<double>(nanoseconds), units);
  }
  const std::int64_t minutes = nanoseconds / second / 60;
  if (minutes < 120) return fmt::format("{} min {} s", minutes, nanoseconds / second % 60);
  if (minutes < 48 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  return fmt::format("{} d {} h", minutes / 60 / 24, minutes / 60 % 24);
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0 %";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (part != 0 && percent < 0.1) return "<0.1 %";
  if (part != whole && percent > 99.9) return ">99.9 %";
  if (part == whole) return "100 %";
  return fmt::format("{:.1f} %", percent);
}

std::string time_text(std::int64_t nanoseconds_since_epoch) {
  namespace ch = std::chrono;
  constexpr std::int64_t second = 1'000'000'000;
  const ch::sys_seconds time(ch::floor<ch::seconds>(ch::nanoseconds(nanoseconds_since_epoch)));
  const ch::sys_days day = ch::floor<ch::days>(time);
  const ch::year_month_day date(day);
  const ch::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:09} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     (nanoseconds_since_epoch % second + second) % second);
}

std::int64_t span_ns(std::int64_t first_ns, std::int64_t last_ns) noexcept {
  std::int64_t span = 0;
  if (last_ns <= first_ns) return 0;
  return __builtin_sub_overflow(last_ns, first_ns, &span) ? std::numeric_limits<std::int64_t>::max() : span;
}

double mean_rate_bps(std::uint64_t bytes, std::int64_t first_ns, std::int64_t last_ns) noexcept {
  if (last_ns <= first_ns) return 0;
  return static_cast<double>(bytes) * 8.0 * 1e9 / static_cast<double>(span_ns(first_ns, last_ns));
}

}  // namespace roce::analyze

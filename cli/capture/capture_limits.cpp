// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/capture_limits.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace roce::cli {
namespace {

struct Limit {
  std::string_view name;
  std::uint64_t CaptureLimits::*value;
  double unit;
  double most;  ///< in the unit of the command line
  bool whole;   ///< no fractions
};
constexpr double million = 1e6;
constexpr Limit limits[] = {{"duration", &CaptureLimits::duration_ns, 1e9, 1000 * million, false},
                            {"filesize", &CaptureLimits::bytes, 1000, million* million, true},
                            {"packets", &CaptureLimits::packets, 1, million* million * 1000, true},
                            {"files", &CaptureLimits::files, 1, million, true}};

bool apply(const std::string& text, CaptureLimits& to) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return false;
  const std::string_view name = std::string_view(text).substr(0, colon);
  const char* const begin = text.data() + colon + 1;
  const char* const end = text.data() + text.size();
  double number = 0;
  const auto [stop, failure] = std::from_chars(begin, end, number, std::chars_format::fixed);
  if (failure != std::errc() || stop != end) return false;
  for (const Limit& limit : limits) {
    if (limit.name != name) continue;
    const bool fits = number > 0 && number <= limit.most && number * limit.unit >= 1;
    if (!fits || (limit.whole && number != std::floor(number))) return false;
    to.*limit.value = static_cast<std::uint64_t>(number * limit.unit);
    return true;
  }
  return false;
}

}  // namespace

std::optional<CaptureLimits> parse_limits(const std::vector<std::string>& texts) {
  CaptureLimits result;
  for (const std::string& text : texts) {
    if (!apply(text, result)) return std::nullopt;
  }
  return result;
}

std::string limit_error(const std::string& text) {
  CaptureLimits ignored;
  if (apply(text, ignored)) return {};
  return fmt::format(
      "not a limit: '{}' (duration:SECONDS, filesize:KB of 1000 bytes, packets:N or files:N; at least 1, "
      "seconds may have a fraction)",
      text);
}

}  // namespace roce::cli

// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/filter_constants.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace roce::analyze::filter {
namespace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

constexpr int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

/// Reads up to nine decimals after the point, which is already removed, as nanoseconds.
bool take_fraction(std::string_view& text, std::int64_t& nanoseconds) {
  std::int64_t unit = nanoseconds_per_second;
  nanoseconds = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    unit /= 10;
    nanoseconds += unit * (text[digits] - '0');
  }
  text.remove_prefix(digits);
  return digits > 0 && digits <= 9;
}

}  // namespace

NumberProblem parse_number(std::string_view text, std::uint64_t& number) noexcept {
  const bool minus = !text.empty() && text.front() == '-';
  if (minus) text.remove_prefix(1);
  int base = 10;
  const auto prefixed = [&](char lower, char upper) {
    return text.size() > 2 && text[0] == '0' && (text[1] == lower || text[1] == upper);
  };
  if (prefixed('x', 'X')) {
    base = 16;
    text.remove_prefix(2);
  } else if (prefixed('b', 'B')) {
    base = 2;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (error == std::errc::invalid_argument || stop != end) return NumberProblem::not_a_number;
  if (minus && (number != 0 || error != std::errc{})) return NumberProblem::negative;
  return error == std::errc{} ? NumberProblem::none : NumberProblem::too_large;
}

std::optional<std::int64_t> parse_seconds(std::string_view text) noexcept {
  const bool minus = take(text, '-');
  std::int64_t seconds = 0, fraction = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool no_seconds = error == std::errc::invalid_argument;
  if (no_seconds && !text.starts_with('.')) return std::nullopt;
  if (!no_seconds && error != std::errc{}) return std::nullopt;
  if (seconds < 0 || seconds >= std::numeric_limits<std::int64_t>::max() / nanoseconds_per_second)
    return std::nullopt;
  if (!no_seconds) text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (take(text, '.') && !take_fraction(text, fraction) && no_seconds) return std::nullopt;
  (void)take(text, 's');
  if (!text.empty()) return std::nullopt;
  const std::int64_t nanoseconds = seconds * nanoseconds_per_second + fraction;
  return minus ? -nanoseconds : nanoseconds;
}

std::optional<std::string> parse_bytes(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  const std::size_t separator_at = text.find_first_of(":-.");
  std::string bytes;
  if (separator_at == std::string_view::npos) {
    if (text.size() == 1 && digit_of(text[0]) >= 0)
      return std::string(1, static_cast<char>(digit_of(text[0])));
    if (text.empty() || text.size() % 2 != 0) return std::nullopt;
    for (std::size_t i = 0; i < text.size(); i += 2) {
      const int high = digit_of(text[i]), low = digit_of(text[i + 1]);
      if (high < 0 || low < 0) return std::nullopt;
      bytes += static_cast<char>(high * 16 + low);
    }
    return bytes;
  }
  const char separator = text[separator_at];
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end < 1 || end > 2) return std::nullopt;
    int value = 0;
    for (const char c : text.substr(0, end)) {
      if (digit_of(c) < 0) return std::nullopt;
      value = value * 16 + digit_of(c);
    }
    bytes += static_cast<char>(value);
    if (end == text.size()) return bytes;
    text.remove_prefix(end + 1);
    if (text.empty()) return bytes;  // aa: is the one byte aa
  }
}

std::optional<std::string> parse_hardware_address(std::string_view text, std::size_t size) {
  std::optional<std::string> bytes;
  if (text.size() == size * 2 + size / 2 - 1 && text.size() > 4 && text[4] == '.') {
    std::string digits;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (i % 5 != 4) {
        digits += text[i];
      } else if (text[i] != '.') {
        return std::nullopt;
      }
    }
    bytes = parse_bytes(digits);
  } else if (text.find_first_of(":-.") != std::string_view::npos && digit_of(text.back()) >= 0) {
    bytes = parse_bytes(text);
  }
  if (!bytes || bytes->size() != size) return std::nullopt;
  return bytes;
}

std::optional<std::string> parse_ipv4(std::string_view text) {
  in_addr address{};
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  if (inet_pton(AF_INET, std::string(text).c_str(), &address) != 1) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(&address), sizeof address);
}

std::optional<std::string> parse_ipv6(std::string_view text) {
  in6_addr address{};
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  if (inet_pton(AF_INET6, std::string(text).c_str(), &address) != 1) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(&address), sizeof address);
}

}  // namespace roce::analyze::filter

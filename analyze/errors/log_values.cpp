// SPDX-License-Identifier: Apache-2.0
#include "analyze/errors/log_values.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string>

#include "analyze/base/date_text.hpp"

namespace roce::analyze {
namespace {

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_hex_digit(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// The characters that `text` begins with for which `test` is true.
template <class Test>
std::string_view leading(std::string_view text, Test test) noexcept {
  const auto end = std::find_if_not(text.begin(), text.end(), test);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// "[1795172933.500000]": seconds since the epoch have ten digits from 2001 to 2286.
std::optional<LogTime> read_epoch_seconds(std::string_view text) noexcept {
  constexpr std::size_t seconds_digits = 10;
  constexpr std::size_t most_decimals = 9;
  const std::string_view seconds = leading(text, is_digit);
  if (seconds.size() != seconds_digits || !text.substr(seconds_digits).starts_with('.')) return std::nullopt;
  const std::string_view decimals = leading(text.substr(seconds_digits + 1), is_digit);
  if (decimals.empty()) return std::nullopt;
  std::int64_t ns = 0;
  for (std::size_t i = 0; i < seconds_digits + most_decimals; ++i) {
    const std::size_t at = i - seconds_digits;
    const char digit = i < seconds_digits ? seconds[i] : at < decimals.size() ? decimals[at] : '0';
    if (ns > (INT64_MAX - 9) / 10) return std::nullopt;
    ns = ns * 10 + (digit - '0');
  }
  return LogTime{ns, true};
}

}  // namespace

std::string_view without_leading(std::string_view text, std::string_view which) noexcept {
  const std::size_t at = text.find_first_not_of(which);
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

std::optional<std::uint32_t> read_number(std::string_view text, bool hexadecimal) noexcept {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    hexadecimal = true;
    text.remove_prefix(2);
  }
  std::uint32_t number = 0;
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number, hexadecimal ? 16 : 10);
  if (failure != std::errc()) return std::nullopt;
  const auto used = static_cast<std::size_t>(end - text.data());
  if (used < text.size() && (is_letter(text[used]) || text[used] == '_')) return std::nullopt;
  return number;
}

std::optional<std::uint32_t> read_qp(std::string_view text, bool hexadecimal) noexcept {
  const auto number = read_number(text, hexadecimal);
  return number && *number != 0 && *number <= dissect::serial_mask ? number : std::nullopt;
}

std::optional<dissect::IpAddress> read_address(std::string_view text) noexcept {
  constexpr std::size_t longest = 45;  // INET6_ADDRSTRLEN without the end
  std::string_view word = leading(text, [](char c) { return is_hex_digit(c) || c == ':' || c == '.'; });
  if (word.ends_with('.')) word.remove_suffix(1);  // the end of a sentence
  if (word.size() > longest) return std::nullopt;
  std::array<char, longest + 1> zero_ended{};
  std::copy(word.begin(), word.end(), zero_ended.begin());
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET6, zero_ended.data(), bytes.data()) == 1) {
    const bool nobody = std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
    return nobody ? std::nullopt : std::optional(dissect::IpAddress::v6(bytes.data()));
  }
  if (inet_pton(AF_INET, zero_ended.data(), bytes.data()) == 1) return dissect::IpAddress::v4(bytes.data());
  return std::nullopt;
}

std::optional<dissect::IpAddress> read_decimal_gid(std::string_view text) noexcept {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i != 0) {
      if (!text.starts_with(':')) return std::nullopt;
      text.remove_prefix(1);
    }
    const std::string_view digits = leading(text, is_digit);
    unsigned value = 0;
    if (digits.size() < 2 || digits.size() > 3) return std::nullopt;
    (void)std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (value > 0xff) return std::nullopt;
    bytes[i] = static_cast<std::uint8_t>(value);
    text.remove_prefix(digits.size());
  }
  return dissect::IpAddress::v6(bytes.data());
}

std::string_view read_device(std::string_view text) noexcept {
  constexpr std::size_t longest = 64;  // IB_DEVICE_NAME_MAX
  if (text.empty() || !is_letter(text.front())) return {};
  std::string_view name =
      leading(text, [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; });
  if (std::none_of(name.begin(), name.end(), is_digit)) return {};  // a word
  const std::string_view rest = text.substr(name.size());
  const std::string_view port =
      rest.starts_with(':') ? leading(rest.substr(1), is_digit) : std::string_view();
  if (!port.empty()) name = text.substr(0, name.size() + 1 + port.size());
  return name.size() <= longest ? name : std::string_view();
}

std::optional<LogTime> read_log_time(std::string_view line) {
  line = without_leading(line, " [");
  if (const auto seconds = read_epoch_seconds(line)) return seconds;
  constexpr std::size_t date_size = 10;  // "2026-11-20"
  constexpr std::size_t longest = 40;
  if (line.size() < date_size || line[4] != '-' || line[7] != '-') return std::nullopt;
  std::string date(line.substr(0, date_size));
  std::string_view rest = line.substr(date_size);
  if (!rest.starts_with(' ') && !rest.starts_with('T')) return std::nullopt;
  rest.remove_prefix(1);
  const std::string_view clock = leading(
      rest.substr(0, longest), [](char c) { return is_digit(c) || c == ':' || c == '.' || c == ','; });
  date += ' ';
  date += clock;
  while (date.ends_with(',') || date.ends_with(':')) date.pop_back();
  std::replace(date.begin(), date.end(), ',', '.');  // as Python's logging writes it
  rest.remove_prefix(clock.size());
  bool zone_known = rest.starts_with('Z');
  if (zone_known) {
    date += 'Z';
  } else if (rest.starts_with('+') || rest.starts_with('-')) {
    const std::string_view zone = leading(rest.substr(1), [](char c) { return is_digit(c) || c == ':'; });
    const auto with_zone = parse_date(date + rest.front() + std::string(zone));
    if (with_zone) return LogTime{*with_zone, true};
  }
  const auto ns = parse_date(date);
  if (!ns) return std::nullopt;
  return LogTime{*ns, zone_known};
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
// Constants as people write them, by type and without a field. Internal to analyze.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roce::analyze::filter {

enum class NumberProblem : std::uint8_t { none, not_a_number, too_large, negative };

/// Decimal, 0x hexadecimal, 0 octal, 0b binary.
[[nodiscard]] NumberProblem parse_number(std::string_view text, std::uint64_t& number) noexcept;

/// Seconds with up to nine decimals and an optional s, perhaps negative, as nanoseconds.
[[nodiscard]] std::optional<std::int64_t> parse_seconds(std::string_view text) noexcept;

/// "2026-11-20 11:08:53.5", with T or a blank, seconds and Z optional: nanoseconds since the epoch (UTC).
[[nodiscard]] std::optional<std::int64_t> parse_date(std::string_view text) noexcept;

/// Bytes with : - or . between them, 0x and digits, or an even number of digits (one for one byte).
[[nodiscard]] std::optional<std::string> parse_bytes(std::string_view text);

/// Six or eight bytes with : or - between them, or digits in fours with a point between.
[[nodiscard]] std::optional<std::string> parse_hardware_address(std::string_view text, std::size_t size);

/// Four (IPv4) or sixteen (IPv6) bytes.
[[nodiscard]] std::optional<std::string> parse_ipv4(std::string_view text);
[[nodiscard]] std::optional<std::string> parse_ipv6(std::string_view text);

}  // namespace roce::analyze::filter

// SPDX-License-Identifier: Apache-2.0
// Parses constants by type, independent of a field. Internal to analyze.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roce::analyze::filter {

enum class NumberProblem : std::uint8_t { none, not_a_number, too_large, negative };

/// A number: decimal, 0x hexadecimal, 0 octal, 0b binary.
[[nodiscard]] NumberProblem parse_number(std::string_view text, std::uint64_t& number) noexcept;

/// Seconds with up to nine decimals, an optional sign and an optional s, in nanoseconds.
[[nodiscard]] std::optional<std::int64_t> parse_seconds(std::string_view text) noexcept;

/// Bytes separated by : - or . ; or hexadecimal digits, with or without 0x, two per byte.
[[nodiscard]] std::optional<std::string> parse_bytes(std::string_view text);

/// A MAC address or EUI-64 of `size` bytes separated by : or -, or in groups of four digits separated by
/// points.
[[nodiscard]] std::optional<std::string> parse_hardware_address(std::string_view text, std::size_t size);

/// Four (IPv4) or sixteen (IPv6) bytes.
[[nodiscard]] std::optional<std::string> parse_ipv4(std::string_view text);
[[nodiscard]] std::optional<std::string> parse_ipv6(std::string_view text);

}  // namespace roce::analyze::filter

// SPDX-License-Identifier: Apache-2.0
// Numbers, times and text for output. All functions append to a string that its owner reuses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dissect/bytes.hpp"

namespace roce::analyze {

void append_decimal(std::string& out, std::uint64_t value);
/// Right-aligned with spaces to at least `width`.
void append_decimal(std::string& out, std::uint64_t value, std::size_t width);
/// Hexadecimal: 0x and at least `digits` digits.
void append_hex_number(std::string& out, std::uint64_t value, unsigned digits);
/// Hexadecimal without 0x, two digits per byte.
void append_hex(std::string& out, dissect::Bytes bytes);
/// Nanoseconds as seconds with `decimals` (0 to 9) decimal places, truncated, not rounded.
void append_seconds(std::string& out, std::int64_t nanoseconds, unsigned decimals = 9);
/// Text from the wire for a terminal: valid UTF-8 stays, control characters and backslashes are escaped as
/// in C, bytes that are not UTF-8 become \xNN.
void append_printable(std::string& out, std::string_view text);
/// Text from the wire for a database: bytes that are not UTF-8, and control characters of ASCII other than
/// tab and line feed, become U+FFFD; all else stays.
void append_valid_text(std::string& out, std::string_view text);
/// Our own output for a terminal, with names in it: newlines stay, other control characters become '?'.
void append_lines(std::string& out, std::string_view text);
/// Text from the wire inside a JSON string, without the quotes; bytes that are not UTF-8 become U+FFFD.
void append_json_escaped(std::string& out, std::string_view text);

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace roce::dissect {

/// The bytes that hexadecimal digits spell; everything else is skipped.
inline std::vector<std::uint8_t> hex(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  int high = -1;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const int digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    if (digit < 0) continue;
    if (high >= 0) bytes.push_back(static_cast<std::uint8_t>(high * 16 + digit));
    high = high < 0 ? digit : -1;
  }
  return bytes;
}

}  // namespace roce::dissect

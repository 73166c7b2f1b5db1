// SPDX-License-Identifier: Apache-2.0
#include "capture/write/random_name.hpp"

#include <sys/random.h>
#include <sys/types.h>

#include <array>
#include <climits>
#include <cstdint>

namespace roce::capture {

std::string random_name(const std::string& name) {
  std::array<std::uint8_t, 8> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  constexpr char digits[] = "0123456789abcdef";
  std::string ending = ".";
  for (const std::uint8_t byte : bytes) {
    ending += digits[byte >> 4U];
    ending += digits[byte & 0xFU];
  }
  ending += ".tmp";
  return name.substr(0, NAME_MAX - ending.size()) + ending;
}

}  // namespace roce::capture

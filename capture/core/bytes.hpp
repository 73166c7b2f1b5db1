// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace roce::capture {

/// Integers of a capture file: unaligned, in the byte order of the machine that wrote them.
/// `swapped` = that order differs from ours.
constexpr std::uint16_t swap_bytes(std::uint16_t value) noexcept {
  return __builtin_bswap16(value);
}
constexpr std::uint32_t swap_bytes(std::uint32_t value) noexcept {
  return __builtin_bswap32(value);
}
constexpr std::uint64_t swap_bytes(std::uint64_t value) noexcept {
  return __builtin_bswap64(value);
}

template <class Integer>
[[nodiscard]] inline Integer load(const std::uint8_t* at, bool swapped) noexcept {
  Integer value;
  std::memcpy(&value, at, sizeof value);
  return swapped ? swap_bytes(value) : value;
}

/// 32 bits in little-endian order, as in the headers of compression formats.
[[nodiscard]] inline std::uint32_t load_little32(const std::uint8_t* at) noexcept {
  return load<std::uint32_t>(at, std::endian::native != std::endian::little);
}

}  // namespace roce::capture

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace roce::dissect {

using Bytes = std::span<const std::uint8_t>;

/// Big-endian load of N (1 to 8) bytes at any alignment; compilers make one load and a swap of it.
template <std::size_t N>
[[nodiscard]] constexpr std::uint64_t load_be(const std::uint8_t* p) noexcept {
  static_assert(N >= 1 && N <= 8);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < N; ++i) value = (value << 8) | p[i];
  return value;
}

/// The same with a length known only at run time (1 to 8).
[[nodiscard]] constexpr std::uint64_t load_be(const std::uint8_t* p, std::size_t n) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < n; ++i) value = (value << 8) | p[i];
  return value;
}

/// Little-endian load of 1 to 8 bytes.
[[nodiscard]] constexpr std::uint64_t load_le(const std::uint8_t* p, std::size_t n) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = n; i-- > 0;) value = (value << 8) | p[i];
  return value;
}

[[nodiscard]] constexpr std::uint16_t load_be16(const std::uint8_t* p) noexcept {
  return static_cast<std::uint16_t>((p[0] << 8) | p[1]);
}
[[nodiscard]] constexpr std::uint32_t load_be24(const std::uint8_t* p) noexcept {
  return static_cast<std::uint32_t>(load_be<3>(p));
}
[[nodiscard]] constexpr std::uint32_t load_be32(const std::uint8_t* p) noexcept {
  return static_cast<std::uint32_t>(load_be<4>(p));
}

}  // namespace roce::dissect

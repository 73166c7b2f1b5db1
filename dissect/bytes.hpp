// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace roce::dissect {

using Bytes = std::span<const std::uint8_t>;

namespace detail {
/// An unsigned integer from memory of the same size, most significant byte first. Written with
/// builtins because g++ 12 turns a loop over bytes into one load per byte.
template <class Word>
[[nodiscard]] inline Word load_word(const std::uint8_t* p) noexcept {
  Word word;
  std::memcpy(&word, p, sizeof word);
  if constexpr (std::endian::native == std::endian::big) return word;
  if constexpr (sizeof word == 2) return __builtin_bswap16(word);
  if constexpr (sizeof word == 4) return __builtin_bswap32(word);
  if constexpr (sizeof word == 8) return __builtin_bswap64(word);
}
}  // namespace detail

/// Big-endian load of N (1 to 8) bytes at any alignment; one load and a swap for 2, 4 and 8 bytes.
template <std::size_t N>
[[nodiscard]] constexpr std::uint64_t load_be(const std::uint8_t* p) noexcept {
  static_assert(N >= 1 && N <= 8);
  if (!std::is_constant_evaluated()) {
    if constexpr (N == 2) return detail::load_word<std::uint16_t>(p);
    if constexpr (N == 4) return detail::load_word<std::uint32_t>(p);
    if constexpr (N == 8) return detail::load_word<std::uint64_t>(p);
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < N; ++i) value = (value << 8) | p[i];
  return value;
}

/// Big-endian load with a length known only at run time (1 to 8 bytes).
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
  return static_cast<std::uint16_t>(load_be<2>(p));
}
[[nodiscard]] constexpr std::uint32_t load_be24(const std::uint8_t* p) noexcept {
  return static_cast<std::uint32_t>(load_be<3>(p));
}
[[nodiscard]] constexpr std::uint32_t load_be32(const std::uint8_t* p) noexcept {
  return static_cast<std::uint32_t>(load_be<4>(p));
}

}  // namespace roce::dissect

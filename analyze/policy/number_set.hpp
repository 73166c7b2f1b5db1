// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace roce::analyze {

/// A set of numbers below N, as bits.
template <std::size_t N>
class NumberSet {
 public:
  static constexpr std::size_t limit = N;

  /// `number` < N.
  constexpr void add(std::size_t number) noexcept { words_[number / 64] |= std::uint64_t{1} << number % 64; }
  constexpr void add(std::size_t first, std::size_t last) noexcept {
    for (std::size_t number = first; number <= last; ++number) add(number);
  }
  [[nodiscard]] constexpr bool contains(std::size_t number) const noexcept {
    return number < N && (words_[number / 64] >> number % 64 & 1U) != 0;
  }
  [[nodiscard]] constexpr bool empty() const noexcept {
    for (const std::uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }
  [[nodiscard]] constexpr bool operator==(const NumberSet&) const noexcept = default;

  /// Calls each(first, last) for every run of consecutive numbers, ascending.
  template <class Each>
  constexpr void for_each_run(Each each) const {
    for (std::size_t first = 0; first < N; ++first) {
      if (!contains(first)) continue;
      std::size_t last = first;
      while (last + 1 < N && contains(last + 1)) ++last;
      each(first, last);
      first = last;
    }
  }

 private:
  std::array<std::uint64_t, (N + 63) / 64> words_{};
};

using DscpSet = NumberSet<64>;
using EcnSet = NumberSet<4>;
using PrioritySet = NumberSet<8>;
using TtlSet = NumberSet<256>;
using VlanSet = NumberSet<4096>;

/// "26", "24 or 26", "0-3, 8 or 16-23".
template <std::size_t N>
[[nodiscard]] std::string set_text(const NumberSet<N>& set) {
  std::string text, last_part;
  set.for_each_run([&](std::size_t first, std::size_t last) {
    if (!last_part.empty()) text += (text.empty() ? "" : ", ") + last_part;
    last_part = std::to_string(first);
    if (last != first) last_part += '-' + std::to_string(last);
  });
  return text.empty() ? last_part : text + " or " + last_part;
}

}  // namespace roce::analyze

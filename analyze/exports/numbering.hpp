// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Internal to this room.
namespace roce::analyze {

/// What came of a number: 0 in its turn, more: so many are missing before it; nothing: it came before.
enum class Turn : std::uint8_t { next, late, twice };
struct Placing {
  Turn turn = Turn::next;
  std::uint32_t missing = 0;
};

/// Numbers of 32 bits that count up by one; those that come late are told from those that come twice as far
/// as 63 back.
struct Numbering {
  bool any = false;
  std::uint32_t last = 0;
  std::uint64_t seen = 0;  ///< bit n: last - n has come

  [[nodiscard]] Placing count_in(std::uint32_t number) noexcept {
    const auto ahead = static_cast<std::int32_t>(number - last);
    constexpr std::int32_t remembered = 64;
    Placing counted;
    if (!any) {
      *this = {true, number, 1};
    } else if (ahead > 0) {
      counted.missing = static_cast<std::uint32_t>(ahead) - 1U;
      seen = ahead < remembered ? seen << static_cast<unsigned>(ahead) | 1U : 1U;
      last = number;
    } else {
      const std::uint64_t bit = ahead > -remembered ? std::uint64_t{1} << static_cast<unsigned>(-ahead) : 0;
      counted.turn = bit == 0 || (seen & bit) != 0 ? Turn::twice : Turn::late;
      seen |= bit;
    }
    return counted;
  }
};

inline void add_counted(std::uint64_t& missing, const Placing& counted) noexcept {
  missing += counted.missing;
  if (counted.turn == Turn::late && missing != 0) --missing;
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#include "dissect/aeth.hpp"

#include <array>
#include <cstddef>

#include "dissect/headers/infiniband.hpp"

namespace roce::dissect {
namespace {

constexpr std::uint8_t no_credits_code = 31;

constexpr std::array<std::uint32_t, 31> credit_table{
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

/// In units of 10 us, which all timers are multiples of.
constexpr std::array<std::uint32_t, 32> timer_table{
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
constexpr std::uint64_t timer_unit_ns = 10'000;

struct Text {
  std::array<char, 40> chars{};
  std::uint8_t length = 0;

  constexpr void append(std::string_view part) {
    for (const char c : part) chars[length++] = c;
  }
  constexpr void append_number(std::uint32_t value, unsigned min_digits = 1) {
    std::array<char, 10> digits{};
    unsigned count = 0;
    do {
      digits[count++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0 || count < min_digits);
    while (count-- > 0) chars[length++] = digits[count];
  }
};

consteval std::array<Text, 256> derive_texts() {
  constexpr std::string_view hex = "0123456789abcdef";
  std::array<Text, 256> table{};
  for (unsigned syndrome = 0; syndrome < 256; ++syndrome) {
    Text& text = table[syndrome];
    const std::uint8_t code = aeth_code(static_cast<std::uint8_t>(syndrome));
    switch (aeth_kind(static_cast<std::uint8_t>(syndrome))) {
      case AethKind::ack:
        text.append("ACK");
        break;
      case AethKind::rnr_nak:
        text.append("RNR NAK ");
        text.append_number(timer_table[code] / 100);
        text.append(".");
        text.append_number(timer_table[code] % 100, 2);
        text.append(" ms");
        break;
      case AethKind::reserved:
        text.append("reserved 0x");
        text.append(hex.substr(syndrome >> 4U, 1));
        text.append(hex.substr(syndrome & 15U, 1));
        break;
      case AethKind::nak: {
        text.append("NAK ");
        const std::string_view name = name_of(nak_code_names, code);
        if (name.empty()) {
          text.append("code ");
          text.append_number(code);
        } else {
          text.append(name);
        }
        break;
      }
    }
  }
  return table;
}

constexpr std::array<Text, 256> texts = derive_texts();

}  // namespace

std::optional<std::uint32_t> credits(std::uint8_t code) noexcept {
  const std::uint8_t index = aeth_code(code);
  if (index == no_credits_code) return std::nullopt;
  return credit_table[index];
}

std::uint64_t rnr_timer_ns(std::uint8_t code) noexcept {
  return timer_table[aeth_code(code)] * timer_unit_ns;
}

std::string_view nak_name(std::uint8_t code) noexcept {
  return name_of(nak_code_names, code);
}

std::string_view syndrome_text(std::uint8_t syndrome) noexcept {
  const Text& text = texts[syndrome];
  return {text.chars.data(), text.length};
}

}  // namespace roce::dissect

// SPDX-License-Identifier: Apache-2.0
// One row describes one header field: its Wireshark name, the position of its bits as the
// specification draws them, its display format and its section in the specification. From the row come the
// accessor, the tree line, JSON, the display-filter name and the bytes that a hex view highlights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "dissect/bytes.hpp"

namespace roce::dissect {

enum class Display : std::uint8_t {
  decimal,
  hex,      ///< 0x with leading zeros, to the width of the field's type in Wireshark
  boolean,  ///< 1 or 0
  mac,      ///< 6 bytes
  ipv4,     ///< 4 bytes
  ipv6,     ///< 16 bytes; also a GID
  eui64,    ///< 8 bytes
  bytes,    ///< hexadecimal without 0x
  text,     ///< printable characters
};

/// A value and its name, e.g. {0x8915, "RoCE v1"}.
struct ValueName {
  std::uint64_t value;
  std::string_view text;
};

struct Field {
  /// Whether this header has the optional field; `header` has at least the header's fixed size.
  using Presence = bool (*)(const std::uint8_t* header) noexcept;

  std::string_view name;   ///< as in display filters, "infiniband.bth.psn"
  std::string_view label;  ///< as in the tree, "Packet Sequence Number"
  std::uint16_t bit;       ///< first bit, counted from the header's first, most significant first
  std::uint16_t bits;      ///< width; 0 = the bytes from `bit` to the end of the header
  Display display = Display::decimal;
  std::string_view section = {};  ///< section of the specification that defines it
  std::span<const ValueName> names = {};
  std::uint8_t hex_digits = 0;  ///< digits of Display::hex where Wireshark's type is wider than the field
  std::uint8_t scale = 1;       ///< the displayed value is the one on the wire times this (IPv4 IHL: 4)
  Presence present = nullptr;
  bool little_endian = false;  ///< least significant byte first (NVMe, SMB Direct)

  [[nodiscard]] constexpr bool is_number() const noexcept {
    return display == Display::decimal || display == Display::hex || display == Display::boolean;
  }
  [[nodiscard]] constexpr std::size_t first_byte() const noexcept { return bit / 8U; }
  /// One past the last byte; for a field that runs to the header's end, its first byte.
  [[nodiscard]] constexpr std::size_t end_byte() const noexcept { return (bit + bits + 7U) / 8U; }
};

/// The raw (unscaled) value of a field of at most 64 bits that spans at most 8 bytes.
/// `header` must hold field.end_byte() bytes.
[[nodiscard]] constexpr std::uint64_t read_bits(const Field& field, const std::uint8_t* header) noexcept {
  const std::size_t first = field.first_byte();
  const std::size_t end = field.end_byte();
  const std::uint64_t bytes =
      field.little_endian ? load_le(header + first, end - first) : load_be(header + first, end - first);
  const std::uint64_t word = bytes >> (end * 8U - field.bit - field.bits);
  return field.bits >= 64 ? word : word & ((std::uint64_t{1} << field.bits) - 1U);
}

namespace detail {
template <std::size_t Bits>
using UintFor =
    std::conditional_t<(Bits <= 8), std::uint8_t,
                       std::conditional_t<(Bits <= 16), std::uint16_t,
                                          std::conditional_t<(Bits <= 32), std::uint32_t, std::uint64_t>>>;
}  // namespace detail

/// Compile-time accessor: `read<Bth::psn>(p)` is one load, one swap, one mask.
/// `header` must hold the field; dissect() guarantees that for the fixed part of every Layer.
template <const Field& F>
[[nodiscard]] constexpr auto read(const std::uint8_t* header) noexcept {
  static_assert(F.bits >= 1 && F.bits <= 64 && F.end_byte() - F.first_byte() <= 8);
  constexpr std::size_t end = F.end_byte();
  // Three, five, six or seven bytes are read together with those before them in the header, where
  // there are enough: one load of four or eight instead of several. The mask takes them off again.
  constexpr std::size_t width = end - F.first_byte();
  constexpr std::size_t wide = width <= 2 ? width : width <= 4 ? 4 : 8;
  constexpr std::size_t first = F.little_endian || end < wide ? F.first_byte() : end - wide;
  constexpr std::size_t shift = end * 8U - F.bit - F.bits;
  constexpr std::uint64_t mask = F.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << F.bits) - 1U;
  const std::uint64_t bytes =
      F.little_endian ? load_le(header + first, end - first) : load_be<end - first>(header + first);
  return static_cast<detail::UintFor<F.bits>>((bytes >> shift) & mask);
}

/// The name of `value`, or an empty view.
[[nodiscard]] constexpr std::string_view name_of(std::span<const ValueName> names,
                                                 std::uint64_t value) noexcept {
  for (const ValueName& row : names) {
    if (row.value == value) return row.text;
  }
  return {};
}

}  // namespace roce::dissect

// SPDX-License-Identifier: Apache-2.0
// Short forms for rows of long field lists. `bits` 0 runs to the end of the header.
// Not consteval: clang 14 then rejects constants of class templates as arguments.
#pragma once

#include "dissect/field.hpp"

namespace roce::dissect::detail {

/// A number in hexadecimal; Wireshark's type of the field has `type_bits` bits.
constexpr Field hex_field(std::string_view name, std::string_view label, unsigned bit, unsigned bits,
                          unsigned type_bits, std::string_view section, std::span<const ValueName> names = {},
                          Field::Presence present = nullptr) {
  Field field{name, label, static_cast<std::uint16_t>(bit), static_cast<std::uint16_t>(bits), Display::hex};
  field.section = section;
  field.names = names;
  field.hex_digits = static_cast<std::uint8_t>(type_bits / 4);
  field.present = present;
  return field;
}

constexpr Field plain_field(std::string_view name, std::string_view label, unsigned bit, unsigned bits,
                            Display display, std::string_view section, std::span<const ValueName> names = {},
                            Field::Presence present = nullptr) {
  Field field{name, label, static_cast<std::uint16_t>(bit), static_cast<std::uint16_t>(bits), display};
  field.section = section;
  field.names = names;
  field.present = present;
  return field;
}

constexpr Field decimal_field(std::string_view name, std::string_view label, unsigned bit, unsigned bits,
                              std::string_view section, std::span<const ValueName> names = {},
                              Field::Presence present = nullptr) {
  return plain_field(name, label, bit, bits, Display::decimal, section, names, present);
}

constexpr Field flag_field(std::string_view name, std::string_view label, unsigned bit,
                           std::string_view section) {
  return plain_field(name, label, bit, 1, Display::boolean, section);
}

/// Whole reserved bytes of an InfiniBand header, under Wireshark's common name for them.
constexpr Field reserved_bytes(unsigned bit, unsigned bits) {
  return plain_field("infiniband.reserved", "Reserved", bit, bits, Display::bytes, {});
}

}  // namespace roce::dissect::detail

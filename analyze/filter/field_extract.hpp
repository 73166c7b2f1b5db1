// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/filter/field_registry.hpp"
#include "analyze/filter/value.hpp"
#include "dissect/field.hpp"
#include "dissect/header_id.hpp"
#include "dissect/ipfix.hpp"

// Internal: shared by the registry and the packet tree.
namespace roce::analyze {

/// How values of a field are compared and printed.
constexpr ValueType value_type_of(dissect::Display display) noexcept {
  using enum dissect::Display;
  switch (display) {
    case decimal:
    case hex:
      return ValueType::number;
    case boolean:
      return ValueType::boolean;
    case mac:
      return ValueType::mac;
    case ipv4:
      return ValueType::ipv4;
    case ipv6:
      return ValueType::ipv6;
    case eui64:
      return ValueType::eui64;
    case bytes:
      return ValueType::bytes;
    case text:
      return ValueType::text;
  }
  return ValueType::number;
}

/// The field's value in a header of `length` bytes at `header`; absent if the header does not have the field.
[[nodiscard]] std::optional<Value> read_value(const dissect::Field& field, const std::uint8_t* header,
                                              std::size_t length);

/// The same of a value that a switch exported; absent if it is too long or too short for what it is.
[[nodiscard]] std::optional<Value> read_value(const dissect::ipfix::RecordValue& exported,
                                              const std::uint8_t* frame);

/// A field of a header with its entry in the registry.
struct HeaderField {
  FieldRef ref;
  const dissect::Field* field;
};
/// The fields of one header, in its order. The reference is valid for the whole run.
[[nodiscard]] const std::vector<HeaderField>& fields_of(dissect::HeaderId id);

/// Number of digits of a hexadecimal field, by its type in Wireshark.
[[nodiscard]] std::uint8_t hex_digits_of(const dissect::Field& field);

}  // namespace roce::analyze

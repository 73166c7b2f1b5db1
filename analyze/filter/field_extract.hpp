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

// Internal: what the registry and the tree share.
namespace roce::analyze {

/// The field's value in a header of `length` bytes at `header`; nothing where the field is absent.
[[nodiscard]] std::optional<Value> read_value(const dissect::Field& field, const std::uint8_t* header,
                                              std::size_t length);

/// A field of a header with its name's entry in the registry.
struct HeaderField {
  FieldRef ref;
  const dissect::Field* field;
};
/// The fields of one header, in its order. Valid for ever.
[[nodiscard]] const std::vector<HeaderField>& fields_of(dissect::HeaderId id);

/// Digits of a hexadecimal field as Wireshark's type of it has them.
[[nodiscard]] std::uint8_t hex_digits_of(const dissect::Field& field);

}  // namespace roce::analyze

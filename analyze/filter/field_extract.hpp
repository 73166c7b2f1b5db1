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

// Internal: shared by the registry and the packet tree.
namespace roce::analyze {

/// The field's value in a header of `length` bytes at `header`; absent if the header does not have the field.
[[nodiscard]] std::optional<Value> read_value(const dissect::Field& field, const std::uint8_t* header,
                                              std::size_t length);

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

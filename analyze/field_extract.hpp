// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyze/value.hpp"
#include "dissect/field.hpp"

// Internal: what the registry and the tree share.
namespace roce::analyze {

/// The field's value in a header of `length` bytes at `header`; nothing where the field is absent.
[[nodiscard]] std::optional<Value> read_value(const dissect::Field& field, const std::uint8_t* header,
                                              std::size_t length);

/// Digits of a hexadecimal field as Wireshark's type of it has them.
[[nodiscard]] std::uint8_t hex_digits_of(const dissect::Field& field);

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dissect/bytes.hpp"
#include "dissect/field.hpp"

namespace roce::analyze {

/// How a field's values compare and print.
enum class ValueType : std::uint8_t {
  number,   ///< unsigned, decimal or hexadecimal by the field
  boolean,  ///< prints 1 or 0
  time,     ///< nanoseconds in `number` (signed), prints as seconds with nine digits
  text,
  mac,
  ipv4,
  ipv6,  ///< also GIDs
  ip,    ///< of a field only (roce.src): its values are of type ipv4 or ipv6
  eui64,
  bytes,     ///< bare hexadecimal
  presence,  ///< a header: there or not
};

/// One occurrence of a field in one packet. Borrows text and bytes from the packet or from
/// static tables; text of frame.protocols lives until its next extraction in the same thread.
struct Value {
  ValueType type = ValueType::number;
  std::uint8_t hex_digits =
      0;  ///< of hexadecimal numbers, where rows of one name differ; 0 = as FieldFacts say
  std::uint64_t number = 0;
  std::string_view text;  ///< ValueType::text; for numbers the word for the value, if it has one
  dissect::Bytes bytes;   ///< addresses and bytes; for header fields also the bytes it was read from
};

/// Occurrences of one field in one packet, outermost first. Reused from packet to packet.
using Values = std::vector<Value>;

}  // namespace roce::analyze

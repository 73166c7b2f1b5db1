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

/// Type of a field's values: how they are compared and printed.
enum class ValueType : std::uint8_t {
  number,   ///< unsigned, decimal or hexadecimal by the field
  boolean,  ///< printed as 1 or 0
  time,     ///< nanoseconds in `number` (signed), printed as seconds with nine decimals
  date,     ///< the same since the epoch, printed as a date and time in UTC
  text,
  mac,
  ipv4,
  ipv6,  ///< also GIDs
  ip,    ///< of a field only (roce.src): its values are of type ipv4 or ipv6
  eui64,
  bytes,     ///< hexadecimal without 0x
  presence,  ///< a header: present or not
};

/// One occurrence of a field in one packet. Text and bytes refer to the packet or to static tables; the text
/// of frame.protocols is valid until its next extraction in the same thread.
struct Value {
  ValueType type = ValueType::number;
  std::uint8_t hex_digits =
      0;  ///< of hexadecimal numbers, if fields of one name differ; 0 = as in FieldFacts
  std::uint64_t number = 0;
  std::string_view text;  ///< ValueType::text; for numbers the name of the value, if it has one
  dissect::Bytes bytes;   ///< addresses and bytes; for header fields the bytes it was read from
};

/// Occurrences of a field in one packet, outermost first. Reused from packet to packet.
using Values = std::vector<Value>;

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "dissect/bytes.hpp"

namespace roce::dissect {

/// Whether the checksum of an IPv4 header is right (RFC 791, 3.1): its words sum up to all ones. A host that
/// receives a wrong one discards the packet (RFC 1122, 3.2.1.2). True for a header that is not completely in
/// `bytes`.
[[nodiscard]] inline bool ipv4_checksum_right(Bytes bytes) noexcept {
  if (bytes.empty()) return true;
  const std::size_t size = std::size_t{bytes[0] & 15U} * 4;
  if (size > bytes.size()) return true;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < size; i += 2) sum += load_be16(bytes.data() + i);
  sum = (sum & 0xffffU) + (sum >> 16U);
  return (sum & 0xffffU) + (sum >> 16U) == 0xffffU;
}

/// Whether the wrong checksum of an IPv4 header is that of the packet before a switch trimmed it: right with
/// `length` for the total length and any DSCP. Not every switch that trims renews it.
[[nodiscard]] inline bool ipv4_checksum_before(Bytes bytes, std::uint32_t length) noexcept {
  constexpr std::size_t at_length = 2, smallest = 20;
  constexpr std::int32_t ones = 0xffff, ecn = 3, tos = 0xff;
  const std::size_t size = bytes.empty() ? 0 : std::size_t{bytes[0] & 15U} * 4;
  if (size < smallest || size > bytes.size() || length > static_cast<std::uint32_t>(ones)) return false;
  std::uint32_t sum = length;
  for (std::size_t i = 0; i < size; i += 2)
    if (i != at_length) sum += load_be16(bytes.data() + i);
  // Modulo all ones, so much is missing in the TOS.
  std::int32_t missing = ones - static_cast<std::int32_t>(sum % static_cast<std::uint32_t>(ones));
  if (missing > ones / 2) missing -= ones;
  const std::int32_t before = bytes[1] + missing;
  return (missing & ecn) == 0 && before >= 0 && before <= tos;
}

}  // namespace roce::dissect

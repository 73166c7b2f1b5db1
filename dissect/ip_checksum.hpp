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

}  // namespace roce::dissect

// SPDX-License-Identifier: Apache-2.0
#include "dissect/fast_cnp.hpp"

#include <algorithm>
#include <iterator>

#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/opcode.hpp"

namespace roce::dissect {
namespace {

/// Destination options that IANA has assigned to something else, some of which are as long as an address or
/// begin with one: IOAM (0x11, 0x31), alternate marking (0x12, 0x32), the home address of mobile IPv6 (0xc9).
bool is_assigned(std::uint8_t type) noexcept {
  constexpr std::uint8_t assigned[] = {0x04, 0x05, 0x07, 0x08, 0x0f, 0x11, 0x12, 0x23, 0x26, 0x30,
                                       0x31, 0x32, 0x63, 0x6d, 0x8a, 0x8b, 0x8c, 0xc2, 0xc9, 0xee};
  return std::binary_search(std::begin(assigned), std::end(assigned), type);
}

}  // namespace

std::optional<std::uint32_t> fast_cnp_address(Bytes frame, const Dissection& d) noexcept {
  constexpr std::uint8_t pad1 = 0, pad_n = 1, multicast = 0xff;  // RFC 8200, 4.2
  constexpr std::uint32_t head = 2, address = 16;
  if (d.bth == Dissection::none || d.transport != Transport::roce_v2_ipv6 || d.network == Dissection::none)
    return std::nullopt;
  if (opcode_info(frame[d.layers[d.bth].offset]).operation != Operation::cnp) return std::nullopt;
  for (std::size_t i = d.network; i < d.bth; ++i) {
    const Layer& layer = d.layers[i];
    if (layer.id != HeaderId::ipv6_destination_options) continue;
    const std::uint32_t end = layer.offset + layer.length;
    for (std::uint32_t at = layer.offset + head; at < end;) {
      const std::uint8_t type = frame[at];
      if (type == pad1) {
        ++at;
        continue;
      }
      if (end - at < head) break;
      const std::uint32_t length = frame[at + 1U];
      if (length > end - at - head) break;
      if (type != pad_n && !is_assigned(type) && length >= address && frame[at + head] != multicast)
        return at + head;
      at += head + length;
    }
  }
  return std::nullopt;
}

}  // namespace roce::dissect

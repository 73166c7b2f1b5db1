// SPDX-License-Identifier: Apache-2.0
// The addresses that a GID encodes (IBTA A16.5, A17.4; Linux derives its GIDs from the interface in this
// way), and whether a frame's GIDs agree with its Ethernet header.
#pragma once

#include <array>
#include <cstdint>

#include "dissect/dissection.hpp"
#include "dissect/types.hpp"

namespace roce::dissect {

enum class GidKind : std::uint8_t {
  zero,              ///< unset
  ipv4_mapped,       ///< ::ffff:a.b.c.d: RoCE v2 over IPv4, or RoCE v1 with such a GID
  link_local_mac,    ///< fe80::/64 with the modified EUI-64 of a MAC address
  link_local_vlan,   ///< link_local_mac with a VLAN id instead of ff:fe; may also be a random identifier
  link_local_other,  ///< fe80::/64 with another identifier
  multicast,
  other,  ///< a routable IPv6 address, or a native InfiniBand GID
};

struct GidMeaning {
  GidKind kind = GidKind::other;
  MacAddress mac{};                    ///< of link_local_mac and link_local_vlan
  std::uint16_t vlan = 0;              ///< of link_local_vlan, 0-4095
  std::array<std::uint8_t, 4> ipv4{};  ///< of ipv4_mapped
};

[[nodiscard]] GidMeaning meaning_of(const IpAddress& gid) noexcept;

/// How a link-local address of a RoCE v1 or RoCE v2 over IPv6 frame contradicts the Ethernet header
/// directly before it. Both are false for frames where this cannot be checked.
struct GidDisagreement {
  bool mac = false;   ///< an address encodes another MAC address than the frame has at that end
  bool vlan = false;  ///< RoCE v1: the address encodes another VLAN than the frame's tag
  [[nodiscard]] explicit operator bool() const noexcept { return mac || vlan; }
};
[[nodiscard]] GidDisagreement gid_disagrees(Bytes frame, const Dissection& dissection) noexcept;

}  // namespace roce::dissect

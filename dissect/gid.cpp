// SPDX-License-Identifier: Apache-2.0
#include "dissect/gid.hpp"

#include <algorithm>

#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::dissect {
namespace {

/// The modified EUI-64 of RFC 4291, appendix A, inverts the MAC's universal/local bit.
constexpr std::uint8_t universal_bit = 0x02;

bool is_tag(HeaderId id) noexcept {
  return id == HeaderId::vlan || id == HeaderId::service_vlan;
}

/// Whether there are only tags between the innermost Ethernet header and the network header: with a tunnel
/// without Ethernet the source MAC address is that of another device.
bool ethernet_carries_network(const Dissection& d) noexcept {
  if (d.ethernet >= d.layer_count || d.network >= d.layer_count || d.ethernet > d.network) return false;
  return std::all_of(d.layers.begin() + d.ethernet + 1, d.layers.begin() + d.network,
                     [](const Layer& layer) { return is_tag(layer.id); });
}

}  // namespace

GidMeaning meaning_of(const IpAddress& gid) noexcept {
  const std::uint8_t* p = gid.bytes.data();
  GidMeaning meaning;
  if (gid == IpAddress{}) {
    meaning.kind = GidKind::zero;
  } else if (gid.is_v4_mapped()) {
    meaning.kind = GidKind::ipv4_mapped;
    std::copy_n(p + 12, meaning.ipv4.size(), meaning.ipv4.begin());
  } else if (p[0] == 0xff) {
    meaning.kind = GidKind::multicast;
  } else if (load_be<8>(p) == 0xfe80'0000'0000'0000) {
    meaning.kind = GidKind::link_local_other;
    const std::uint16_t middle = load_be16(p + 11);
    constexpr std::uint16_t eui_middle = 0xfffe, vlan_ids = 0x1000;
    if (middle == eui_middle || middle < vlan_ids) {
      meaning.kind = middle == eui_middle ? GidKind::link_local_mac : GidKind::link_local_vlan;
      if (middle < vlan_ids) meaning.vlan = middle;
      meaning.mac.bytes = {static_cast<std::uint8_t>(p[8] ^ universal_bit), p[9], p[10], p[13], p[14], p[15]};
    }
  }
  return meaning;
}

namespace {

/// How one link-local GID contradicts the MAC address that it should encode.
GidDisagreement compare(const IpAddress& gid, const MacAddress& mac, Bytes frame,
                        const Dissection& d) noexcept {
  const GidMeaning meaning = meaning_of(gid);
  GidDisagreement result;
  if (meaning.kind == GidKind::link_local_mac) {
    result.mac = meaning.mac != mac;  // VLANs cannot be checked: a VLAN interface has the same address
  } else if (meaning.kind == GidKind::link_local_vlan && d.transport == Transport::roce_v1) {
    // Without a tag it cannot be checked: captures on a host often lack it because of the NIC's VLAN offload.
    if (d.vlan >= d.layer_count) return {};
    const std::size_t tag = d.layers[d.vlan].offset;
    if (tag + Vlan::size > frame.size()) return {};
    const std::uint16_t vlan = read<Vlan::vid>(frame.data() + tag);
    // One in sixteen random identifiers has this form: it only counts if MAC address or VLAN agrees.
    const bool mac_agrees = meaning.mac == mac, vlan_agrees = meaning.vlan == vlan;
    result.mac = vlan_agrees && !mac_agrees;
    result.vlan = mac_agrees && !vlan_agrees;
  }
  return result;
}

}  // namespace

GidDisagreement gid_disagrees(Bytes frame, const Dissection& dissection) noexcept {
  const bool v1 = dissection.transport == Transport::roce_v1;
  if ((!v1 && dissection.transport != Transport::roce_v2_ipv6) || !ethernet_carries_network(dissection))
    return {};
  const std::size_t ethernet = dissection.layers[dissection.ethernet].offset;
  const std::size_t network = dissection.layers[dissection.network].offset;
  if (network + Ipv6::size > frame.size() || ethernet + Ethernet::size > frame.size()) return {};

  // Link-local addresses are not routed, so the destination's must fit its MAC as well. GRH and IPv6
  // have their addresses in the same places.
  const std::uint8_t* p = frame.data();
  const GidDisagreement source =
      compare(IpAddress::v6(p + network + Ipv6::src.first_byte()),
              MacAddress::from(p + ethernet + Ethernet::src.first_byte()), frame, dissection);
  const GidDisagreement destination =
      compare(IpAddress::v6(p + network + Ipv6::dst.first_byte()),
              MacAddress::from(p + ethernet + Ethernet::dst.first_byte()), frame, dissection);
  return {source.mac || destination.mac, source.vlan || destination.vlan};
}

}  // namespace roce::dissect

// SPDX-License-Identifier: Apache-2.0
#include "analyze/link/link_view.hpp"

#include "analyze/record/outer_marks.hpp"
#include "dissect/dissect.hpp"
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::analyze {

using namespace dissect;

namespace {

std::uint64_t load_mac(const std::uint8_t* p) noexcept {
  return std::uint64_t{load_be16(p)} << 32U | load_be32(p + 2);
}

/// DSCP of an IPv4 or an IPv6 header.
std::uint8_t dscp_at(bool ipv4, const std::uint8_t* p) noexcept {
  return static_cast<std::uint8_t>(ipv4 ? p[1] >> 2U : (load_be16(p) >> 6U & 63U));
}

}  // namespace

std::optional<LinkView> link_view(const std::uint8_t* frame, const Dissection& d) noexcept {
  std::size_t at = end_of_mirror(d);
  while (at < d.layer_count && d.layers[at].id != HeaderId::ethernet) {
    // Not inside a tunnel: only the mirror's own headers may precede.
    const HeaderId id = d.layers[at].id;
    if (id != HeaderId::erf && (id < HeaderId::gre_checksum || id > HeaderId::gre_sequence))
      return std::nullopt;
    ++at;
  }
  if (at == d.layer_count) return std::nullopt;
  LinkView view;
  const std::uint8_t* ethernet = frame + d.layers[at].offset;
  view.dst = load_mac(ethernet);
  view.src = load_mac(ethernet + 6);
  for (++at; at < d.layer_count; ++at) {
    const Layer& layer = d.layers[at];
    const std::uint8_t* p = frame + layer.offset;
    switch (layer.id) {
      case HeaderId::vlan:
      case HeaderId::service_vlan:
        if (!view.pcp) view.pcp = static_cast<std::uint8_t>(p[0] >> 5U);
        continue;
      case HeaderId::mpls:
      case HeaderId::macsec:
        continue;
      case HeaderId::ipv4:
      case HeaderId::ipv6:
        view.dscp = dscp_at(layer.id == HeaderId::ipv4, p);
        return view;
      default:
        return view;
    }
  }
  return view;
}

std::optional<LinkView> link_view_fast(const capture::Frame& frame) noexcept {
  constexpr std::uint32_t most_tags = 2, tag_size = 4, network_size = 20;
  if (frame.link_type != link_ethernet) return std::nullopt;
  const std::uint8_t* p = frame.data;
  std::uint32_t at = static_cast<std::uint32_t>(Ethernet::size);
  if (frame.captured < at + most_tags * tag_size + network_size) return std::nullopt;
  LinkView view{load_mac(p), load_mac(p + 6), {}, 0};
  std::uint16_t type = load_be16(p + 12);
  for (std::uint32_t tag = 0; tag < most_tags; ++tag) {
    if (type != ethertype_vlan && type != ethertype_qinq && type != ethertype_qinq_old) break;
    if (!view.pcp) view.pcp = static_cast<std::uint8_t>(p[at] >> 5U);
    type = load_be16(p + at + 2);
    at += tag_size;
  }
  constexpr std::size_t protocol_place = 9, next_header_place = 6;
  constexpr std::uint8_t gre = 47;
  switch (type) {
    case ethertype_ipv4:
      if (p[at + protocol_place] == gre) return std::nullopt;
      break;
    case ethertype_ipv6:
      if (p[at + next_header_place] == gre) return std::nullopt;
      break;
    case ethertype_roce_v1:
      return view;
    default:
      return std::nullopt;
  }
  view.dscp = dscp_at(type == ethertype_ipv4, p + at);
  return view;
}

LinkControl link_control_of(const Dissection& d) noexcept {
  const auto kind = [](HeaderId id) {
    if (id == HeaderId::mac_control || id == HeaderId::mac_pause || id == HeaderId::mac_pfc)
      return LinkControl::mac_control;
    return id >= HeaderId::lldp_chassis_id && id <= HeaderId::lldp_end ? LinkControl::lldp
                                                                       : LinkControl::none;
  };
  // By the last header, or the one that did not fit. LLDP that ends before its first TLV is ignored, and so
  // is what a switch sampled.
  if (d.layer_count == 0 || d.layers[d.layer_count - 1U].sampled) return LinkControl::none;
  const LinkControl last = kind(d.layers[d.layer_count - 1U].id);
  if (last != LinkControl::none) return last;
  return d.stopped_at != HeaderId::count_ && kind(d.stopped_at) == LinkControl::mac_control
             ? LinkControl::mac_control
             : LinkControl::none;
}

}  // namespace roce::analyze

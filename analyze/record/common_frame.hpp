// SPDX-License-Identifier: Apache-2.0
// The common frame: Ethernet, at most two tags, IPv4 without options or IPv6 without extension headers, UDP
// to 4791, and a BTH. The offsets of its headers are known without parsing them. Internal to this folder.
#pragma once

#include <cstdint>

#include "capture/core/frame.hpp"
#include "dissect/bytes.hpp"
#include "dissect/dissect.hpp"
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::analyze {

/// Checks and fields of a plain IPv4 header, for the fast paths.
struct PlainIpv4 {
  using Header = dissect::Ipv4;
  static constexpr dissect::Transport transport = dissect::Transport::roce_v2_ipv4;

  /// No options, not a fragment, and UDP.
  [[nodiscard, gnu::always_inline]] static bool accepts(const std::uint8_t* p) noexcept {
    constexpr std::uint8_t version_and_length = 4U << 4U | Header::size / 4;
    static_assert(Header::version.bit == 0 && Header::hdr_len.bit == 4);
    // MF and the fragment offset: all but the first two bits.
    static_assert(Header::mf.bit == Header::flags.bit + 2 && Header::frag_offset.end_byte() == 8);
    constexpr std::uint16_t fragment_bits = 0x3fff;
    return p[0] == version_and_length && dissect::read<Header::proto>(p) == dissect::ip_proto_udp &&
           (dissect::load_be16(p + Header::flags.first_byte()) & fragment_bits) == 0;
  }
  [[nodiscard]] static std::uint32_t length(const std::uint8_t* p) noexcept {
    return dissect::read<Header::len>(p);
  }
  [[nodiscard]] static std::uint8_t hops(const std::uint8_t* p) noexcept {
    return dissect::read<Header::ttl>(p);
  }
};

struct PlainIpv6 {
  using Header = dissect::Ipv6;
  static constexpr dissect::Transport transport = dissect::Transport::roce_v2_ipv6;

  [[nodiscard, gnu::always_inline]] static bool accepts(const std::uint8_t* p) noexcept {
    constexpr std::uint16_t link_local_prefix = 0xfe80;
    return dissect::read<Header::version>(p) == 6 && dissect::read<Header::nxt>(p) == dissect::ip_proto_udp &&
           dissect::read<Header::plen>(p) != 0 &&
           dissect::load_be16(p + Header::src.first_byte()) != link_local_prefix &&
           dissect::load_be16(p + Header::dst.first_byte()) != link_local_prefix;
  }
  [[nodiscard]] static std::uint32_t length(const std::uint8_t* p) noexcept {
    return Header::size + dissect::read<Header::plen>(p);
  }
  [[nodiscard]] static std::uint8_t hops(const std::uint8_t* p) noexcept {
    return dissect::read<Header::hlim>(p);
  }
};

/// Positions in a frame: the offset of the network header, and the innermost tag before it or nullptr.
struct PlainStart {
  std::uint32_t network;
  const std::uint8_t* vlan;
};

/// Whether the headers up to the BTH were captured.
template <class Plain>
[[nodiscard, gnu::always_inline]] inline bool has_headers(const capture::Frame& frame,
                                                          PlainStart start) noexcept {
  using namespace dissect;
  return frame.captured >= start.network + Plain::Header::size + Udp::size + Bth::size;
}

/// Whether RoCE v2 of a queue pair other than 0 and 1 is at `start`, without a tunnel.
template <class Plain>
[[nodiscard, gnu::always_inline]] inline bool is_plain(const capture::Frame& frame,
                                                       PlainStart start) noexcept {
  using namespace dissect;
  if (!has_headers<Plain>(frame, start)) return false;
  const std::uint8_t* const ip = frame.data + start.network;
  const std::uint8_t* const udp = ip + Plain::Header::size;
  const std::uint8_t* const bth = udp + Udp::size;
  if (!Plain::accepts(ip) || read<Udp::dstport>(udp) != udp_port_roce_v2) return false;
  // Management datagrams, which are dissected further, go to the queue pairs 0 and 1.
  return read<Bth::tver>(bth) == 0 && read<Bth::destqp>(bth) > gsi_qpn;
}

[[nodiscard]] constexpr bool is_vlan_tag(std::uint16_t ethertype) noexcept {
  return ethertype == dissect::ethertype_vlan || ethertype == dissect::ethertype_qinq ||
         ethertype == dissect::ethertype_qinq_old;
}

inline constexpr std::uint32_t plain_tags_at_most = 2;

template <class Take>
[[gnu::noinline]] bool take_tagged_frame(const capture::Frame& frame, std::uint16_t type, const Take& take) {
  using namespace dissect;
  std::uint32_t offset = Ethernet::size;
  const std::uint8_t* tag = nullptr;
  for (std::uint32_t tags = 0; tags < plain_tags_at_most && is_vlan_tag(type); ++tags) {
    tag = frame.data + offset;
    type = read<Vlan::etype>(tag);  // service tags have the same layout
    offset += static_cast<std::uint32_t>(Vlan::size);
  }
  if (type == ethertype_ipv4) return take.template take<PlainIpv4, true>(frame, {offset, tag});
  if (type == ethertype_ipv6) return take.template take<PlainIpv6, true>(frame, {offset, tag});
  return false;
}

/// Passes the frame to take.take<Plain, Tagged>(frame, start) and returns its result; false if the frame has
/// no plain network header.
template <class Take>
[[gnu::always_inline]] inline bool take_frame(const capture::Frame& frame, const Take& take) {
  using namespace dissect;
  constexpr std::uint32_t ethernet_size = Ethernet::size, tag_size = Vlan::size;
  if (frame.link_type != link_ethernet || frame.captured < ethernet_size + plain_tags_at_most * tag_size) {
    return false;
  }
  // Without tags every offset is known at compile time.
  const std::uint16_t type = read<Ethernet::type>(frame.data);
  if (type == ethertype_ipv4) return take.template take<PlainIpv4, false>(frame, {ethernet_size, nullptr});
  if (type == ethertype_ipv6) return take.template take<PlainIpv6, false>(frame, {ethernet_size, nullptr});
  // A copy, so that the address of `take` does not escape and it can stay in registers.
  return is_vlan_tag(type) && take_tagged_frame(frame, type, Take(take));
}

}  // namespace roce::analyze

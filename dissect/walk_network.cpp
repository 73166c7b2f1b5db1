// SPDX-License-Identifier: Apache-2.0
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/headers/other_transport.hpp"
#include "dissect/headers/shell.hpp"
#include "dissect/ip_checksum.hpp"
#include "dissect/walk.hpp"

namespace roce::dissect {
namespace {

constexpr std::uint32_t icrc_size = 4;

Step later_fragment(Walk& walk, std::uint8_t protocol) noexcept {
  if (protocol == ip_proto_udp) walk.note(Note::fragmented);
  walk.out.stop = Stop::fragment;
  return Step::done;
}

/// Steps over IPv6 extension headers (RFC 8200, 4); bounded by the number of layers.
Step walk_ipv6_extensions(Walk& walk, std::uint8_t next) noexcept {
  for (;;) {
    HeaderId id{};
    switch (next) {
      case ip_proto_hop_by_hop:
        id = HeaderId::ipv6_hop_by_hop;
        break;
      case ip_proto_routing:
        id = HeaderId::ipv6_routing;
        break;
      case ip_proto_destination_options:
        id = HeaderId::ipv6_destination_options;
        break;
      case ip_proto_fragment: {
        const std::uint8_t* p = walk.take<Ipv6Fragment>();
        if (p == nullptr) return Step::done;
        next = read<Ipv6Fragment::nxt>(p);
        if (read<Ipv6Fragment::offset>(p) != 0) return later_fragment(walk, next);
        if (read<Ipv6Fragment::more>(p) != 0 && next == ip_proto_udp) walk.note(Note::fragmented);
        continue;
      }
      default:
        return step_of_ip_protocol(walk, next);
    }
    if (!walk.fits(id, 8)) return Step::done;
    const std::uint8_t* p = walk.at();
    const std::uint32_t length = (std::uint32_t{p[1]} + 1U) * 8U;
    if (!walk.fits(id, length)) return Step::done;
    next = p[0];
    walk.push(id, length);
  }
}

}  // namespace

Step step_of_ip_protocol(Walk& walk, std::uint8_t protocol) noexcept {
  if (walk.options.roce_ip_protocol != 0 && protocol == walk.options.roce_ip_protocol) return Step::bth;
  if (walk.options.named.ifa_protocol != 0 && protocol == walk.options.named.ifa_protocol) return Step::ifa;
  switch (protocol) {
    case ip_proto_udp:
      return Step::udp;
    case ip_proto_gre:
      return Step::gre;
    case ip_proto_esp:
      return Step::esp;
    case ip_proto_ah:
      return Step::ah;
    case ip_proto_ipv4:
      walk.enter(Tunnel::ip_in_ip);
      return Step::ipv4;
    case ip_proto_ipv6:
      walk.enter(Tunnel::ip_in_ip);
      return Step::ipv6;
    case ip_proto_mpls:
      return Step::mpls;
    default:
      walk.out.stop = Stop::unknown_protocol;
      walk.out.unknown_type = protocol;
      return Step::done;
  }
}

Step step_of_ip_version(Walk& walk) noexcept {
  if (!walk.fits(HeaderId::ipv4, 1)) return Step::done;
  switch (*walk.at() >> 4U) {
    case 4:
      return Step::ipv4;
    case 6:
      return Step::ipv6;
    default:
      walk.out.stop = Stop::unknown_protocol;
      return Step::done;
  }
}

Step walk_raw_ip(Walk& walk) noexcept {
  return step_of_ip_version(walk);
}

Step walk_ipv4(Walk& walk) noexcept {
  if (!walk.fits(HeaderId::ipv4, Ipv4::size)) return Step::done;
  const std::uint8_t* p = walk.at();
  const std::uint32_t start = walk.offset;
  const std::uint32_t header_length = read<Ipv4::hdr_len>(p) * 4U;
  if (read<Ipv4::version>(p) != 4 || header_length < Ipv4::size) {
    walk.out.stop = Stop::contradicts_itself;
    walk.out.stopped_at = HeaderId::ipv4;
    return Step::done;
  }
  if (!walk.fits(HeaderId::ipv4, header_length)) return Step::done;
  const std::uint8_t index = walk.push(HeaderId::ipv4, header_length);
  walk.out.network = index;
  walk.out.udp = Dissection::none;

  const std::uint32_t total_length = read<Ipv4::len>(p);
  if (total_length == 0) {
    walk.note(Note::zero_ip_length);
  } else if (total_length < header_length) {
    walk.out.stop = Stop::contradicts_itself;
    walk.out.stopped_at = HeaderId::ipv4;
    return Step::done;
  } else if (const std::uint64_t end = std::uint64_t{start} + total_length;
             end <= walk.declared || ipv4_checksum_right({p, header_length})) {
    if (end > walk.declared) walk.note_short_of_ip(read<Ipv4::dscp>(p));
    walk.declare_end(end);
  }  // else damaged: the frame is whole, and the UDP length bounds the transport
  const std::uint8_t protocol = read<Ipv4::proto>(p);
  if (read<Ipv4::frag_offset>(p) != 0) return later_fragment(walk, protocol);
  if (read<Ipv4::mf>(p) != 0 && protocol == ip_proto_udp) walk.note(Note::fragmented);
  return step_of_ip_protocol(walk, protocol);
}

Step walk_ipv6(Walk& walk) noexcept {
  const std::uint8_t* p = walk.take<Ipv6>();
  if (p == nullptr) return Step::done;
  if (read<Ipv6::version>(p) != 6) {
    walk.out.stop = Stop::contradicts_itself;
    walk.out.stopped_at = HeaderId::ipv6;
    return Step::done;
  }
  walk.out.network = static_cast<std::uint8_t>(walk.out.layer_count - 1);
  walk.out.udp = Dissection::none;
  const std::uint32_t payload_length = read<Ipv6::plen>(p);
  if (payload_length == 0) {
    walk.note(Note::zero_ip_length);
  } else {
    const std::uint64_t end = std::uint64_t{walk.offset} + payload_length;
    if (end > walk.declared) walk.note_short_of_ip(read<Ipv6::dscp>(p));
    walk.declare_end(end);
  }
  return walk_ipv6_extensions(walk, read<Ipv6::nxt>(p));
}

/// Whether the frame ends before `end`, that of the datagram by its UDP length, and what its IP length says
/// of that. One that was made smaller than the UDP length is a switch's, which trimmed the packet and counted
/// anew what it sent on: no sender does that. One that goes as far is of a packet that was cut without that.
bool is_short_of_udp(Walk& walk, std::uint32_t end) noexcept {
  if (end <= walk.wire || walk.out.has(Note::zero_ip_length)) return false;
  const Layer& network = walk.out.layers[walk.out.network];
  const std::uint8_t* p = walk.base + network.offset;
  const bool v4 = network.id == HeaderId::ipv4;
  const std::uint32_t ip_end =
      network.offset +
      (v4 ? read<Ipv4::len>(p) : static_cast<std::uint32_t>(Ipv6::size) + read<Ipv6::plen>(p));
  const bool of_before = v4 && ipv4_checksum_before({p, network.length}, end - network.offset);
  if (ip_end < end) {
    const unsigned dscp = v4 ? read<Ipv4::dscp>(p) : read<Ipv6::dscp>(p);
    const bool renewed =
        !v4 || ipv4_checksum_right({p, network.length}) || of_before || walk.options.is_trimmed_dscp(dscp);
    if (renewed) walk.note(Note::trimmed);
    return renewed;
  }
  // Both lengths agree, so it is not the IP length that is damaged, but its checksum is not renewed.
  if (ip_end != end || walk.declared != walk.wire) return false;
  walk.note(Note::cut_on_the_way);
  walk.note_short_of_ip(v4 ? read<Ipv4::dscp>(p) : read<Ipv6::dscp>(p));
  // Who cuts what he shows leaves its marks alone, and who marks anew and does not trim renews the checksum.
  if (of_before) walk.note(Note::trimmed);
  return true;
}

/// Of ports that the user named; Step::done: it is none of them.
Step step_of_named_port(const Walk& walk, std::uint16_t port) noexcept {
  if (port != 0 && port == walk.options.named.falcon_port) return Step::falcon;
  if (port != 0 && port == walk.options.named.veroce_port) return Step::veroce;
  return Step::done;
}

Step walk_udp(Walk& walk) noexcept {
  const std::uint32_t start = walk.offset;
  const std::uint8_t* p = walk.take<Udp>();
  if (p == nullptr) return Step::done;
  walk.out.udp = static_cast<std::uint8_t>(walk.out.layer_count - 1);

  const std::uint32_t length = read<Udp::length>(p);
  if (walk.ifa_metadata && !walk_ifa_metadata(walk)) return Step::done;
  const std::uint32_t inserted = walk.offset - start - static_cast<std::uint32_t>(Udp::size);
  const std::uint32_t end = start + length + inserted;
  const bool fragment = walk.out.has(Note::fragmented);
  if (length >= Udp::size && end <= walk.declared) {
    walk.declared = end;
    walk.available = std::min(walk.available, end);
  } else if (length >= Udp::size && !fragment && is_short_of_udp(walk, end)) {
    walk.available = std::min(walk.available, walk.declared);
    walk.declared = end;  // where the packet ended before
  } else if (length != 0 && !fragment) {
    walk.note(Note::udp_length_mismatch);  // then the IP length applies
  }

  const std::uint16_t port = read<Udp::dstport>(p);
  if (const Step step = step_of_named_port(walk, port); step != Step::done) return step;
  switch (port) {
    case udp_port_roce_v2:
      if (walk.declared < walk.offset + Bth::size + icrc_size) {
        walk.note(Note::short_roce_datagram);
        walk.out.stop = Stop::unknown_protocol;
        walk.out.unknown_type = port;
        return Step::done;
      }
      if (walk.left() < Bth::size) walk.note(Note::cut_before_bth);
      return Step::bth;
    case udp_port_vxlan:
    case udp_port_vxlan_linux:
      return Step::vxlan;
    case udp_port_vxlan_gpe:
      return Step::vxlan_gpe;
    case udp_port_geneve:
      return Step::geneve;
    case udp_port_sflow:
      if (begins_sflow(walk)) return Step::sflow;
      break;
    case udp_port_uet:
      return Step::uet;
    case udp_port_psp:
      if (begins_psp(walk)) return Step::psp;
      break;
    default:
      if (walk.options.mrc_port != 0 && port == walk.options.mrc_port && looks_like_mrc(walk))
        return Step::bth;
      break;
  }
  if (begins_ipfix(walk, port)) return Step::ipfix;
  if (resembles_sflow(walk)) return Step::sflow;
  const std::uint16_t from = read<Udp::srcport>(p);
  if ((port == udp_port_ipsec_nat || from == udp_port_ipsec_nat) && begins_esp(walk)) return Step::esp;
  if (from == udp_port_roce_v2) walk.note(Note::only_source_port);
  walk.out.stop = Stop::unknown_protocol;
  walk.out.unknown_type = port;
  return Step::done;
}

}  // namespace roce::dissect

// SPDX-License-Identifier: Apache-2.0
#include "analyze/fast_record.hpp"

#include "analyze/record_parts.hpp"

namespace roce::analyze {

using namespace dissect;

namespace {

constexpr std::uint16_t link_local_prefix = 0xfe80;

/// Header, next protocol and end of an IPv4 datagram, as the short way wants them.
struct PlainIpv4 {
  using Header = Ipv4;
  static constexpr Transport transport = Transport::roce_v2_ipv4;

  /// No options, no fragment, UDP, and a length.
  [[gnu::always_inline]] static bool accepts(const std::uint8_t* p) noexcept {
    constexpr std::uint8_t version_and_length = 4U << 4U | Ipv4::size / 4;
    static_assert(Ipv4::version.bit == 0 && Ipv4::hdr_len.bit == 4);
    // MF and the fragment's offset: all but the two first bits.
    static_assert(Ipv4::mf.bit == Ipv4::flags.bit + 2 && Ipv4::frag_offset.end_byte() == 8);
    constexpr std::uint16_t fragment_bits = 0x3fff;
    return p[0] == version_and_length && read<Ipv4::proto>(p) == ip_proto_udp &&
           (load_be16(p + Ipv4::flags.first_byte()) & fragment_bits) == 0;
  }
  static std::uint32_t length(const std::uint8_t* p) noexcept { return read<Ipv4::len>(p); }
  static std::uint8_t hops(const std::uint8_t* p) noexcept { return read<Ipv4::ttl>(p); }
};

struct PlainIpv6 {
  using Header = Ipv6;
  static constexpr Transport transport = Transport::roce_v2_ipv6;

  [[gnu::always_inline]] static bool accepts(const std::uint8_t* p) noexcept {
    return read<Ipv6::version>(p) == 6 && read<Ipv6::nxt>(p) == ip_proto_udp && read<Ipv6::plen>(p) != 0 &&
           load_be16(p + Ipv6::src.first_byte()) != link_local_prefix &&
           load_be16(p + Ipv6::dst.first_byte()) != link_local_prefix;
  }
  static std::uint32_t length(const std::uint8_t* p) noexcept { return Ipv6::size + read<Ipv6::plen>(p); }
  static std::uint8_t hops(const std::uint8_t* p) noexcept { return read<Ipv6::hlim>(p); }
};

/// The extended header of `size` bytes, `offset` behind the BTH; nullptr if there is none or not all of it.
[[gnu::always_inline]] inline const std::uint8_t* extended(const std::uint8_t* frame,
                                                           std::uint32_t behind_bth, std::uint32_t offset,
                                                           std::uint32_t size,
                                                           std::uint32_t available) noexcept {
  const std::uint32_t begin = behind_bth + offset;
  return offset == OpcodeInfo::absent || begin + size > available ? nullptr : frame + begin;
}

/// A frame whose network header begins at `network`, behind tags of which `vlan` is the innermost.
template <class Plain>
[[gnu::always_inline]] inline bool take_packet(const capture::Frame& frame, std::uint32_t network,
                                               const std::uint8_t* vlan, PacketRecord& record,
                                               FastFrame& facts) noexcept {
  constexpr std::uint32_t network_size = Plain::Header::size, udp_size = Udp::size, bth_size = Bth::size,
                          icrc_size = Icrc::size;
  const std::uint32_t udp = network + network_size;
  const std::uint32_t bth = udp + udp_size;
  const std::uint32_t behind_bth = bth + bth_size;
  if (frame.captured < behind_bth) return false;
  const std::uint8_t* const base = frame.data;
  const std::uint8_t* const ip = base + network;
  if (!Plain::accepts(ip)) return false;

  // The lengths lie inside each other and leave room for the headers: else there is something to say.
  const std::uint32_t ip_end = network + Plain::length(ip);
  const std::uint32_t end = udp + read<Udp::length>(base + udp);
  if (ip_end > frame.wire || end > ip_end) return false;
  if (read<Udp::dstport>(base + udp) != udp_port_roce_v2) return false;
  const std::uint8_t opcode = read<Bth::opcode>(base + bth);
  const OpcodeInfo& info = opcode_info(opcode);
  const std::uint32_t payload = behind_bth + info.headers_size;
  if (end < payload + icrc_size) return false;
  // Management datagrams, which are walked further, go to the queue pairs 0 and 1.
  if (!info.defined || read<Bth::tver>(base + bth) != 0 || read<Bth::destqp>(base + bth) <= gsi_qpn)
    return false;

  const std::uint32_t icrc = end - icrc_size;
  const std::uint32_t available = std::min(frame.captured, icrc);
  PathHash path(frame.point);
  path.add_macs(base);
  for (std::uint32_t tag = Ethernet::size; tag < network; tag += Vlan::size) path.add_tag(base + tag);
  path.add(Plain::hops(ip));
  RecordParts parts;
  parts.source_mac = read<Ethernet::src>(base);
  parts.path = path.value();
  parts.vlan = vlan;
  parts.network_id = Plain::Header::id;
  parts.transport = Plain::transport;
  parts.network = ip;
  parts.udp = base + udp;
  parts.bth = base + bth;
  parts.remote = extended(base, behind_bth, info.remote_offset, info.remote_size, available);
  parts.aeth = extended(base, behind_bth, info.aeth_offset, Aeth::size, available);
  parts.payload_there = available > payload ? available - payload : 0;
  parts.payload = base + std::min(payload, available);
  parts.payload_length = icrc - payload;
  fill_record(frame, parts, record);

  facts.cut = frame.captured < end;
  facts.icrc_place.network_id = Plain::Header::id;
  facts.icrc_place.network = network;
  facts.icrc_place.udp = udp;
  facts.icrc_place.bth = bth;
  facts.icrc_place.icrc = icrc;
  return true;
}

constexpr bool is_tag(std::uint16_t ethertype) noexcept {
  return ethertype == ethertype_vlan || ethertype == ethertype_qinq || ethertype == ethertype_qinq_old;
}

constexpr std::uint32_t most_tags = 2, ethernet_size = Ethernet::size, tag_size = Vlan::size;

[[gnu::noinline]] bool take_tagged(const capture::Frame& frame, std::uint16_t type, PacketRecord& record,
                                   FastFrame& facts) noexcept {
  std::uint32_t offset = ethernet_size;
  const std::uint8_t* tag = nullptr;
  for (std::uint32_t tags = 0; tags < most_tags && is_tag(type); ++tags) {
    tag = frame.data + offset;
    type = read<Vlan::etype>(tag);  // service tags have the same layout
    offset += tag_size;
  }
  if (type == ethertype_ipv4) return take_packet<PlainIpv4>(frame, offset, tag, record, facts);
  if (type == ethertype_ipv6) return take_packet<PlainIpv6>(frame, offset, tag, record, facts);
  return false;
}

}  // namespace

bool fast_way_exists(const Options& options) noexcept {
  return options.roce_ip_protocol != ip_proto_udp;
}

bool make_record_fast(const capture::Frame& frame, PacketRecord& record, FastFrame& facts) noexcept {
  if (frame.link_type != link_ethernet || frame.captured < ethernet_size + most_tags * tag_size) return false;
  // Without tags every header has its place at compile time.
  const std::uint16_t type = read<Ethernet::type>(frame.data);
  if (type == ethertype_ipv4) return take_packet<PlainIpv4>(frame, ethernet_size, nullptr, record, facts);
  if (type == ethertype_ipv6) return take_packet<PlainIpv6>(frame, ethernet_size, nullptr, record, facts);
  return is_tag(type) && take_tagged(frame, type, record, facts);
}

}  // namespace roce::analyze

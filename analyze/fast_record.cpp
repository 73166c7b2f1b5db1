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

/// Where the headers of a frame stand: the network header at `network`, behind tags of which `vlan` is the
/// innermost.
struct Start {
  std::uint32_t network;
  const std::uint8_t* vlan;
};

template <class Plain>
[[gnu::always_inline]] inline bool has_headers(const capture::Frame& frame, Start start) noexcept {
  return frame.captured >= start.network + Plain::Header::size + Udp::size + Bth::size;
}

/// Whether what stands there is RoCE v2 of a queue pair, and nothing else: no tunnel.
template <class Plain>
[[gnu::always_inline]] inline bool is_plain(const capture::Frame& frame, Start start) noexcept {
  if (!has_headers<Plain>(frame, start)) return false;
  const std::uint8_t* const ip = frame.data + start.network;
  const std::uint8_t* const udp = ip + Plain::Header::size;
  const std::uint8_t* const bth = udp + Udp::size;
  if (!Plain::accepts(ip) || read<Udp::dstport>(udp) != udp_port_roce_v2) return false;
  // Management datagrams, which are walked further, go to the queue pairs 0 and 1.
  return read<Bth::tver>(bth) == 0 && read<Bth::destqp>(bth) > gsi_qpn;
}

/// Fills `parts` and `facts` for a frame that Plain accepts, but for what only a whole record asks for. False
/// where there is something to say that the short way does not.
template <class Plain>
[[gnu::always_inline]] inline bool lay_out(const capture::Frame& frame, Start start, RecordParts& parts,
                                           FastFrame& facts) noexcept {
  constexpr std::uint32_t network_size = Plain::Header::size, udp_size = Udp::size, bth_size = Bth::size,
                          icrc_size = Icrc::size;
  const std::uint32_t udp = start.network + network_size;
  const std::uint32_t bth = udp + udp_size;
  const std::uint32_t behind_bth = bth + bth_size;
  const std::uint8_t* const base = frame.data;
  const std::uint8_t* const ip = base + start.network;

  // The lengths lie inside each other and leave room for the headers: else there is something to say.
  const std::uint32_t ip_end = start.network + Plain::length(ip);
  const std::uint32_t end = udp + read<Udp::length>(base + udp);
  if (ip_end > frame.wire || end > ip_end) return false;
  const OpcodeInfo& info = opcode_info(read<Bth::opcode>(base + bth));
  const std::uint32_t payload = behind_bth + info.headers_size;
  if (end < payload + icrc_size || !info.defined) return false;

  const std::uint32_t icrc = end - icrc_size;
  const std::uint32_t available = std::min(frame.captured, icrc);
  parts.vlan = start.vlan;
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

  facts.marks.traffic_class = traffic_class_at(Plain::Header::id, ip);
  facts.marks.transport = static_cast<std::uint8_t>(Plain::transport);
  facts.marks.priority =
      start.vlan != nullptr ? read<Vlan::priority>(start.vlan) : Totals::Marks::untagged_priority;
  facts.cut = frame.captured < end;
  facts.icrc_place.network_id = Plain::Header::id;
  facts.icrc_place.network = start.network;
  facts.icrc_place.udp = udp;
  facts.icrc_place.bth = bth;
  facts.icrc_place.icrc = icrc;
  return true;
}

/// make_record_fast() of such a frame.
struct TakeRecord {
  PacketRecord& record;
  FastFrame& facts;

  template <class Plain, bool /*Tagged*/>
  [[gnu::always_inline]] bool take(const capture::Frame& frame, Start start) const noexcept {
    if (!is_plain<Plain>(frame, start)) return false;
    const std::uint8_t* const base = frame.data;
    const std::uint8_t* const ip = base + start.network;
    RecordParts parts;
    if (!lay_out<Plain>(frame, start, parts, facts)) return false;
    PathHash path(frame.point);
    path.add_macs(base);
    for (std::uint32_t tag = Ethernet::size; tag < start.network; tag += Vlan::size) path.add_tag(base + tag);
    path.add(Plain::hops(ip));
    parts.path = path.value();
    parts.source_mac = read<Ethernet::src>(base);
    fill_record(frame, parts, record);
    return true;
  }
};

template <class Word>
[[gnu::always_inline]] inline std::uint64_t part_at(const std::uint8_t* p) noexcept {
  Word word = 0;
  std::memcpy(&word, p, sizeof word);
  return word;
}
[[gnu::always_inline]] inline std::uint64_t word_at(const std::uint8_t* p) noexcept {
  return part_at<std::uint64_t>(p);
}

/// The headers of such a frame.
template <class Plain, bool Tagged>
[[gnu::always_inline]] inline auto words_of(const capture::Frame& frame, std::uint32_t network) noexcept {
  constexpr bool is_v4 = Plain::Header::id == HeaderId::ipv4;
  const std::uint8_t* const base = frame.data;
  const std::uint8_t* const ip = base + network;
  const std::uint8_t* const udp = ip + Plain::Header::size;
  const std::uint8_t* const bth = udp + Udp::size;
  constexpr std::size_t count = (is_v4 ? 5U : 8U) + (Tagged ? 1U : 0U);
  HeaderWords<count> header;
  header.point = frame.point;
  std::size_t used = 0;
  const auto add = [&](std::uint64_t word) { header.words[used++] = word; };
  add(word_at(base));  // MAC addresses, ethertype, and two bytes more
  add(word_at(base + 8));
  if constexpr (Tagged) add(word_at(ip - 6));  // the inner tag, with the first two bytes of the datagram
  if constexpr (is_v4) {
    static_assert(Ipv4::flags.first_byte() == 6 && Ipv4::ttl.first_byte() == 8 &&
                  Ipv4::proto.end_byte() == 10 && Ipv4::src.first_byte() == 12 && Ipv4::dst.end_byte() == 20);
    add(word_at(ip + 12));
    // Fragments, TTL, protocol; ports.
    add(part_at<std::uint32_t>(ip + 6) | part_at<std::uint32_t>(udp) << 32U);
  } else {
    static_assert(Ipv6::plen.first_byte() == 4 && Ipv6::src.first_byte() == 8 && Ipv6::dst.end_byte() == 40);
    add(word_at(ip + 8));
    add(word_at(ip + 16));
    add(word_at(ip + 24));
    add(word_at(ip + 32));
    // Flow label; next header, hop limit; ports.
    add(part_at<std::uint16_t>(ip + 2) | part_at<std::uint16_t>(ip + 6) << 16U |
        part_at<std::uint32_t>(udp) << 32U);
  }
  // All but the opcode, solicited event, migration and padding of the packet.
  static_assert(Bth::opcode.first_byte() == 0 && Bth::tver.end_byte() == 2 && Bth::destqp.end_byte() == 8);
  constexpr std::array<std::uint8_t, 8> of_flow{0, 15, 255, 255, 255, 255, 255, 255};
  add(word_at(bth) & std::bit_cast<std::uint64_t>(of_flow));
  return header;
}

/// make_brief_fast() of such a frame.
struct TakeBrief {
  const FlowImages& images;
  PacketBrief& brief;
  FastFrame& facts;

  template <class Plain, bool Tagged>
  [[gnu::always_inline]] bool take(const capture::Frame& frame, Start start) const noexcept {
    if (!has_headers<Plain>(frame, start)) return false;
    const FlowImages::Found found = images.find(words_of<Plain, Tagged>(frame, start.network));
    if (found.image == 0) return false;
    RecordParts parts;
    if (!lay_out<Plain>(frame, start, parts, facts)) return false;
    parts.path = found.path;
    fill_brief(frame, parts, brief);
    brief.image = found.image;
    brief.place = found.place;
    return true;
  }
};

/// put_image() of such a frame.
struct PutImage {
  FlowImages& images;
  std::uint32_t place;
  std::uint32_t path;
  std::uint32_t& number;

  template <class Plain, bool Tagged>
  bool take(const capture::Frame& frame, Start start) const {
    // Of a packet that came the general way: its image would be that of the headers around it.
    if (!is_plain<Plain>(frame, start)) return false;
    number = images.put(words_of<Plain, Tagged>(frame, start.network), place, path);
    return true;
  }
};

constexpr bool is_tag(std::uint16_t ethertype) noexcept {
  return ethertype == ethertype_vlan || ethertype == ethertype_qinq || ethertype == ethertype_qinq_old;
}

constexpr std::uint32_t most_tags = 2, ethernet_size = Ethernet::size, tag_size = Vlan::size;

template <class Take>
[[gnu::noinline]] bool take_tagged(const capture::Frame& frame, std::uint16_t type,
                                   const Take& take) noexcept {
  std::uint32_t offset = ethernet_size;
  const std::uint8_t* tag = nullptr;
  for (std::uint32_t tags = 0; tags < most_tags && is_tag(type); ++tags) {
    tag = frame.data + offset;
    type = read<Vlan::etype>(tag);  // service tags have the same layout
    offset += tag_size;
  }
  if (type == ethertype_ipv4) return take.template take<PlainIpv4, true>(frame, {offset, tag});
  if (type == ethertype_ipv6) return take.template take<PlainIpv6, true>(frame, {offset, tag});
  return false;
}

template <class Take>
[[gnu::always_inline]] inline bool take_frame(const capture::Frame& frame, const Take& take) {
  if (frame.link_type != link_ethernet || frame.captured < ethernet_size + most_tags * tag_size) return false;
  // Without tags every header has its place at compile time.
  const std::uint16_t type = read<Ethernet::type>(frame.data);
  if (type == ethertype_ipv4) return take.template take<PlainIpv4, false>(frame, {ethernet_size, nullptr});
  if (type == ethertype_ipv6) return take.template take<PlainIpv6, false>(frame, {ethernet_size, nullptr});
  return is_tag(type) && take_tagged(frame, type, take);
}

}  // namespace

bool fast_way_exists(const Options& options) noexcept {
  return options.roce_ip_protocol != ip_proto_udp;
}

bool make_record_fast(const capture::Frame& frame, PacketRecord& record, FastFrame& facts) noexcept {
  return take_frame(frame, TakeRecord{record, facts});
}

bool make_brief_fast(const capture::Frame& frame, const FlowImages& images, PacketBrief& brief,
                     FastFrame& facts) noexcept {
  return take_frame(frame, TakeBrief{images, brief, facts});
}

std::uint32_t put_image(FlowImages& images, const capture::Frame& frame, std::uint32_t place,
                        std::uint32_t path) {
  std::uint32_t number = 0;
  take_frame(frame, PutImage{images, place, path, number});
  return number;
}

}  // namespace roce::analyze

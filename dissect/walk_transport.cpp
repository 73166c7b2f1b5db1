// SPDX-License-Identifier: Apache-2.0
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/mrc.hpp"
#include "dissect/opcode.hpp"
#include "dissect/walk.hpp"

namespace roce::dissect {
namespace {

/// Of the extended headers of a packet, in bytes.
std::uint32_t headers_size(const OpcodeInfo& info, const std::uint8_t* bth) noexcept {
  const bool stamped = info.variable && info.has_payload && read<Bth::ts>(bth) != 0;
  return info.headers_size + (stamped ? static_cast<std::uint32_t>(MrcTseth::size) : 0U);
}

/// Steps over the extended headers of an opcode. `end` is where the ICRC begins.
bool walk_extended_headers(Walk& walk, const OpcodeInfo& info, bool stamped) noexcept {
  for (std::size_t i = 0, bits = info.headers; bits != 0; ++i, bits >>= 1U) {
    if ((bits & 1U) == 0) continue;
    const ExtendedHeader& header = extended_headers[i];
    if (!walk.fits(header.id, header.size)) {
      // NVIDIA's DC transport reuses the RD opcodes with headers of its own: that is not malformed.
      if (info.service == Service::rd && walk.out.stop == Stop::contradicts_itself)
        walk.out.stop = Stop::complete;
      return false;
    }
    walk.push(header.id, header.size);
    if (header.id == HeaderId::mrc_meth && stamped && walk.take<MrcTseth>() == nullptr) return false;
  }
  return true;
}

Transport transport_below(const Walk& walk) noexcept {
  if (walk.out.network == Dissection::none) return Transport::none;
  switch (walk.out.layers[walk.out.network].id) {
    case HeaderId::ipv4:
      return Transport::roce_v2_ipv4;
    case HeaderId::ipv6:
      return Transport::roce_v2_ipv6;
    case HeaderId::grh:
      return Transport::roce_v1;
    default:
      return Transport::native_ib;
  }
}

/// Of a first IP fragment: the end of the payload in the whole datagram. The UDP header has the length of
/// the datagram, the IP header only that of the fragment. 0 = not a fragment, or not known.
std::uint32_t fragmented_payload_end(const Walk& walk) noexcept {
  const Dissection& out = walk.out;
  if (!out.has(Note::fragmented) || out.udp == Dissection::none) return 0;
  const std::uint32_t start = out.layers[out.udp].offset;
  const std::uint32_t length = read<Udp::length>(walk.base + start);
  return length > Icrc::size ? start + length - static_cast<std::uint32_t>(Icrc::size) : 0;
}

}  // namespace

bool looks_like_mrc(const Walk& walk) noexcept {
  const std::uint32_t length = walk.declared > walk.offset ? walk.declared - walk.offset : 0;
  if (walk.left() < Bth::size) return false;
  const std::uint8_t* bth = walk.at();
  const OpcodeInfo& info = opcode_info(read<Bth::opcode>(bth));
  constexpr unsigned reserved_of_byte_8 = 0x4f;
  if (info.service != Service::mrc || !info.defined || read<Bth::tver>(bth) != 0 ||
      (bth[Bth::a.first_byte()] & reserved_of_byte_8) != 0)
    return false;
  const std::uint32_t least = static_cast<std::uint32_t>(Bth::size + Icrc::size) + headers_size(info, bth);
  if (info.has_payload ? length < least || length % 4 != 0 : length != least) return false;
  // The headers that travel alone begin with a type and a next header of 0, an AETH does not.
  if (info.has_payload || info.operation == Operation::acknowledge || walk.left() < Bth::size + 2)
    return true;
  return read<MrcReported::type>(bth + Bth::size) == 0 && read<MrcReported::nxt>(bth + Bth::size) == 0;
}

Step walk_lrh(Walk& walk) noexcept {
  constexpr std::uint32_t vcrc_size = 2;
  const std::uint32_t start = walk.offset;
  const std::uint8_t* p = walk.take<Lrh>();
  if (p == nullptr) return Step::done;
  walk.out.network = static_cast<std::uint8_t>(walk.out.layer_count - 1);
  walk.out.transport = Transport::native_ib;
  const std::uint32_t length = read<Lrh::pktlen>(p) * 4U;  // LRH through ICRC, without VCRC
  if (length >= Lrh::size) {
    const std::uint64_t end = std::uint64_t{start} + length;
    if (end + vcrc_size <= std::min(walk.available, walk.declared) && walk.out.layer_count < max_layers) {
      const std::uint32_t here = walk.offset;
      walk.offset = static_cast<std::uint32_t>(end);
      walk.push(HeaderId::vcrc, vcrc_size);
      walk.offset = here;
    }
    walk.declare_end(end);
  } else {
    walk.out.stop = Stop::contradicts_itself;
    walk.out.stopped_at = HeaderId::lrh;
    return Step::done;
  }
  switch (read<Lrh::lnh>(p)) {
    case lnh_bth:
      return Step::bth;
    case lnh_grh:
      return Step::grh;
    default:
      walk.out.stop = Stop::unknown_protocol;
      return Step::done;  // raw packets
  }
}

Step walk_grh(Walk& walk) noexcept {
  const bool native = walk.out.transport == Transport::native_ib;
  const std::uint8_t* p = walk.take<Grh>();
  if (p == nullptr) return Step::done;
  walk.out.network = static_cast<std::uint8_t>(walk.out.layer_count - 1);
  walk.out.udp = Dissection::none;
  if (!native) walk.declare_end(std::uint64_t{walk.offset} + read<Grh::paylen>(p));
  if (read<Grh::nxthdr>(p) != grh_next_header_iba) {
    walk.out.stop = Stop::unknown_protocol;
    walk.out.unknown_type = read<Grh::nxthdr>(p);
    return Step::done;
  }
  return Step::bth;
}

Step walk_bth(Walk& walk) noexcept {
  const Transport transport =
      walk.out.transport == Transport::native_ib ? Transport::native_ib : transport_below(walk);
  const std::uint8_t* p = walk.take<Bth>();
  if (p == nullptr) return Step::done;
  Dissection& out = walk.out;
  out.bth = static_cast<std::uint8_t>(out.layer_count - 1);
  out.transport = transport;
  out.declared_end = walk.declared;

  const OpcodeInfo& info = opcode_info(read<Bth::opcode>(p));
  if (!info.defined) walk.note(Note::unknown_opcode);
  if (read<Bth::tver>(p) != 0) walk.note(Note::transport_version);

  // The extended headers and the payload end at the ICRC.
  const std::uint32_t packet_end = walk.declared;
  const bool room_for_icrc = packet_end >= walk.offset + Icrc::size;
  const std::uint32_t icrc_offset =
      room_for_icrc ? packet_end - static_cast<std::uint32_t>(Icrc::size) : walk.offset;
  const std::uint32_t captured_end = walk.available;
  walk.declared = icrc_offset;
  walk.available = std::min(captured_end, icrc_offset);
  if (!room_for_icrc) {
    out.stop = Stop::contradicts_itself;
    out.stopped_at = HeaderId::icrc;
    return Step::done;
  }

  const std::uint32_t after_bth = walk.offset;
  const std::uint32_t extended = headers_size(info, p);
  const bool whole_headers = walk_extended_headers(walk, info, extended != info.headers_size);
  // Extended headers that were truncated do not count as payload.
  const bool cut_headers = !whole_headers && out.stop == Stop::cut_by_capture;
  out.payload_offset = cut_headers ? after_bth + extended : walk.offset;
  out.payload_length = icrc_offset > out.payload_offset ? icrc_offset - out.payload_offset : 0;

  Step next = Step::done;
  const std::uint32_t after_headers = walk.offset;
  if (whole_headers) {
    if (info.service == Service::ud && info.operation == Operation::send && read<Bth::destqp>(p) <= gsi_qpn)
      next = Step::mad;
    const std::uint32_t captured_payload = std::min(out.payload_length, walk.left());
    if (out.payload_length > 0 && captured_payload < out.payload_length) {
      out.stop = Stop::cut_by_capture;
      out.stopped_at = HeaderId::payload;
    }
    if (captured_payload > 0 && out.layer_count < max_layers) walk.push(HeaderId::payload, captured_payload);
  }
  // The last bytes of a first fragment are not those of the packet.
  if (packet_end <= captured_end && !out.has(Note::fragmented) && !out.has(Note::cut_on_the_way) &&
      out.layer_count < max_layers) {
    walk.offset = icrc_offset;
    const std::uint8_t icrc = walk.push(HeaderId::icrc, Icrc::size);
    if (!walk.icrc_is_void) out.icrc = icrc;
  } else if (out.stop == Stop::complete && packet_end > captured_end) {
    out.stop = Stop::cut_by_capture;
    out.stopped_at = HeaderId::icrc;
  }
  if (whole_headers || cut_headers) {
    const std::uint32_t whole = fragmented_payload_end(walk);
    if (whole > out.payload_offset)
      out.payload_length = std::max(out.payload_length, whole - out.payload_offset);
  }
  walk.offset = after_headers;
  return next;
}

}  // namespace roce::dissect

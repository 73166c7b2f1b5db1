// SPDX-License-Identifier: Apache-2.0
#include "tests/support/frame_builder.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace roce::support {
namespace {

constexpr std::uint16_t ethertype_ipv4 = 0x0800;
constexpr std::uint16_t ethertype_ipv6 = 0x86dd;
constexpr std::uint16_t ethertype_roce_v1 = 0x8915;
constexpr std::uint8_t ip_protocol_udp = 17;
constexpr std::uint8_t next_header_bth = 0x1b;
constexpr std::size_t ipv4_size = 20;
constexpr std::size_t ipv6_size = 40;
constexpr std::size_t udp_size = 8;
constexpr std::size_t bth_size = 12;
constexpr std::size_t icrc_size = 4;

// Eight bytes a step: table[k][b] is the CRC of byte b followed by k zero bytes.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr CrcTables make_crc_tables() {
  CrcTables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
    }
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xffU];
    }
  }
  return tables;
}

constexpr CrcTables crc_tables = make_crc_tables();

std::uint32_t little_endian_word(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8 |
         static_cast<std::uint32_t>(at[2]) << 16 | static_cast<std::uint32_t>(at[3]) << 24;
}

// Writes big-endian values one after another; the caller has made the room.
class Cursor {
 public:
  explicit Cursor(std::uint8_t* at) : at_(at) {}

  void number(std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
      at_[i] = static_cast<std::uint8_t>(value >> (8 * (width - 1 - i)));
    }
    at_ += width;
  }
  void bytes(std::span<const std::uint8_t> source) {
    if (!source.empty()) {
      std::memcpy(at_, source.data(), source.size());
    }
    at_ += source.size();
  }
  std::uint8_t* position() const { return at_; }

 private:
  std::uint8_t* at_;
};

// RFC 791: one's complement of the one's complement sum of the header's 16-bit words.
std::uint16_t ipv4_checksum(const std::uint8_t* header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < ipv4_size; i += 2) {
    sum += static_cast<std::uint32_t>(header[i] << 8 | header[i + 1]);
  }
  while ((sum >> 16) != 0) {
    sum = (sum & 0xffffU) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(~sum);
}

void write_network(Cursor& out, const Ipv4& ip, std::size_t payload_size) {
  std::uint8_t* const header = out.position();
  out.number(0x45, 1);
  out.number(ip.tos, 1);
  out.number(ipv4_size + payload_size, 2);
  out.number(ip.id, 2);
  out.number(ip.dont_fragment ? 0x4000 : 0, 2);
  out.number(ip.ttl, 1);
  out.number(ip_protocol_udp, 1);
  out.number(0, 2);
  out.bytes(ip.source);
  out.bytes(ip.destination);
  Cursor(header + 10).number(ipv4_checksum(header), 2);
}

template <class Header>  // Ipv6 and Grh have one layout (IBTA 8.3)
void write_ipv6_layout(Cursor& out, const Header& header, std::uint8_t next, std::size_t payload_size) {
  out.number(std::uint64_t{6} << 28 | static_cast<std::uint64_t>(header.traffic_class) << 20 |
                 (header.flow_label & 0xfffffU),
             4);
  out.number(payload_size, 2);
  out.number(next, 1);
  out.number(header.hop_limit, 1);
  out.bytes(header.source);
  out.bytes(header.destination);
}

void write_network(Cursor& out, const Ipv6& ip, std::size_t payload_size) {
  write_ipv6_layout(out, ip, ip_protocol_udp, payload_size);
}

void write_network(Cursor& out, const Grh& grh, std::size_t payload_size) {
  write_ipv6_layout(out, grh, next_header_bth, payload_size);
}

struct Layout {
  std::uint16_t ethertype;
  std::size_t network_size;
  bool has_udp;
};

Layout layout_of(const std::variant<Ipv4, Ipv6, Grh>& network) {
  if (std::holds_alternative<Ipv4>(network)) {
    return {ethertype_ipv4, ipv4_size, true};
  }
  if (std::holds_alternative<Ipv6>(network)) {
    return {ethertype_ipv6, ipv6_size, true};
  }
  return {ethertype_roce_v1, ipv6_size, false};
}

void write_bth(Cursor& out, const Bth& bth, std::size_t pad) {
  out.number(bth.opcode, 1);
  out.number((bth.solicited ? 0x80U : 0U) | (bth.migrated ? 0x40U : 0U) | pad << 4 | (bth.version & 0xfU), 1);
  out.number(bth.pkey, 2);
  out.number((bth.fecn ? 0x80U : 0U) | (bth.becn ? 0x40U : 0U), 1);
  out.number(bth.dest_qp, 3);
  out.number(bth.ack_request ? 0x80U : 0U, 1);
  out.number(bth.psn, 3);
}

// IBTA A17.3.3 and 7.8.1: eight bytes of ones for the LRH, then the packet with its variant fields
// as ones. `packet` begins at the network header and ends before the ICRC.
std::uint32_t icrc_of(std::span<const std::uint8_t> packet, const Layout& layout) {
  constexpr std::size_t lrh_size = 8;
  std::array<std::uint8_t, lrh_size + ipv6_size + udp_size + bth_size> masked;
  const std::size_t udp = layout.network_size;
  const std::size_t bth = udp + (layout.has_udp ? udp_size : 0);
  const std::size_t head = bth + bth_size;
  masked.fill(0xff);
  std::uint8_t* const copy = masked.data() + lrh_size;
  std::memcpy(copy, packet.data(), head);
  if (layout.ethertype == ethertype_ipv4) {
    copy[1] = 0xff;              // TOS
    copy[8] = 0xff;              // TTL
    copy[10] = copy[11] = 0xff;  // header checksum
  } else {
    copy[0] |= 0x0f;  // traffic class and flow label
    copy[1] = copy[2] = copy[3] = 0xff;
    copy[7] = 0xff;  // hop limit
  }
  if (layout.has_udp) {
    copy[udp + 6] = copy[udp + 7] = 0xff;  // checksum
  }
  copy[bth + 4] = 0xff;  // FECN, BECN, reserved
  const std::uint32_t crc = crc32_update(0xffffffffU, std::span(masked).first(lrh_size + head));
  return ~crc32_update(crc, packet.subspan(head));
}

std::uint16_t port_of_flow_label(std::uint32_t flow_label) {
  return static_cast<std::uint16_t>(((flow_label & 0x3fffU) ^ (flow_label >> 14)) | 0xc000U);
}

}  // namespace

std::uint32_t crc32_update(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
  const auto& t = crc_tables;
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    const std::uint32_t low = crc ^ little_endian_word(at);
    const std::uint32_t high = little_endian_word(at + 4);
    crc = t[7][low & 0xffU] ^ t[6][(low >> 8) & 0xffU] ^ t[5][(low >> 16) & 0xffU] ^ t[4][low >> 24] ^
          t[3][high & 0xffU] ^ t[2][(high >> 8) & 0xffU] ^ t[1][(high >> 16) & 0xffU] ^ t[0][high >> 24];
  }
  for (; left > 0; --left, ++at) {
    crc = (crc >> 8) ^ t[0][(crc ^ *at) & 0xffU];
  }
  return crc;
}

void ExtendedHeaders::put(std::uint64_t value, std::size_t width) {
  assert(size_ + width <= bytes_.size());
  Cursor(bytes_.data() + size_).number(value, width);
  size_ += width;
}

ExtendedHeaders& ExtendedHeaders::reth(std::uint64_t address, std::uint32_t rkey, std::uint32_t dma_length) {
  put(address, 8);
  put(rkey, 4);
  put(dma_length, 4);
  return *this;
}

ExtendedHeaders& ExtendedHeaders::aeth(std::uint8_t syndrome, std::uint32_t msn) {
  put(syndrome, 1);
  put(msn, 3);
  return *this;
}

ExtendedHeaders& ExtendedHeaders::deth(std::uint32_t qkey, std::uint32_t source_qp) {
  put(qkey, 4);
  put(0, 1);
  put(source_qp, 3);
  return *this;
}

ExtendedHeaders& ExtendedHeaders::atomic(std::uint64_t address, std::uint32_t rkey, std::uint64_t swap_or_add,
                                         std::uint64_t compare) {
  put(address, 8);
  put(rkey, 4);
  put(swap_or_add, 8);
  put(compare, 8);
  return *this;
}

ExtendedHeaders& ExtendedHeaders::atomic_ack(std::uint64_t original) {
  put(original, 8);
  return *this;
}

ExtendedHeaders& ExtendedHeaders::immediate(std::uint32_t value) {
  put(value, 4);
  return *this;
}

ExtendedHeaders& ExtendedHeaders::invalidate(std::uint32_t rkey) {
  put(rkey, 4);
  return *this;
}

ExtendedHeaders& ExtendedHeaders::flush(std::uint8_t placement, std::uint8_t selectivity) {
  put((selectivity & 0x3U) << 4 | (placement & 0xfU), 4);
  return *this;
}

ExtendedHeaders& ExtendedHeaders::xrc(std::uint32_t srqn) {
  put(0, 1);
  put(srqn, 3);
  return *this;
}

ExtendedHeaders& ExtendedHeaders::cnp_reserved() {
  put(0, 8);
  put(0, 8);
  return *this;
}

void build(const RoceFrame& frame, std::vector<std::uint8_t>& out) {
  const Layout layout = layout_of(frame.network);
  const std::span<const std::uint8_t> extended = frame.extended.bytes();
  const std::size_t pad = (4 - frame.payload.size() % 4) % 4;
  const std::size_t transport = bth_size + extended.size() + frame.payload.size() + pad + icrc_size;
  const std::size_t datagram = transport + (layout.has_udp ? udp_size : 0);
  const std::size_t link = 14 + 4 * frame.vlans.size();
  assert(datagram + ipv4_size <= 0xffff);
  out.resize(link + layout.network_size + datagram);

  Cursor cursor(out.data());
  cursor.bytes(frame.destination_mac);
  cursor.bytes(frame.source_mac);
  for (const VlanTag& tag : frame.vlans) {
    cursor.number(tag.tpid, 2);
    cursor.number(static_cast<unsigned>(tag.pcp) << 13 | (tag.dei ? 0x1000U : 0U) | (tag.vid & 0xfffU), 2);
  }
  cursor.number(layout.ethertype, 2);
  std::visit([&](const auto& header) { write_network(cursor, header, datagram); }, frame.network);
  if (layout.has_udp) {
    cursor.number(frame.udp_source, 2);
    cursor.number(frame.udp_destination, 2);
    cursor.number(datagram, 2);
    cursor.number(0, 2);
  }
  write_bth(cursor, frame.bth, pad);
  cursor.bytes(extended);
  cursor.bytes(frame.payload);
  cursor.number(0, pad);

  const std::span<const std::uint8_t> packet = std::span(out).subspan(link, out.size() - link - icrc_size);
  std::uint32_t icrc = frame.icrc ? *frame.icrc : icrc_of(packet, layout);
  for (std::size_t i = 0; i < icrc_size; ++i, icrc >>= 8) {  // least significant byte first
    out[out.size() - icrc_size + i] = static_cast<std::uint8_t>(icrc);
  }
}

std::vector<std::uint8_t> build(const RoceFrame& frame) {
  std::vector<std::uint8_t> out;
  build(frame, out);
  return out;
}

// Linux rdma_calc_flow_label and rdma_flow_label_to_udp_sport.
std::uint16_t rc_source_port(std::uint32_t local_qp, std::uint32_t remote_qp) {
  std::uint64_t v = static_cast<std::uint64_t>(local_qp) * remote_qp;
  v ^= v >> 20;
  v ^= v >> 40;
  return port_of_flow_label(static_cast<std::uint32_t>(v & 0xfffffU));
}

// Linux rxe: hash_32(qpn, 14) into the dynamic ports.
std::uint16_t ud_source_port(std::uint32_t own_qp) {
  return static_cast<std::uint16_t>(0xc000U + ((own_qp * 0x61c88647U) >> 18));
}

}  // namespace roce::support

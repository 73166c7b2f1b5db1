// SPDX-License-Identifier: Apache-2.0
#include "dissect/icrc.hpp"

#include <array>
#include <cstring>

#include "dissect/crc32.hpp"
#include "dissect/enum_names.hpp"
#include "dissect/fast_cnp.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/opcode.hpp"

namespace roce::dissect {
namespace {

constexpr std::size_t bth_variant_byte = 4;  // FECN, BECN and reserved bits

/// The headers that hold variant bits, copied and masked. IP options and IPv6 extension headers fit too;
/// longer headers, which real packets do not have, are not checkable.
struct Masked {
  static constexpr std::size_t prefix = 8;  // eight 0xff bytes stand for the LRH
  std::array<std::uint8_t, 512> bytes;
  std::size_t size = 0;
};

void set_ones(std::uint8_t& byte, std::uint8_t mask = 0xff) {
  byte = static_cast<std::uint8_t>(byte | mask);
}

void mask_ipv4(std::uint8_t* p) {
  set_ones(p[1]);   // DSCP and ECN
  set_ones(p[8]);   // TTL
  set_ones(p[10]);  // header checksum
  set_ones(p[11]);
}

/// IPv6 and GRH have their variant fields in the same places.
void mask_ipv6(std::uint8_t* p) {
  set_ones(p[0], 0x0f);  // traffic class and flow label; the version stays
  set_ones(p[1]);
  set_ones(p[2]);
  set_ones(p[3]);
  set_ones(p[7]);  // hop limit
}

/// Fills `masked` with everything from the first covered byte through the BTH.
bool fill(Bytes frame, const IcrcPlace& place, Masked& masked) {
  // Only without a GRH does the packet stay in its subnet, so that its LRH stays the same except for the VL.
  // Routers replace the LRH of a packet with a GRH: then ones stand for it, as in RoCE, which has none.
  const bool local = place.network_id == HeaderId::lrh;
  const std::uint32_t start = place.network;
  const std::size_t covered = place.bth + Bth::size - start;
  const std::size_t prefix = local ? 0 : Masked::prefix;
  if (prefix + covered > masked.bytes.size()) return false;

  std::uint8_t* out = masked.bytes.data();
  std::memset(out, 0xff, prefix);
  std::memcpy(out + prefix, frame.data() + start, covered);
  masked.size = prefix + covered;
  std::uint8_t* copy = out + prefix;
  if (local) {
    set_ones(copy[0], 0xf0);  // VL
  } else if (place.network_id == HeaderId::ipv4) {
    mask_ipv4(copy);
  } else if (place.network_id == HeaderId::ipv6 || place.network_id == HeaderId::grh) {
    mask_ipv6(copy);
  }
  if (place.udp != IcrcPlace::none) {
    std::uint8_t* udp = copy + (place.udp - start);
    set_ones(udp[6]);  // checksum
    set_ones(udp[7]);
  }
  set_ones(copy[covered - Bth::size + bth_variant_byte]);
  return true;
}

IcrcPlace place_of(const Dissection& d) {
  const Layer& network = d.layers[d.network];
  IcrcPlace place;
  place.network_id = network.id;
  place.network = network.offset;
  if (d.udp != Dissection::none) place.udp = d.layers[d.udp].offset;
  place.bth = d.layers[d.bth].offset;
  place.icrc = d.declared_end - static_cast<std::uint32_t>(Icrc::size);
  return place;
}

/// MRC in SRv6: whether the ICRC is over the outer or the inner header is not public. Nor is whether that of
/// Fast CNPs is over their option.
bool is_cover_unknown(Bytes frame, const Dissection& d) {
  if (fast_cnp_address(frame, d)) return true;
  if (!Bth::is_mrc(frame.data() + d.layers[d.bth].offset)) return false;
  return d.in(Tunnel::ip_in_ip) || d.find(HeaderId::ipv6_routing) != nullptr;
}

CrcObstacle obstacle_of(Bytes frame, const Dissection& d) {
  if (!d.is_transport() || d.network == Dissection::none) return CrcObstacle::no_transport;
  if (d.has(Note::fragmented)) return CrcObstacle::fragment;
  if (d.has(Note::trimmed)) return CrcObstacle::trimmed;
  if (d.has(Note::cut_on_the_way) || d.declared_end > d.captured_end) return CrcObstacle::cut;
  // An outer length may end before the inner packet does: then its ICRC has no position.
  if (d.icrc == Dissection::none) return CrcObstacle::no_length;
  if (is_cover_unknown(frame, d)) return CrcObstacle::cover_unknown;
  return CrcObstacle::none;
}

std::uint32_t byte_swap(std::uint32_t v) {
  return (v >> 24U) | ((v >> 8U) & 0xff00U) | ((v << 8U) & 0xff0000U) | (v << 24U);
}

}  // namespace

IcrcResult check_icrc_at(Bytes frame, const IcrcPlace& place) noexcept {
  IcrcResult result;
  Masked masked;
  if (!fill(frame, place, masked)) {
    result.obstacle = CrcObstacle::no_length;
    return result;
  }
  const std::uint32_t rest = place.bth + static_cast<std::uint32_t>(Bth::size);
  const std::uint32_t rest_size = place.icrc - rest;
  std::uint32_t crc = 0;
  if (rest_size <= masked.bytes.size() - masked.size) {
    // A small packet: one call over a copy costs less than two calls.
    std::memcpy(masked.bytes.data() + masked.size, frame.data() + rest, rest_size);
    crc = crc32(0, masked.bytes.data(), masked.size + rest_size);
  } else {
    crc = crc32(crc32(0, masked.bytes.data(), masked.size), frame.data() + rest, rest_size);
  }

  result.found = load_be32(frame.data() + place.icrc);
  result.computed = byte_swap(crc);  // stored least significant byte first
  result.status = result.found == result.computed ? CrcStatus::match : CrcStatus::mismatch;
  if (result.status == CrcStatus::match) return result;

  const std::uint8_t* bth = frame.data() + place.bth;
  if (opcode_info(read<Bth::opcode>(bth)).operation == Operation::flush) {
    // Soft-RoCE continues over BTH, FETH and RETH, unmasked, after the standard's last byte.
    const std::uint32_t twice = crc32(crc, bth, place.icrc - place.bth);
    if (byte_swap(twice) == result.found) {
      result.status = CrcStatus::match;
      result.soft_roce_flush = true;
    }
  }
  return result;
}

IcrcResult check_icrc(Bytes frame, const Dissection& d) noexcept {
  const CrcObstacle obstacle = obstacle_of(frame, d);
  if (obstacle == CrcObstacle::none) return check_icrc_at(frame, place_of(d));
  IcrcResult result;
  result.obstacle = obstacle;
  return result;
}

VcrcResult check_vcrc(Bytes frame, const Dissection& d) noexcept {
  VcrcResult result;
  const Layer* lrh = d.find(HeaderId::lrh);
  const Layer* vcrc = d.find(HeaderId::vcrc);
  if (lrh == nullptr || vcrc == nullptr) return result;
  // CRC-16 with polynomial 0x100B, initial ones, final complement, over LRH through ICRC; bits go in
  // as on the wire, least significant first, so the polynomial is used reflected (0xD008). The driver of a
  // capture card computes the same. That the least significant byte comes first, as in the ICRC, follows
  // from the bit order; it was not verified with a real packet.
  std::uint32_t crc = 0xffff;
  for (std::uint32_t i = lrh->offset; i < vcrc->offset; ++i) {
    crc ^= frame[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1U) ^ 0xd008U : crc >> 1U;
  }
  crc = ~crc & 0xffffU;
  result.computed = static_cast<std::uint16_t>((crc >> 8U) | (crc << 8U));
  result.found = load_be16(frame.data() + vcrc->offset);
  // Since the byte order is not certain, either one counts as a match.
  const bool match = result.found == result.computed || result.found == crc;
  result.status = match ? CrcStatus::match : CrcStatus::mismatch;
  return result;
}

std::string_view crc_status_name(CrcStatus status) noexcept {
  using enum CrcStatus;
  static constexpr EnumNames<CrcStatus, 3> names(
      {{match, "match"}, {mismatch, "mismatch"}, {not_checkable, "not_checkable"}});
  return names[status];
}

std::string_view crc_obstacle_name(CrcObstacle obstacle) noexcept {
  using enum CrcObstacle;
  static constexpr EnumNames<CrcObstacle, 7> names(
      {{none, ""},
       {no_transport, "no transport header"},
       {cut, "truncated packet"},
       {trimmed, "trimmed by the network"},
       {fragment, "IP fragment"},
       {no_length, "no length field gives its position"},
       {cover_unknown, "not known which headers it covers (MRC in SRv6, Fast CNP)"}});
  return names[obstacle];
}

}  // namespace roce::dissect

// SPDX-License-Identifier: Apache-2.0
// Shells that hide what they carry, and transports that are only named.
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/other_transport.hpp"
#include "dissect/headers/shell.hpp"
#include "dissect/walk.hpp"

namespace roce::dissect {
namespace {

Step encrypted(Walk& walk) noexcept {
  walk.out.stop = Stop::encrypted;
  return Step::done;
}

/// Named, and no further.
Step named(Walk& walk) noexcept {
  walk.out.stop = Stop::unknown_protocol;
  const std::uint8_t* const udp = walk.base + walk.out.layers[walk.out.udp].offset;
  walk.out.unknown_type = read<Udp::dstport>(udp);
  return Step::done;
}

}  // namespace

Step walk_esp(Walk& walk) noexcept {
  if (walk.take<Esp>() == nullptr) return Step::done;
  return encrypted(walk);
}

bool begins_esp(const Walk& walk) noexcept {
  // RFC 3948, 2: four zero bytes are IKE, a single byte 0xff a keep-alive.
  return walk.left() >= Esp::size && load_be32(walk.at()) != 0;
}

Step walk_ah(Walk& walk) noexcept {
  if (!walk.fits(HeaderId::ah, Ah::size)) return Step::done;
  const std::uint8_t* p = walk.at();
  const std::uint32_t length = (read<Ah::length>(p) + 2U) * 4U;
  if (length < Ah::size) {
    walk.out.stop = Stop::contradicts_itself;
    walk.out.stopped_at = HeaderId::ah;
    return Step::done;
  }
  if (!walk.fits(HeaderId::ah, length)) return Step::done;
  walk.push(HeaderId::ah, length);
  walk.icrc_is_void = true;  // the IP header is not the one that it was computed over
  return step_of_ip_protocol(walk, read<Ah::next>(p));
}

bool begins_psp(const Walk& walk) noexcept {
  constexpr unsigned one = 0x01;
  if (walk.left() < Psp::size) return false;
  const std::uint8_t* p = walk.at();
  return (p[3] & one) != 0 && read<Psp::length>(p) >= 1 && read<Psp::version>(p) <= 3;
}

Step walk_psp(Walk& walk) noexcept {
  const std::uint32_t length = (walk.at()[1] + 1U) * 8U;
  if (!walk.fits(HeaderId::psp, length)) return Step::done;
  walk.push(HeaderId::psp, length);
  return encrypted(walk);
}

Step walk_uet(Walk& walk) noexcept {
  if (!walk.fits(HeaderId::uet, UetPrologue::size)) return Step::done;
  HeaderId id = HeaderId::uet;
  std::uint32_t size = UetPrologue::size;
  const unsigned type = read<UetPrologue::type>(walk.at());
  switch (type) {
    case uet_rud_request:
    case uet_rod_request:
    case uet_rud_cc_request:
    case uet_rod_cc_request:
      id = HeaderId::uet_request;
      size = UetRequest::size;
      break;
    case uet_ack:
    case uet_ack_cc:
    case uet_ack_ccx:
      id = HeaderId::uet_ack;
      size = UetAck::size;
      break;
    case uet_nack:
    case uet_nack_ccx:
      id = HeaderId::uet_nack;
      size = UetNack::size;
      break;
    default:
      break;
  }
  if (!walk.fits(id, size)) return Step::done;
  walk.push(id, size);
  return type == uet_tss ? encrypted(walk) : named(walk);
}

Step walk_falcon(Walk& walk) noexcept {
  return walk.take<Falcon>() == nullptr ? Step::done : named(walk);
}

Step walk_veroce(Walk& walk) noexcept {
  return walk.take<VeRoce>() == nullptr ? Step::done : named(walk);
}

Step walk_ifa(Walk& walk) noexcept {
  const std::uint8_t* p = walk.take<Ifa>();
  if (p == nullptr) return Step::done;
  walk.icrc_is_void = true;
  if (read<Ifa::next>(p) != ip_proto_udp) return step_of_ip_protocol(walk, read<Ifa::next>(p));
  walk.ifa_metadata = true;
  return Step::udp;
}

/// Metadata lies between UDP and what UDP carries, whose length does not count it.
bool walk_ifa_metadata(Walk& walk) noexcept {
  if (!walk.fits(HeaderId::ifa_metadata, IfaMetadata::size)) return false;
  constexpr std::uint32_t word = 4;
  const std::uint32_t length = IfaMetadata::size + word * read<IfaMetadata::length>(walk.at());
  if (!walk.fits(HeaderId::ifa_metadata, length)) return false;
  walk.push(HeaderId::ifa_metadata, length);
  return true;
}

}  // namespace roce::dissect

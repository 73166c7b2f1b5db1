// SPDX-License-Identifier: Apache-2.0
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/mirror.hpp"
#include "dissect/walk.hpp"

namespace roce::dissect {
namespace {

/// IEEE 802.1AE: the integrity check value at the frame's end, default cipher suite.
constexpr std::uint32_t macsec_icv_size = 16;

}  // namespace

Step step_of_ethertype(Walk& walk, std::uint16_t ethertype) noexcept {
  switch (ethertype) {
    case ethertype_ipv4:
      return Step::ipv4;
    case ethertype_ipv6:
      return Step::ipv6;
    case ethertype_roce_v1:
      return Step::grh;
    case ethertype_vlan:
    case ethertype_qinq_old:
      return Step::vlan;
    case ethertype_qinq:
      return Step::service_vlan;
    case ethertype_mpls:
    case ethertype_mpls_multicast:
      return Step::mpls;
    case ethertype_macsec:
      return Step::macsec;
    case ethertype_arista:
      return Step::arista;
    case ethertype_mac_control:
      return Step::mac_control;
    case ethertype_lldp:
      return Step::lldp;
    default:
      if (ethertype != 0 && ethertype == walk.options.named.csig_type) return Step::csig;
      walk.out.stop = Stop::unknown_protocol;
      walk.out.unknown_type = ethertype;
      return Step::done;
  }
}

Step walk_ethernet(Walk& walk) noexcept {
  const std::uint8_t* p = walk.take<Ethernet>();
  if (p == nullptr) return Step::done;
  walk.out.ethernet = static_cast<std::uint8_t>(walk.out.layer_count - 1);
  walk.out.vlan = Dissection::none;  // tags before a tunnel are not those of the inner frame
  const std::uint16_t type = read<Ethernet::type>(p);
  if (type >= min_ethertype) return step_of_ethertype(walk, type);
  walk.out.stop = Stop::unknown_protocol;  // IEEE 802.2 LLC
  return Step::done;
}

Step walk_vlan(Walk& walk) noexcept {
  const std::uint8_t* p = walk.take<Vlan>();
  if (p == nullptr) return Step::done;
  walk.out.vlan = static_cast<std::uint8_t>(walk.out.layer_count - 1);
  return step_of_ethertype(walk, read<Vlan::etype>(p));
}

Step walk_service_vlan(Walk& walk) noexcept {
  const std::uint8_t* p = walk.take<ServiceVlan>();
  if (p == nullptr) return Step::done;
  walk.out.vlan = static_cast<std::uint8_t>(walk.out.layer_count - 1);
  return step_of_ethertype(walk, read<ServiceVlan::etype>(p));
}

Step walk_mpls(Walk& walk) noexcept {
  const std::uint8_t* p = walk.take<Mpls>();
  if (p == nullptr) return Step::done;
  walk.enter(Tunnel::mpls);
  if (read<Mpls::bottom>(p) == 0) return Step::mpls;
  // No field gives the protocol after the stack; a first nibble of 0 is a control word before Ethernet
  // (RFC 4385).
  if (walk.left() == 0) {
    (void)walk.fits(HeaderId::ipv4, 1);
    return Step::done;
  }
  if ((*walk.at() >> 4U) == 0) {
    constexpr std::uint32_t control_word_size = 4;
    if (!walk.fits(HeaderId::ethernet, control_word_size)) return Step::done;
    walk.offset += control_word_size;
    return Step::ethernet;
  }
  return step_of_ip_version(walk);
}

Step walk_macsec(Walk& walk) noexcept {
  const std::uint32_t sci_size = walk.left() > 0 && (*walk.at() & 0x20U) != 0 ? 8 : 0;
  const auto size = static_cast<std::uint32_t>(MacSec::size) + sci_size;
  if (!walk.fits(HeaderId::macsec, size)) return Step::done;
  const std::uint8_t* p = walk.at();
  walk.push(HeaderId::macsec, size);
  walk.enter(Tunnel::macsec);
  if (read<MacSec::encrypted>(p) != 0 || read<MacSec::changed>(p) != 0) {
    walk.out.stop = Stop::encrypted;
    return Step::done;
  }
  // The ICV follows the payload: both ends must be before it.
  if (walk.declared < walk.offset + 2 + macsec_icv_size) {
    walk.out.stop = Stop::contradicts_itself;
    walk.out.stopped_at = HeaderId::macsec;
    return Step::done;
  }
  walk.declared -= macsec_icv_size;
  walk.available = std::min(walk.available, walk.declared);
  if (!walk.fits(HeaderId::macsec, 2)) return Step::done;
  const std::uint16_t type = load_be16(walk.at());
  walk.offset += 2;
  return step_of_ethertype(walk, type);
}

Step walk_arista(Walk& walk) noexcept {
  if (!walk.fits(HeaderId::arista_stamp, AristaStamp::size)) return Step::done;
  const std::uint8_t* p = walk.at();
  const bool wide = detail::arista_is_64_bit(p);
  if (read<AristaStamp::subtype>(p) != AristaStamp::timestamps || !(wide || detail::arista_is_48_bit(p))) {
    walk.out.stop = Stop::unknown_protocol;
    walk.out.unknown_type = ethertype_arista;
    return Step::done;
  }
  const auto size = static_cast<std::uint32_t>(wide ? AristaStamp::long_size : AristaStamp::size);
  if (!walk.fits(HeaderId::arista_stamp, size + 2)) return Step::done;
  walk.push(HeaderId::arista_stamp, size);
  const std::uint16_t type = load_be16(walk.at());
  walk.offset += 2;
  return step_of_ethertype(walk, type);
}

Step walk_csig(Walk& walk) noexcept {
  const std::uint8_t* p = walk.take<Csig>();
  return p == nullptr ? Step::done : step_of_ethertype(walk, read<Csig::etype>(p));
}

Step walk_sll(Walk& walk) noexcept {
  const std::uint8_t* p = walk.take<Sll>();
  return p == nullptr ? Step::done : step_of_ethertype(walk, read<Sll::etype>(p));
}

Step walk_sll2(Walk& walk) noexcept {
  const std::uint8_t* p = walk.take<Sll2>();
  return p == nullptr ? Step::done : step_of_ethertype(walk, read<Sll2::etype>(p));
}

Step walk_null_loop(Walk& walk) noexcept {
  // The family is in the byte order of the host that captured; its numbers differ between systems.
  // The IP version nibble that follows is more reliable than either.
  if (walk.take<NullLoop>() == nullptr) return Step::done;
  return step_of_ip_version(walk);
}

Step walk_erf(Walk& walk) noexcept {
  constexpr std::uint8_t type_ethernet = 2, type_infiniband = 21, type_infiniband_link = 25;
  constexpr std::uint32_t extension_size = 8;
  const std::uint8_t* p = walk.take<Erf>();
  if (p == nullptr) return Step::done;
  const std::uint8_t type = read<Erf::type>(p);
  bool more = read<Erf::extension>(p) != 0;
  // Padding may follow the record's declared length; the wire length excludes ERF's own header.
  const std::uint32_t record_length = read<Erf::record_length>(p);
  while (more) {
    if (!walk.fits(HeaderId::erf, extension_size)) return Step::done;
    more = (*walk.at() & 0x80U) != 0;
    walk.offset += extension_size;
  }
  if (record_length >= Erf::size)
    walk.available = std::min(walk.available, std::max(walk.offset, record_length));
  switch (type) {
    case type_ethernet: {
      constexpr std::uint32_t pad_size = 2;
      if (!walk.fits(HeaderId::erf, pad_size)) return Step::done;
      walk.offset += pad_size;
      return Step::ethernet;
    }
    case type_infiniband:
      return Step::lrh;
    case type_infiniband_link:
      return Step::done;  // flow control packets of the link layer
    default:
      walk.out.stop = Stop::unknown_protocol;
      walk.out.unknown_type = type;
      return Step::done;
  }
}

}  // namespace roce::dissect

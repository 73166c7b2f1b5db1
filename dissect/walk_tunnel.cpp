// SPDX-License-Identifier: Apache-2.0
#include "dissect/headers/mirror.hpp"
#include "dissect/headers/tunnel.hpp"
#include "dissect/walk.hpp"

namespace roce::dissect {
namespace {

Step not_followed(Walk& walk, std::uint16_t type) noexcept {
  walk.out.stop = Stop::unknown_protocol;
  walk.out.unknown_type = type;
  return Step::done;
}

/// ERSPAN uses GRE, but is not counted as GRE.
void enter_erspan(Walk& walk) noexcept {
  walk.out.tunnels =
      static_cast<std::uint8_t>(walk.out.tunnels & ~(1U << static_cast<unsigned>(Tunnel::gre)));
  walk.enter(Tunnel::erspan);
}

}  // namespace

Step walk_gre(Walk& walk) noexcept {
  const std::uint8_t* p = walk.take<Gre>();
  if (p == nullptr) return Step::done;
  const std::uint16_t proto = read<Gre::proto>(p);
  // Version 1 is PPTP; source routes (RFC 1701) were deprecated before RoCE existed.
  if (read<Gre::version>(p) != 0 || read<Gre::has_routing>(p) != 0) return not_followed(walk, proto);
  if (read<Gre::has_checksum>(p) != 0 && walk.take<GreChecksum>() == nullptr) return Step::done;
  if (read<Gre::has_key>(p) != 0 && walk.take<GreKey>() == nullptr) return Step::done;
  const bool sequence = read<Gre::has_sequence>(p) != 0;
  if (sequence && walk.take<GreSequence>() == nullptr) return Step::done;
  walk.enter(Tunnel::gre);
  switch (proto) {
    case ethertype_teb:
      return Step::ethernet;
    // Type II has the sequence number, type I neither it nor a header (draft-foschiano-erspan, 4).
    case ethertype_erspan:
      return sequence ? Step::erspan2 : Step::erspan1;
    case ethertype_erspan3:
      return Step::erspan3;
    default:
      return step_of_ethertype(walk, proto);
  }
}

Step walk_erspan1(Walk& walk) noexcept {
  enter_erspan(walk);
  return Step::ethernet;
}

Step walk_erspan2(Walk& walk) noexcept {
  const std::uint8_t* p = walk.take<Erspan2>();
  if (p == nullptr) return Step::done;
  enter_erspan(walk);
  if (read<Erspan2::truncated>(p) != 0) walk.note(Note::cut_on_the_way);
  return Step::ethernet;
}

Step walk_erspan3(Walk& walk) noexcept {
  const std::uint8_t* p = walk.take<Erspan3>();
  if (p == nullptr) return Step::done;
  enter_erspan(walk);
  if (read<Erspan3::truncated>(p) != 0) walk.note(Note::cut_on_the_way);
  if (read<Erspan3::optional>(p) != 0 && walk.take<ErspanPlatform>() == nullptr) return Step::done;
  constexpr unsigned frame_type_ethernet = 0, frame_type_ip = 2;
  switch (read<Erspan3::frame_type>(p)) {
    case frame_type_ethernet:
      return Step::ethernet;
    case frame_type_ip:
      return step_of_ip_version(walk);
    default:
      return not_followed(walk, ethertype_erspan3);
  }
}

Step walk_vxlan(Walk& walk) noexcept {
  constexpr std::uint32_t vni_valid = 0x0800;  // the I flag, RFC 7348, 5
  if (!walk.fits(HeaderId::vxlan, Vxlan::size)) return Step::done;
  const std::uint8_t* p = walk.at();
  if ((read<Vxlan::flags>(p) & vni_valid) == 0) return not_followed(walk, udp_port_vxlan);
  walk.push(HeaderId::vxlan, Vxlan::size);
  walk.enter(Tunnel::vxlan);
  return Step::ethernet;
}

Step walk_vxlan_gpe(Walk& walk) noexcept {
  constexpr unsigned next_protocol_present = 0x04, vni_valid = 0x08;
  if (!walk.fits(HeaderId::vxlan_gpe, VxlanGpe::size)) return Step::done;
  const std::uint8_t* p = walk.at();
  const unsigned flags = read<VxlanGpe::flags>(p);
  if ((flags & next_protocol_present) == 0) return Step::vxlan;  // a plain VXLAN header on the port of GPE
  if ((flags & vni_valid) == 0) return not_followed(walk, udp_port_vxlan_gpe);
  walk.push(HeaderId::vxlan_gpe, VxlanGpe::size);
  walk.enter(Tunnel::vxlan);
  switch (read<VxlanGpe::next>(p)) {
    case 1:
      return Step::ipv4;
    case 2:
      return Step::ipv6;
    case 3:
      return Step::ethernet;
    default:
      return not_followed(walk, udp_port_vxlan_gpe);
  }
}

Step walk_geneve(Walk& walk) noexcept {
  if (!walk.fits(HeaderId::geneve, Geneve::size)) return Step::done;
  const std::uint8_t* p = walk.at();
  if (read<Geneve::version>(p) != 0) return not_followed(walk, udp_port_geneve);
  const auto length = static_cast<std::uint32_t>(Geneve::size) + read<Geneve::optlen>(p) * 4U;
  if (!walk.fits(HeaderId::geneve, length)) return Step::done;
  walk.push(HeaderId::geneve, length);
  walk.enter(Tunnel::geneve);
  const std::uint16_t proto = read<Geneve::proto>(p);
  return proto == ethertype_teb ? Step::ethernet : step_of_ethertype(walk, proto);
}

}  // namespace roce::dissect

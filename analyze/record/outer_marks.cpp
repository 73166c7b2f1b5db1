// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/outer_marks.hpp"

#include "analyze/record/fill_record.hpp"

namespace roce::analyze {

using namespace dissect;

namespace {

/// The tunnel that begins after the IP header `at`, by the first header of one before the next IP header.
Tunnel tunnel_after(const Dissection& d, std::size_t at) noexcept {
  for (std::size_t i = at + 1; i <= d.network; ++i) {
    switch (d.layers[i].id) {
      case HeaderId::vxlan:
      case HeaderId::vxlan_gpe:
        return Tunnel::vxlan;
      case HeaderId::geneve:
        return Tunnel::geneve;
      case HeaderId::gre:
        return Tunnel::gre;
      default:
        break;
    }
  }
  return Tunnel::ip_in_ip;
}

IpAddress address_at(HeaderId id, const std::uint8_t* ip, bool source) noexcept {
  if (id == HeaderId::ipv4)
    return IpAddress::v4(ip + (source ? Ipv4::src.first_byte() : Ipv4::dst.first_byte()));
  return IpAddress::v6(ip + (source ? Ipv6::src.first_byte() : Ipv6::dst.first_byte()));
}

}  // namespace

std::size_t end_of_mirror(const Dissection& d) noexcept {
  if (!d.in(Tunnel::erspan)) return 0;
  std::size_t end = 0;
  bool erspan = false;
  for (std::size_t i = 0; i < d.layer_count; ++i) {
    const HeaderId id = d.layers[i].id;
    erspan = erspan || id == HeaderId::erspan2 || id == HeaderId::erspan3;
    // ERSPAN I is GRE without a header of its own.
    if (id == HeaderId::erspan2 || id == HeaderId::erspan3 || (!erspan && id == HeaderId::gre)) end = i + 1;
  }
  return end;
}

std::uint8_t outer_network(const Dissection& d) noexcept {
  if (d.tunnels == 0 || d.network == Dissection::none) return Dissection::none;
  for (std::size_t i = end_of_mirror(d); i < d.network; ++i) {
    if (d.layers[i].id == HeaderId::ipv4 || d.layers[i].id == HeaderId::ipv6)
      return static_cast<std::uint8_t>(i);
  }
  return Dissection::none;
}

std::optional<OuterMarks> outer_marks(const std::uint8_t* frame, const Dissection& d) noexcept {
  const std::uint8_t outer = outer_network(d);
  if (outer == Dissection::none) return std::nullopt;
  const HeaderId id = d.layers[outer].id;
  const std::uint8_t* const p = frame + d.layers[outer].offset;
  OuterMarks marks;
  marks.from = address_at(id, p, true);
  marks.to = address_at(id, p, false);
  marks.tunnel = tunnel_after(d, outer);
  marks.traffic_class = traffic_class_at(id, p);
  for (std::size_t i = end_of_mirror(d); i < outer && !marks.pcp; ++i) {
    if (d.layers[i].id == HeaderId::vlan || d.layers[i].id == HeaderId::service_vlan)
      marks.pcp = read<Vlan::priority>(frame + d.layers[i].offset);
  }
  return marks;
}

}  // namespace roce::analyze

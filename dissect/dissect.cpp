// SPDX-License-Identifier: Apache-2.0
#include "dissect/dissect.hpp"

#include "dissect/enum_names.hpp"
#include "dissect/walk.hpp"
#include "dissect/walk_export.hpp"

namespace roce::dissect {
namespace {

using StepFunction = Step (*)(Walk&) noexcept;

// In the order of Step.
constexpr StepFunction steps[] = {
    nullptr,          walk_ethernet, walk_ipv4,         walk_ipv6,   walk_udp,       walk_gre,
    walk_erspan1,     walk_erspan2,  walk_erspan3,      walk_vxlan,  walk_vxlan_gpe, walk_geneve,
    walk_sflow,       walk_ipfix,    walk_esp,          walk_ah,     walk_psp,       walk_uet,
    walk_falcon,      walk_veroce,   walk_ifa,          walk_arista, walk_csig,      walk_mpls,
    walk_macsec,      walk_vlan,     walk_service_vlan, walk_lrh,    walk_grh,       walk_bth,
    walk_mac_control, walk_lldp,     walk_mad,          walk_sll,    walk_sll2,      walk_null_loop,
    walk_erf,         walk_raw_ip};
static_assert(sizeof steps / sizeof steps[0] == static_cast<std::size_t>(Step::count_));

struct LinkStep {
  std::uint16_t link_type;
  Step step;
};
constexpr LinkStep link_steps[] = {{link_ethernet, Step::ethernet}, {link_raw, Step::raw_ip},
                                   {link_ipv4, Step::raw_ip},       {link_ipv6, Step::raw_ip},
                                   {link_linux_sll, Step::sll},     {link_linux_sll2, Step::sll2},
                                   {link_null, Step::null_loop},    {link_loop, Step::null_loop},
                                   {link_infiniband, Step::lrh},    {link_erf, Step::erf}};

Step first_step(std::uint16_t link_type, Dissection& out) noexcept {
  for (const LinkStep& row : link_steps) {
    if (row.link_type == link_type) return row.step;
  }
  out.stop = Stop::unknown_link_type;
  return Step::done;
}

}  // namespace

void take_steps(Walk& walk, Step step) noexcept {
  while (step != Step::done) step = steps[static_cast<std::size_t>(step)](walk);
}

void dissect(Bytes frame, std::uint32_t wire_length, std::uint16_t link_type, Dissection& out,
             const Options& options) noexcept {
  out.reset();
  const auto captured = static_cast<std::uint32_t>(frame.size());
  out.captured_end = captured;
  const std::uint32_t wire = std::max(wire_length, captured);
  Walk walk{frame.data(), 0, captured, wire, wire, out, options};
  take_steps(walk, first_step(link_type, out));
  if (!out.is_transport()) out.declared_end = walk.declared;
  if (out.has(Note::trimmed)) walk.explain_by_trimming(captured == wire);
}

void dissect_shown(Bytes frame, std::uint32_t offset, std::uint32_t shown, std::uint32_t wire,
                   std::uint16_t link_type, Dissection& out, const Options& options) noexcept {
  const auto captured = static_cast<std::uint32_t>(frame.size());
  Walk walk{frame.data(), offset, captured, captured, captured, out, options};
  (void)walk_exported(walk, frame.subspan(offset, shown), wire, first_step(link_type, out));
}

std::string_view stop_name(Stop stop) noexcept {
  using enum Stop;
  static constexpr EnumNames<Stop, 9> names({{complete, "complete"},
                                             {cut_by_capture, "cut by the capture"},
                                             {trimmed, "trimmed by the network"},
                                             {contradicts_itself, "contradicts itself"},
                                             {too_deep, "too many headers"},
                                             {unknown_link_type, "unknown link type"},
                                             {unknown_protocol, "protocol not followed"},
                                             {encrypted, "encrypted"},
                                             {fragment, "later IP fragment"}});
  return names[stop];
}

std::string_view transport_name(Transport transport) noexcept {
  using enum Transport;
  static constexpr EnumNames<Transport, 5> names({{none, "not RoCE"},
                                                  {roce_v1, "RoCE v1"},
                                                  {roce_v2_ipv4, "RoCE v2 over IPv4"},
                                                  {roce_v2_ipv6, "RoCE v2 over IPv6"},
                                                  {native_ib, "native InfiniBand"}});
  return names[transport];
}

std::string_view tunnel_name(Tunnel tunnel) noexcept {
  using enum Tunnel;
  static constexpr EnumNames<Tunnel, 7> names({{vxlan, "vxlan"},
                                               {geneve, "geneve"},
                                               {gre, "gre"},
                                               {erspan, "erspan"},
                                               {ip_in_ip, "ip_in_ip"},
                                               {mpls, "mpls"},
                                               {macsec, "macsec"}});
  return names[tunnel];
}

}  // namespace roce::dissect

// SPDX-License-Identifier: Apache-2.0
// The cursor of dissect() and its steps. Internal to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dissect/dissect.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::dissect {

/// The position in a frame, and the two ends that bound the next header.
struct Walk {
  const std::uint8_t* base;
  std::uint32_t offset = 0;
  std::uint32_t available;  ///< end of the usable bytes: captured, and inside every outer length
  std::uint32_t declared;   ///< end by the innermost length field; may be greater than `available`
  std::uint32_t wire;       ///< end of the frame as it was on the wire
  Dissection& out;
  const Options& options;
  bool sampled = false;  ///< through a frame in a datagram that a switch exports
  bool icrc_is_void =
      false;  ///< headers that it covers were changed on the way (AH, IFA): it cannot be checked
  bool ifa_metadata = false;  ///< metadata of IFA follows the UDP header

  [[nodiscard]] const std::uint8_t* at() const noexcept { return base + offset; }
  [[nodiscard]] std::uint32_t left() const noexcept { return available > offset ? available - offset : 0; }

  void note(Note note) noexcept {
    out.notes = static_cast<std::uint16_t>(out.notes | 1U << static_cast<unsigned>(note));
  }
  void forget(Note note) noexcept {
    out.notes = static_cast<std::uint16_t>(out.notes & ~(1U << static_cast<unsigned>(note)));
  }
  void enter(Tunnel tunnel) noexcept {
    out.tunnels = static_cast<std::uint8_t>(out.tunnels | 1U << static_cast<unsigned>(tunnel));
  }

  /// Whether `length` bytes of header `id` fit before both ends; if not, records why.
  [[nodiscard]] bool fits(HeaderId id, std::uint32_t length) noexcept {
    if (length <= left() && offset + length <= declared) [[likely]] {
      if (out.layer_count < max_layers) [[likely]]
        return true;
      out.stop = Stop::too_deep;
    } else {
      out.stop = offset + std::uint64_t{length} > declared ? Stop::contradicts_itself : Stop::cut_by_capture;
    }
    out.stopped_at = id;
    return false;
  }

  /// Records a layer of `length` bytes at the current offset and advances past it. Only after fits().
  std::uint8_t push(HeaderId id, std::uint32_t length) noexcept {
    const std::uint8_t index = out.layer_count++;
    out.layers[index] = {id, sampled, static_cast<std::uint16_t>(std::min<std::uint32_t>(length, 0xffff)),
                         offset};
    offset += length;
    return index;
  }

  /// fits() and push() of a header's fixed part. Returns its bytes, or nullptr.
  template <class Header>
  [[nodiscard]] const std::uint8_t* take() noexcept {
    if (!fits(Header::id, Header::size)) return nullptr;
    const std::uint8_t* p = at();
    push(Header::id, Header::size);
    return p;
  }

  /// Makes `end` (from a header's own length field) the declared end. An end beyond the outer one means
  /// that the frame was truncated on the way (by a mirror or NIC): the bytes up to there remain usable.
  void declare_end(std::uint64_t end) noexcept {
    if (end > declared) note(Note::cut_on_the_way);
    available = std::min(available, declared);
    declared = static_cast<std::uint32_t>(std::min<std::uint64_t>(end, 0xffff'ffff));
    available = std::min(available, declared);
  }

  /// The frame ends before its IP length does. A mirror or NIC that cuts what it shows leaves the marks of
  /// the packet alone; a switch that trims instead of dropping gives it another DSCP.
  void note_short_of_ip(unsigned dscp) noexcept {
    if (out.tunnels == 0 && options.is_trimmed_dscp(dscp)) note(Note::trimmed);
  }
  /// What is missing of a trimmed frame was not cut by the capture, nor by whoever cuts what he shows.
  void explain_by_trimming(bool captured_whole) noexcept {
    forget(Note::cut_on_the_way);
    forget(Note::cut_before_bth);
    if (out.stop == Stop::cut_by_capture && captured_whole) out.stop = Stop::trimmed;
  }
};

/// The next header to parse. Each value has one function in the table of dissect.cpp.
enum class Step : std::uint8_t {
  done,
  ethernet,
  ipv4,
  ipv6,
  udp,
  gre,
  erspan1,
  erspan2,
  erspan3,
  vxlan,
  vxlan_gpe,
  geneve,
  sflow,
  ipfix,
  esp,
  ah,
  psp,
  uet,
  falcon,
  veroce,
  ifa,
  arista,
  csig,
  mpls,
  macsec,
  vlan,
  service_vlan,
  lrh,
  grh,
  bth,
  mac_control,
  lldp,
  mad,
  sll,
  sll2,
  null_loop,
  erf,
  raw_ip,
  count_
};

/// Takes `step` and all that follow.
void take_steps(Walk& walk, Step step) noexcept;
/// The step for an ethertype, at the current offset.
[[nodiscard]] Step step_of_ethertype(Walk& walk, std::uint16_t ethertype) noexcept;
/// The step for an IP protocol number.
[[nodiscard]] Step step_of_ip_protocol(Walk& walk, std::uint8_t protocol) noexcept;
/// The step that reads the IP version from the next byte.
[[nodiscard]] Step step_of_ip_version(Walk& walk) noexcept;

// walk_link.cpp
Step walk_ethernet(Walk&) noexcept;
Step walk_vlan(Walk&) noexcept;
Step walk_service_vlan(Walk&) noexcept;
Step walk_mpls(Walk&) noexcept;
Step walk_macsec(Walk&) noexcept;
Step walk_arista(Walk&) noexcept;
Step walk_csig(Walk&) noexcept;
Step walk_sll(Walk&) noexcept;
Step walk_sll2(Walk&) noexcept;
Step walk_null_loop(Walk&) noexcept;
Step walk_erf(Walk&) noexcept;
// walk_network.cpp
Step walk_ipv4(Walk&) noexcept;
Step walk_ipv6(Walk&) noexcept;
Step walk_raw_ip(Walk&) noexcept;
Step walk_udp(Walk&) noexcept;
// walk_tunnel.cpp
Step walk_gre(Walk&) noexcept;
Step walk_erspan1(Walk&) noexcept;
Step walk_erspan2(Walk&) noexcept;
Step walk_erspan3(Walk&) noexcept;
Step walk_vxlan(Walk&) noexcept;
Step walk_vxlan_gpe(Walk&) noexcept;
Step walk_geneve(Walk&) noexcept;
// walk_sflow.cpp, walk_ipfix.cpp
[[nodiscard]] bool begins_sflow(const Walk&) noexcept;
[[nodiscard]] bool resembles_sflow(const Walk&) noexcept;
Step walk_sflow(Walk&) noexcept;
[[nodiscard]] bool begins_ipfix(const Walk&, std::uint16_t port) noexcept;
Step walk_ipfix(Walk&) noexcept;
// walk_shell.cpp
[[nodiscard]] bool begins_esp(const Walk&) noexcept;
[[nodiscard]] bool begins_psp(const Walk&) noexcept;
[[nodiscard]] bool walk_ifa_metadata(Walk&) noexcept;
Step walk_esp(Walk&) noexcept;
Step walk_ah(Walk&) noexcept;
Step walk_psp(Walk&) noexcept;
Step walk_uet(Walk&) noexcept;
Step walk_falcon(Walk&) noexcept;
Step walk_veroce(Walk&) noexcept;
Step walk_ifa(Walk&) noexcept;
// walk_transport.cpp
Step walk_lrh(Walk&) noexcept;
Step walk_grh(Walk&) noexcept;
Step walk_bth(Walk&) noexcept;
/// Whether what follows is MRC by all that its headers must have: a port alone says little.
[[nodiscard]] bool looks_like_mrc(const Walk&) noexcept;
// walk_mad.cpp, walk_lldp.cpp, walk_mac_control.cpp
Step walk_mad(Walk&) noexcept;
Step walk_lldp(Walk&) noexcept;
Step walk_mac_control(Walk&) noexcept;

}  // namespace roce::dissect

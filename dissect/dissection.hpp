// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dissect/header_id.hpp"

namespace roce::dissect {

/// One header found in a frame. `length` includes options; `offset + length` never exceeds the
/// captured bytes, and the fixed part of the header is always complete.
struct Layer {
  HeaderId id{};
  /// Of a frame that a switch sampled or dropped, whose beginning it exports in this one.
  bool sampled = false;
  std::uint16_t length = 0;
  std::uint32_t offset = 0;
};
inline constexpr std::size_t max_layers = 64;
/// A datagram of sFlow has a dozen for each packet that it tells of.
inline constexpr std::size_t max_layers_of_exports = 160;

/// How the walk through a frame ended.
enum class Stop : std::uint8_t {
  complete,            ///< all headers that this dissector knows were read
  cut_by_capture,      ///< the captured bytes end inside `stopped_at`
  trimmed,             ///< a switch cut the frame inside `stopped_at`, and sent the rest on
  contradicts_itself,  ///< the frame's own length fields leave no room for `stopped_at`
  too_deep,            ///< more headers than there may be
  unknown_link_type,
  unknown_protocol,  ///< a protocol that is not dissected (TCP, ARP, ...): not an error
  encrypted,         ///< MACsec with encryption
  fragment,          ///< a later IP fragment: its transport header is in another frame
};

/// What carries the InfiniBand transport.
enum class Transport : std::uint8_t { none, roce_v1, roce_v2_ipv4, roce_v2_ipv6, native_ib };

/// Tunnels between the link layer and the transport, a bit each.
enum class Tunnel : std::uint8_t { vxlan, geneve, gre, erspan, ip_in_ip, mpls, macsec, count_ };
inline constexpr std::size_t tunnel_count = static_cast<std::size_t>(Tunnel::count_);

/// Conditions that are worth a diagnostic, a bit each; none of them ends the dissection.
enum class Note : std::uint8_t {
  short_roce_datagram,  ///< UDP to 4791 with less than BTH and ICRC: not dissected as RoCE
  only_source_port,     ///< UDP from, but not to, 4791
  fragmented,           ///< an IP fragment of UDP, the first or a later one
  cut_on_the_way,       ///< an inner length exceeds the frame's wire length: truncated by a mirror or NIC
  udp_length_mismatch,  ///< UDP length exceeds the IP payload, though the frame has room for it
  zero_ip_length,       ///< IP length 0 (segmentation offload): the frame's length is used
  unknown_opcode,
  transport_version,  ///< TVer is not 0
  cut_before_bth,     ///< UDP to 4791 with captured bytes that end before the end of the BTH
  trimmed,            ///< a switch cut the frame instead of dropping it: the UDP length is the original one
  count_
};

/// The headers of one frame and their offsets in bytes; it holds no bytes itself and is used together with
/// the frame's. A plain value that its owner reuses from frame to frame.
struct Dissection {
  static constexpr std::uint8_t none = 0xff;

  std::array<Layer, max_layers_of_exports> layers;  ///< valid up to layer_count, outermost first
  std::uint8_t layer_count = 0;

  Stop stop = Stop::complete;
  HeaderId stopped_at = HeaderId::count_;  ///< for cut_by_capture and contradicts_itself
  Transport transport = Transport::none;
  std::uint8_t tunnels = 0;  ///< bits of Tunnel
  std::uint16_t notes = 0;   ///< bits of Note

  // Indices into layers of the innermost header of its kind, or none.
  std::uint8_t ethernet = none;
  std::uint8_t vlan = none;     ///< innermost tag after the innermost Ethernet header
  std::uint8_t network = none;  ///< IPv4, IPv6, GRH, or LRH without GRH
  std::uint8_t udp = none;
  std::uint8_t bth = none;
  std::uint8_t mad = none;
  std::uint8_t icrc = none;  ///< only if captured completely

  std::uint32_t captured_end = 0;  ///< bytes of the frame that were captured
  std::uint32_t declared_end = 0;  ///< end of the packet by its innermost length field; the ICRC is before it
  std::uint32_t payload_offset = 0;  ///< transport payload (with BTH only)
  std::uint32_t payload_length = 0;  ///< declared, with pad bytes; first IP fragment: of the whole packet
  std::uint16_t unknown_type = 0;    ///< with unknown_protocol: the ethertype, IP protocol or UDP port

  [[nodiscard]] std::span<const Layer> all() const noexcept { return {layers.data(), layer_count}; }
  [[nodiscard]] bool has(Note note) const noexcept {
    return (notes >> static_cast<unsigned>(note) & 1U) != 0;
  }
  [[nodiscard]] bool in(Tunnel tunnel) const noexcept {
    return (tunnels >> static_cast<unsigned>(tunnel) & 1U) != 0;
  }
  [[nodiscard]] bool is_transport() const noexcept { return bth != none; }
  /// A datagram of sFlow; its bytes follow layers[udp].
  [[nodiscard]] bool is_sflow() const noexcept {
    if (udp == none || udp + 1 >= layer_count) return false;
    const HeaderId next = layers[udp + 1U].id;
    return next == HeaderId::sflow || next == HeaderId::sflow_ipv6;
  }
  /// A message of IPFIX or NetFlow version 9; its bytes follow layers[udp].
  [[nodiscard]] bool is_ipfix() const noexcept {
    if (udp == none || udp + 1 >= layer_count) return false;
    const HeaderId next = layers[udp + 1U].id;
    return next == HeaderId::ipfix_message || next == HeaderId::netflow9_message;
  }
  [[nodiscard]] bool is_export() const noexcept { return is_sflow() || is_ipfix(); }

  /// The innermost layer of that kind, or nullptr; not of a sampled frame.
  [[nodiscard]] const Layer* find(HeaderId id) const noexcept {
    for (std::size_t i = layer_count; i-- > 0;) {
      if (layers[i].id == id && !layers[i].sampled) return &layers[i];
    }
    return nullptr;
  }

  void reset() noexcept {
    layer_count = 0;
    stop = Stop::complete;
    stopped_at = HeaderId::count_;
    transport = Transport::none;
    tunnels = 0;
    notes = 0;
    ethernet = vlan = network = udp = bth = mad = icrc = none;
    captured_end = declared_end = payload_offset = payload_length = 0;
    unknown_type = 0;
  }
};

}  // namespace roce::dissect

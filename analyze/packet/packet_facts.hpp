// SPDX-License-Identifier: Apache-2.0
// Facts of a packet that fields, lines and trees all need.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyze/packet/packet_view.hpp"
#include "analyze/record/outer_marks.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {

/// The bytes of layer `index` of the packet (an index of Dissection, not none).
[[nodiscard]] inline const std::uint8_t* layer_bytes(const PacketView& packet, std::uint8_t index) noexcept {
  return packet.frame->data + packet.dissection->layers[index].offset;
}
/// The innermost header of that kind, or nullptr.
[[nodiscard]] const std::uint8_t* find_header(const PacketView& packet, dissect::HeaderId id) noexcept;

/// The BTH, or nullptr.
[[nodiscard]] inline const std::uint8_t* bth_of(const PacketView& packet) noexcept {
  const std::uint8_t bth = packet.dissection->bth;
  return bth == dissect::Dissection::none ? nullptr : layer_bytes(packet, bth);
}

/// DSCP and ECN in one byte, in the layout of the IPv4 TOS: of the innermost IPv4, IPv6 or GRH.
[[nodiscard]] std::optional<std::uint8_t> traffic_class(const PacketView& packet) noexcept;
/// PCP and VLAN of the innermost tag after the innermost Ethernet header.
[[nodiscard]] std::optional<std::uint8_t> priority_code_point(const PacketView& packet) noexcept;
[[nodiscard]] std::optional<std::uint16_t> vlan_id(const PacketView& packet) noexcept;

/// Innermost addresses: 4 or 16 bytes each, or empty (no network header, or only a LID).
struct Endpoints {
  dissect::Bytes source;
  dissect::Bytes destination;
};
[[nodiscard]] Endpoints endpoints(const PacketView& packet) noexcept;

/// The outer header of a packet in a tunnel, and its addresses; none and empty without a tunnel.
[[nodiscard]] inline std::optional<OuterMarks> outer_marks(const PacketView& packet) noexcept {
  return outer_marks(packet.frame->data, *packet.dissection);
}
[[nodiscard]] Endpoints outer_ends(const PacketView& packet) noexcept;

/// What Dissection::unknown_type is the number of, by the last header.
enum class UnknownNumber : std::uint8_t {
  ethertype,
  llc_length,  ///< IEEE 802.3: a length in place of an ethertype; IEEE 802.2 LLC follows
  ip_protocol,
  udp_port,
  other
};

/// What follows the last header and is not dissected. None if everything was.
struct Undissected {
  UnknownNumber kind = UnknownNumber::other;
  std::uint16_t number = 0;  ///< 0 for llc_length
  dissect::Bytes bytes;      ///< from there to the end of the packet, as far as captured
};
[[nodiscard]] std::optional<Undissected> undissected(const PacketView& packet) noexcept;

/// Message bytes of a transport packet, without pad bytes and without a CNP's reserved bytes.
[[nodiscard]] std::uint32_t message_bytes(const PacketView& packet) noexcept;

/// "v1", "v2_ipv4", "v2_ipv6", "native_ib"; empty for Transport::none.
[[nodiscard]] std::string_view version_name(dissect::Transport transport) noexcept;
/// "NVMe-oF", "iSER", "NFS/RDMA", "SMB Direct", "CM", "MAD"; empty for other headers.
[[nodiscard]] std::string_view upper_layer_name(dissect::HeaderId id) noexcept;
/// upper_layer_name() of the packet's innermost upper-layer header; empty if it has none.
[[nodiscard]] std::string_view upper_layer_of(const PacketView& packet) noexcept;

}  // namespace roce::analyze

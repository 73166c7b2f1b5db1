// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"
#include "dissect/icrc.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Key of a flow: one direction to one destination queue pair. VLAN and tunnel are not part of it: a flow
/// captured inside and outside of a tunnel is one flow.
struct FlowKey {
  dissect::IpAddress src;
  dissect::IpAddress dst;
  std::uint32_t dst_qp = 0;
  dissect::Transport transport = dissect::Transport::none;
  std::uint8_t padding[3] = {};  ///< always 0: the key is compared and hashed as bytes

  [[nodiscard]] bool operator==(const FlowKey& other) const noexcept {
    return std::memcmp(this, &other, sizeof *this) == 0;
  }
  /// The key's memory as numbers.
  using Words = std::array<std::uint64_t, 5>;
  [[nodiscard]] std::uint64_t hash() const noexcept {
    Words words;
    std::memcpy(words.data(), this, sizeof words);
    return hash_of(words);
  }
  /// Each word times its own constant, then mixed. Most words of an IPv4 key are constant, which the
  /// compiler uses when this is inlined.
  [[nodiscard, gnu::always_inline]] static std::uint64_t hash_of(const Words& words) noexcept {
    // An IPv4 address is in the high half, where a product would lose most of its bits.
    std::uint64_t h =
        std::rotl(words[0], 32) * 0x9e3779b97f4a7c15U + std::rotl(words[1], 32) * 0xff51afd7ed558ccdU;
    h += std::rotl(words[2], 32) * 0xc4ceb9fe1a85ec53U + std::rotl(words[3], 32) * 0xd6e8feb86659fd93U;
    h += words[4] * 0xa0761d6478bd642fU;
    h = (h ^ h >> 32U) * 0xe7037ed1a0b428dbU;
    return h ^ h >> 32U;
  }
};
static_assert(sizeof(FlowKey) == 40 && std::has_unique_object_representations_v<FlowKey>);

/// The facts of a packet that differ within a flow: plain values, copied out of the frame. One cache line,
/// because it is passed from one core to another.
struct alignas(64) PacketBrief {
  enum Flag : std::uint8_t {
    valid = 1,     ///< a transport packet; otherwise the rest is undefined
    tagged = 2,    ///< vlan_id and pcp are valid
    has_aeth = 4,  ///< aeth is valid (not truncated)
    ack_requested = 8,
    fecn = 16,
    becn = 32,
    selected = 128,  ///< counted: inside the time range and accepted by the filter, if any
    has_ports = 64,  ///< udp_source is valid
  };

  /// Bits of `more`.
  enum More : std::uint8_t {
    has_ip_id = 1,        ///< IPv4: ip_id is valid
    dont_fragment = 2,    ///< IPv4's DF
    fragmented = 4,       ///< the first fragment of a datagram
    has_reth = 8,         ///< virtual_address, r_key and dma_length are valid: a RETH or AtomicETH
    payload_whole = 16,   ///< `payload` is reliable: no length field is missing or contradicts another
    bad_header = 32,      ///< its IPv4 header checksum is wrong
    left_out = 64,        ///< rejected by the filter, though inside the time range
    other_version = 128,  ///< over UDP, and TVer is not 0: receivers of RoCE discard it
  };
  /// Further values of `icrc`: the packet was cut on its way, and its ICRC with the rest.
  enum Missing : std::uint8_t {
    trimmed_away = 3,  ///< by a switch, instead of dropping the packet
    cut_away = 4,      ///< by whoever shows it, or by a switch that trims: how others look tells
  };
  static constexpr std::uint32_t atomic_bytes = 8;  ///< size of an atomic operation: its dma_length

  /// In the year 2116: no sum or difference of times up to here overflows. Later timestamps of a file are
  /// not valid times of packets.
  static constexpr std::int64_t latest_ns = (std::int64_t{1} << 62U) - 1;

  std::int64_t time_ns = 0;
  std::uint64_t virtual_address = 0;  ///< of RETH or AtomicETH
  std::uint32_t r_key = 0;
  std::uint32_t dma_length = 0;
  std::uint32_t psn = 0;      ///< 24 bits
  std::uint32_t wire = 0;     ///< bytes on the wire
  std::uint32_t payload = 0;  ///< message bytes by the length fields, without pad
  std::uint32_t aeth = 0;     ///< syndrome in the high byte, MSN below
  /// Identifies the place where the transmission was captured: a hash of the capture point, the cooked
  /// header's interface, MAC addresses, VLAN, tunnels and hop limit.
  std::uint32_t path = 0;
  std::uint32_t point = 0;  ///< capture::Frame::point
  /// Number of the packet's HeaderCache entry; then there is no PacketRecord of it. 0: part of a record.
  std::uint32_t image = 0;
  std::uint32_t place = 0;  ///< in the flow table, by that entry; of a record the IPv6 flow label
  std::uint16_t ip_id = 0;
  std::uint8_t opcode = 0;
  std::uint8_t flags = 0;
  std::uint8_t more = 0;
  std::uint8_t icrc = 0;    ///< dissect::CrcStatus, or why there is none: one of Missing
  std::uint8_t upper = 0;   ///< dissect::Ulp by the payload's own header
  std::uint8_t common = 0;  ///< Common, if it was determined

  [[nodiscard]] bool has(Flag flag) const noexcept { return (flags & flag) != 0; }
  [[nodiscard]] bool has(More fact) const noexcept { return (more & fact) != 0; }
  [[nodiscard]] bool icrc_wrong() const noexcept {
    return icrc == static_cast<std::uint8_t>(dissect::CrcStatus::mismatch);
  }
  /// A switch trimmed it: what is left was never received as it was sent.
  [[nodiscard]] bool trimmed() const noexcept { return icrc == trimmed_away; }
  /// Its receiver discards it, because its ICRC or its IPv4 header checksum is wrong.
  [[nodiscard]] bool damaged() const noexcept { return icrc_wrong() || has(bad_header); }
};
static_assert(sizeof(PacketBrief) == 64 && std::is_trivially_copyable_v<PacketBrief>);

/// All that the trackers need of one transport packet; valid while its batch is processed. The second cache
/// line holds what nearly all packets of a flow have in common.
struct PacketRecord : PacketBrief {
  FlowKey key;
  std::uint64_t key_hash = 0;
  std::uint64_t source_mac : 48 = 0;  ///< 0 = none
  /// Reserved bits of the BTH: those of its byte 4 from bit 8 on, those of byte 8 from bit 0 on.
  std::uint64_t reserved : 16 = 0;
  std::uint16_t udp_source = 0;
  std::uint16_t tag = 0;           ///< priority and VLAN of the innermost 802.1Q tag; without DEI
  std::uint8_t traffic_class = 0;  ///< DSCP and ECN
  std::uint8_t ttl = 0;            ///< or the hop limit; 0 for native InfiniBand without GRH
  std::uint16_t p_key = 0;         ///< with the membership bit

  [[nodiscard]] std::uint32_t flow_label() const noexcept { return place; }
  [[nodiscard]] std::uint16_t vlan_id() const noexcept { return tag & 0xfffU; }
  [[nodiscard]] std::uint8_t pcp() const noexcept { return static_cast<std::uint8_t>(tag >> 13U); }

  /// All fields that are counted by value: port, tag, traffic class, TTL and P_Key, and which of them are
  /// valid. Equal looks mean equal markings.
  struct Look {
    std::uint64_t word = 0;
    std::uint8_t flags = 0;
    [[nodiscard]] bool operator==(const Look&) const noexcept = default;
  };
  [[nodiscard]] Look look() const noexcept {
    return {udp_source | std::uint64_t{tag} << 16U | std::uint64_t{traffic_class} << 32U |
                std::uint64_t{ttl} << 40U | std::uint64_t{p_key} << 48U,
            static_cast<std::uint8_t>((flags & look_flags) | (more & look_more) << look_more_shift)};
  }
  /// A record with these markings and nothing else.
  [[nodiscard]] static PacketRecord of_look(const Look& look) noexcept {
    PacketRecord record;
    record.udp_source = static_cast<std::uint16_t>(look.word);
    record.tag = static_cast<std::uint16_t>(look.word >> 16U);
    record.traffic_class = static_cast<std::uint8_t>(look.word >> 32U);
    record.ttl = static_cast<std::uint8_t>(look.word >> 40U);
    record.p_key = static_cast<std::uint16_t>(look.word >> 48U);
    record.flags = static_cast<std::uint8_t>(look.flags & look_flags);
    record.more = static_cast<std::uint8_t>(look.flags >> look_more_shift & look_more);
    return record;
  }

 private:
  static constexpr unsigned look_flags = tagged | has_ports;
  static constexpr unsigned look_more = has_ip_id | dont_fragment;
  static constexpr unsigned look_more_shift = 2;  // to where look_flags has no bits
  static_assert((look_flags & look_more << look_more_shift) == 0);
};
static_assert(sizeof(PacketRecord) == 128 && std::is_trivially_copyable_v<PacketRecord>);

/// The flow key of a dissected transport packet: its addresses, destination queue pair and transport.
[[nodiscard]] FlowKey ends_of(const std::uint8_t* frame, const dissect::Dissection& dissection) noexcept;

/// DSCP and ECN of a dissected transport packet, in the layout of the IPv4 TOS: of IPv4, IPv6 or the GRH;
/// 0 for native InfiniBand without GRH.
[[nodiscard]] std::uint8_t traffic_class_of(const std::uint8_t* frame,
                                            const dissect::Dissection& dissection) noexcept;

/// Fills `record` from a dissected frame; Flag::valid is not set if the frame holds no transport packet.
void make_record(const capture::Frame& frame, const dissect::Dissection& dissection,
                 PacketRecord& record) noexcept;

}  // namespace roce::analyze

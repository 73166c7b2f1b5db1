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

/// One direction to one destination queue pair. VLAN and tunnel are not part of it: one flow
/// captured inside and outside of a tunnel is still one flow.
struct FlowKey {
  dissect::IpAddress src;
  dissect::IpAddress dst;
  std::uint32_t dst_qp = 0;
  dissect::Transport transport = dissect::Transport::none;
  std::uint8_t padding[3] = {};  ///< always 0: the key is compared and hashed as bytes

  [[nodiscard]] bool operator==(const FlowKey& other) const noexcept {
    return std::memcmp(this, &other, sizeof *this) == 0;
  }
  /// The key as numbers, as they lie in memory.
  using Words = std::array<std::uint64_t, 5>;
  [[nodiscard]] std::uint64_t hash() const noexcept {
    Words words;
    std::memcpy(words.data(), this, sizeof words);
    return hash_of(words);
  }
  /// Each word times a constant of its own, then mixed. Most words of an IPv4 key are constant, which a
  /// compiler sees where this is inlined.
  [[nodiscard, gnu::always_inline]] static std::uint64_t hash_of(const Words& words) noexcept {
    // An IPv4 address stands in the high half, where a product would lose most of its bits.
    std::uint64_t h =
        std::rotl(words[0], 32) * 0x9e3779b97f4a7c15U + std::rotl(words[1], 32) * 0xff51afd7ed558ccdU;
    h += std::rotl(words[2], 32) * 0xc4ceb9fe1a85ec53U + std::rotl(words[3], 32) * 0xd6e8feb86659fd93U;
    h += words[4] * 0xa0761d6478bd642fU;
    h = (h ^ h >> 32U) * 0xe7037ed1a0b428dbU;
    return h ^ h >> 32U;
  }
};
static_assert(sizeof(FlowKey) == 40 && std::has_unique_object_representations_v<FlowKey>);

/// What differs from packet to packet of a flow: plain values, copied out of the frame. A cache line, for it
/// goes from one core to another.
struct alignas(64) PacketBrief {
  enum Flag : std::uint8_t {
    valid = 1,     ///< a transport packet; else the rest means nothing
    tagged = 2,    ///< vlan_id and pcp are there
    has_aeth = 4,  ///< aeth is there (not cut)
    ack_requested = 8,
    fecn = 16,
    becn = 32,
    selected = 128,  ///< counts: inside the time range and the filter, where there are any
    has_ports = 64,  ///< udp_source is there
  };

  /// Bits of `more`.
  enum More : std::uint8_t {
    has_ip_id = 1,       ///< IPv4: ip_id is there
    dont_fragment = 2,   ///< IPv4's DF
    fragmented = 4,      ///< the first fragment of a datagram
    has_reth = 8,        ///< virtual_address, r_key and dma_length are there: a RETH or AtomicETH
    payload_whole = 16,  ///< `payload` is what the sender sent: no length is missing or contradicts another
    bad_header = 32,     ///< its IPv4 header checksum is wrong
    left_out = 64,       ///< by the filter, though inside the time range
  };
  static constexpr std::uint32_t atomic_bytes = 8;  ///< what an atomic operation touches: its dma_length

  /// In the year 2116: no sum or difference of times up to here overflows. What a file says beyond that is
  /// no time of a packet.
  static constexpr std::int64_t latest_ns = (std::int64_t{1} << 62U) - 1;

  std::int64_t time_ns = 0;
  std::uint64_t virtual_address = 0;  ///< of RETH or AtomicETH
  std::uint32_t r_key = 0;
  std::uint32_t dma_length = 0;
  std::uint32_t psn = 0;      ///< 24 bits
  std::uint32_t wire = 0;     ///< bytes on the wire
  std::uint32_t payload = 0;  ///< message bytes as declared, without pad
  std::uint32_t aeth = 0;     ///< syndrome in the high byte, MSN below
  /// Differs where the same transmission is seen at another place: a hash of the capture point,
  /// the cooked header's interface, MAC addresses, VLAN, tunnels and hop limit.
  std::uint32_t path = 0;
  std::uint32_t point = 0;  ///< capture::Frame::point
  /// What FlowImages::find() said of it: then it is all there is of the packet. 0: it is part of a record.
  std::uint32_t image = 0;
  std::uint32_t place = 0;  ///< in the flow table, by that image
  std::uint16_t ip_id = 0;
  std::uint8_t opcode = 0;
  std::uint8_t flags = 0;
  std::uint8_t more = 0;
  std::uint8_t icrc = 0;    ///< dissect::CrcStatus
  std::uint8_t upper = 0;   ///< dissect::Ulp that the payload's own header shows
  std::uint8_t common = 0;  ///< Common, where it was looked for

  [[nodiscard]] bool has(Flag flag) const noexcept { return (flags & flag) != 0; }
  [[nodiscard]] bool has(More fact) const noexcept { return (more & fact) != 0; }
  [[nodiscard]] bool icrc_wrong() const noexcept {
    return icrc == static_cast<std::uint8_t>(dissect::CrcStatus::mismatch);
  }
  /// Its receiver throws it away, for its ICRC or its IPv4 header checksum is wrong.
  [[nodiscard]] bool damaged() const noexcept { return icrc_wrong() || has(bad_header); }
};
static_assert(sizeof(PacketBrief) == 64 && std::is_trivially_copyable_v<PacketBrief>);

/// All that the trackers need of one transport packet; lives for an epoch. The second cache line is what
/// nearly all packets of a flow have alike.
struct PacketRecord : PacketBrief {
  FlowKey key;
  std::uint64_t key_hash = 0;
  std::uint64_t source_mac = 0;  ///< in the low 48 bits; 0 = none
  std::uint16_t udp_source = 0;
  std::uint16_t tag = 0;           ///< priority and VLAN of the innermost 802.1Q tag; without DEI
  std::uint8_t traffic_class = 0;  ///< DSCP and ECN
  std::uint8_t ttl = 0;            ///< or the hop limit; 0 for native InfiniBand without GRH
  std::uint16_t p_key = 0;         ///< with the membership bit

  [[nodiscard]] std::uint16_t vlan_id() const noexcept { return tag & 0xfffU; }
  [[nodiscard]] std::uint8_t pcp() const noexcept { return static_cast<std::uint8_t>(tag >> 13U); }

  /// Everything that is counted by value: port, tag, traffic class, TTL and P_Key, and which of them are
  /// there. Equal looks mean equal marks.
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
  /// A record with these marks and nothing else.
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

/// The flow of a dissected transport packet: its addresses, destination queue pair and transport.
[[nodiscard]] FlowKey ends_of(const std::uint8_t* frame, const dissect::Dissection& dissection) noexcept;

/// DSCP and ECN of a dissected transport packet, as IPv4's TOS has them: of IPv4, IPv6 or the GRH;
/// 0 for native InfiniBand without GRH.
[[nodiscard]] std::uint8_t traffic_class_of(const std::uint8_t* frame,
                                            const dissect::Dissection& dissection) noexcept;

/// Fills `record` from a dissected frame; without Flag::valid if it holds no transport packet.
void make_record(const capture::Frame& frame, const dissect::Dissection& dissection,
                 PacketRecord& record) noexcept;

}  // namespace roce::analyze

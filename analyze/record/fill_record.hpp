// SPDX-License-Identifier: Apache-2.0
// Fills a PacketRecord from the positions of a packet's headers. Those come from a Dissection in the general
// path (packet_record.cpp) and from fixed offsets in the fast path for the common frame (fast_record.cpp).
// Internal to this folder.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "analyze/record/packet_record.hpp"
#include "dissect/bytes.hpp"
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/opcode.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {

/// A 32-bit hash of what differs between places of capture; see PacketBrief::path.
class PathHash {
 public:
  explicit PathHash(std::uint32_t point) noexcept : state_(0x9e3779b97f4a7c15U ^ point) {}
  [[gnu::always_inline]] void add(std::uint64_t word) noexcept {
    state_ = (state_ ^ word) * 0xff51afd7ed558ccdU;
    state_ ^= state_ >> 32U;
  }
  void add(const std::uint8_t* bytes, std::size_t size) noexcept {
    for (std::size_t i = 0; i < size; i += 8)
      add(dissect::load_be(bytes + i, std::min<std::size_t>(8, size - i)));
  }
  [[gnu::always_inline]] void add_macs(const std::uint8_t* ethernet) noexcept {
    static_assert(dissect::Ethernet::dst.bit == 0 && dissect::Ethernet::src.end_byte() == 12);
    std::uint64_t first = 0;
    std::uint32_t rest = 0;
    std::memcpy(&first, ethernet, sizeof first);
    std::memcpy(&rest, ethernet + sizeof first, sizeof rest);
    add(first + rest * 0xc4ceb9fe1a85ec53U);
  }
  /// Priority, DEI and VLAN; service tags have them in the same places.
  void add_tag(const std::uint8_t* vlan) noexcept { add(dissect::load_be16(vlan)); }
  [[nodiscard]] std::uint32_t value() const noexcept { return static_cast<std::uint32_t>(state_); }

 private:
  std::uint64_t state_;
};

/// The headers of a transport packet; nullptr for those that are absent or truncated.
struct RecordParts {
  dissect::HeaderId network_id = dissect::HeaderId::ipv4;
  dissect::Transport transport = dissect::Transport::none;
  const std::uint8_t* network = nullptr;
  const std::uint8_t* udp = nullptr;
  const std::uint8_t* vlan = nullptr;  ///< the innermost tag
  const std::uint8_t* bth = nullptr;
  const std::uint8_t* remote = nullptr;  ///< RETH or AtomicETH, which begin with the same two fields
  const std::uint8_t* aeth = nullptr;
  const std::uint8_t* payload = nullptr;
  std::uint32_t payload_there = 0;   ///< captured bytes at `payload`, pad bytes included
  std::uint32_t payload_length = 0;  ///< as declared, pad bytes included
  std::uint64_t source_mac = 0;
  std::uint32_t path = 0;
  bool fragmented = false;
  bool lengths_agree = true;  ///< no length field is missing or contradicts another
};

/// The words of an address. A key assembled from numbers stays in registers until it is stored and hashed;
/// assembled from bytes it would be read back while its stores are still pending.
struct AddressWords {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  [[nodiscard, gnu::always_inline]] static AddressWords v6(const std::uint8_t* p) noexcept {
    AddressWords words;
    std::memcpy(&words, p, sizeof words);
    return words;
  }
  /// ::ffff:a.b.c.d
  [[nodiscard, gnu::always_inline]] static AddressWords v4(const std::uint8_t* p) noexcept {
    return last_half(0x0000'ffffU, dissect::load_be32(p));
  }
  /// A LID in place of an address, for native frames without GRH.
  [[nodiscard, gnu::always_inline]] static AddressWords lid(std::uint16_t lid) noexcept {
    return last_half(0, lid);
  }

 private:
  [[nodiscard, gnu::always_inline]] static AddressWords last_half(std::uint32_t high,
                                                                  std::uint32_t low) noexcept {
    const std::uint64_t word = std::uint64_t{high} << 32U | low;
    return {0, std::endian::native == std::endian::big ? word : __builtin_bswap64(word)};
  }
};

[[nodiscard, gnu::always_inline]] inline FlowKey::Words key_words(dissect::HeaderId network_id,
                                                                  const std::uint8_t* network,
                                                                  const std::uint8_t* bth,
                                                                  dissect::Transport transport) noexcept {
  using namespace dissect;
  AddressWords src, dst;
  switch (network_id) {
    case HeaderId::ipv4:
      src = AddressWords::v4(network + Ipv4::src.first_byte());
      dst = AddressWords::v4(network + Ipv4::dst.first_byte());
      break;
    case HeaderId::ipv6:
    case HeaderId::grh:  // the GRH has the layout of IPv6
      src = AddressWords::v6(network + Ipv6::src.first_byte());
      dst = AddressWords::v6(network + Ipv6::dst.first_byte());
      break;
    default:
      src = AddressWords::lid(read<Lrh::slid>(network));
      dst = AddressWords::lid(read<Lrh::dlid>(network));
      break;
  }
  // The queue pair's four bytes, the transport's one, and padding.
  static_assert(offsetof(FlowKey, dst_qp) == 32 && offsetof(FlowKey, transport) == 36);
  const std::uint64_t qp = read<Bth::destqp>(bth);
  const auto kind = static_cast<std::uint64_t>(transport);
  const std::uint64_t last =
      std::endian::native == std::endian::big ? qp << 32U | kind << 24U : kind << 32U | qp;
  return {src.first, src.second, dst.first, dst.second, last};
}

/// DSCP and ECN, as IPv4's TOS has them; 0 for native InfiniBand without GRH.
[[nodiscard, gnu::always_inline]] inline std::uint8_t traffic_class_at(dissect::HeaderId network_id,
                                                                       const std::uint8_t* network) noexcept {
  using namespace dissect;
  if (network_id == HeaderId::ipv4) return read<Ipv4::dsfield>(network);
  return network_id == HeaderId::lrh ? std::uint8_t{0} : read<Ipv6::tclass>(network);
}

/// IPv4's TTL or the hop limit; 0 for native InfiniBand without GRH.
[[nodiscard, gnu::always_inline]] inline std::uint8_t ttl_at(dissect::HeaderId network_id,
                                                             const std::uint8_t* network) noexcept {
  using namespace dissect;
  if (network_id == HeaderId::ipv4) return read<Ipv4::ttl>(network);
  return network_id == HeaderId::lrh ? std::uint8_t{0} : read<Ipv6::hlim>(network);
}

/// The flow label of IPv6 or the GRH.
[[nodiscard, gnu::always_inline]] inline std::uint32_t flow_label_at(dissect::HeaderId network_id,
                                                                     const std::uint8_t* network) noexcept {
  using namespace dissect;
  const bool has_label = network_id == HeaderId::ipv6 || network_id == HeaderId::grh;
  return has_label ? read<Ipv6::flow>(network) : 0;
}

/// PacketRecord::reserved.
[[nodiscard, gnu::always_inline]] inline std::uint16_t reserved_at(const std::uint8_t* bth) noexcept {
  using namespace dissect;
  constexpr unsigned rtx_and_ts = 0x30;  // of MRC
  const unsigned byte_8 = read<Bth::reserved7>(bth) & (Bth::is_mrc(bth) ? ~rtx_and_ts : ~0U);
  return static_cast<std::uint16_t>(read<Bth::reserved6>(bth) << 8U | byte_8);
}

/// Whether the payload may begin with an upper-layer header: a reliable SEND that begins a message.
[[nodiscard]] inline bool may_show_upper(const dissect::OpcodeInfo& info) noexcept {
  return info.operation == dissect::Operation::send && info.service == dissect::Service::rc &&
         info.starts_message();
}

/// dissect::Ulp of a payload of `payload` bytes at `p`, of which `there` bytes were captured.
[[nodiscard, gnu::always_inline]] inline std::uint8_t upper_of(const dissect::OpcodeInfo& info,
                                                               const std::uint8_t* p, std::uint32_t payload,
                                                               std::uint32_t there) noexcept {
  using namespace dissect;
  if (!may_show_upper(info)) return 0;
  const std::uint32_t size = std::min(payload, there);
  return size == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(recognise({p, size}));
}

/// Fills every field of `brief`, which is part of a record; the ICRC is set to not checkable. Inlined into
/// all callers, so that what a caller knows at compile time costs nothing.
[[gnu::always_inline]] inline void fill_brief(const capture::Frame& frame, const RecordParts& parts,
                                              PacketBrief& brief) noexcept {
  using namespace dissect;
  const std::uint8_t opcode = read<Bth::opcode>(parts.bth);
  const OpcodeInfo& info = opcode_info(opcode);
  unsigned flags = PacketBrief::valid;
  unsigned more = 0;

  brief.time_ns = frame.time_ns;
  brief.wire = frame.wire;
  brief.psn = read<Bth::psn>(parts.bth);
  brief.point = frame.point;
  brief.path = parts.path;
  brief.image = 0;
  brief.place = flow_label_at(parts.network_id, parts.network);
  brief.opcode = opcode;
  brief.icrc = static_cast<std::uint8_t>(CrcStatus::not_checkable);
  brief.common = 0;
  // Products instead of branches, which would often be mispredicted.
  flags |= unsigned{PacketBrief::ack_requested} * read<Bth::a>(parts.bth);
  flags |= unsigned{PacketBrief::fecn} * read<Bth::fecn>(parts.bth);
  flags |= unsigned{PacketBrief::becn} * read<Bth::becn>(parts.bth);

  const std::uint32_t pad = read<Bth::padcnt>(parts.bth);
  brief.payload = info.has_payload && parts.payload_length >= pad ? parts.payload_length - pad : 0;
  if (parts.lengths_agree && parts.payload_length >= pad) more |= PacketBrief::payload_whole;
  if (parts.fragmented) more |= PacketBrief::fragmented;
  brief.upper = upper_of(info, parts.payload, brief.payload, parts.payload_there);

  brief.aeth = 0;
  if (parts.aeth != nullptr) {
    brief.aeth = load_be32(parts.aeth);
    flags |= PacketBrief::has_aeth;
  }
  brief.virtual_address = 0;
  brief.r_key = 0;
  brief.dma_length = 0;
  if (parts.remote != nullptr) {
    static_assert(Reth::va.bit == AtomicEth::va.bit && Reth::r_key.bit == AtomicEth::r_key.bit);
    brief.virtual_address = read<Reth::va>(parts.remote);
    brief.r_key = read<Reth::r_key>(parts.remote);
    brief.dma_length = info.atomic ? PacketBrief::atomic_bytes : read<Reth::dmalen>(parts.remote);
    more |= PacketBrief::has_reth;
  }
  brief.ip_id = 0;
  if (parts.network_id == HeaderId::ipv4) {
    brief.ip_id = read<Ipv4::ident>(parts.network);
    more |= PacketBrief::has_ip_id;
    more |= unsigned{PacketBrief::dont_fragment} * read<Ipv4::df>(parts.network);
  }
  if (parts.udp != nullptr) flags |= PacketBrief::has_ports;
  if (parts.vlan != nullptr) flags |= PacketBrief::tagged;
  brief.flags = static_cast<std::uint8_t>(flags);
  brief.more = static_cast<std::uint8_t>(more);
}

/// Fills every field of `record`, likewise inlined.
[[gnu::always_inline]] inline void fill_record(const capture::Frame& frame, const RecordParts& parts,
                                               PacketRecord& record) noexcept {
  using namespace dissect;
  fill_brief(frame, parts, record);
  const FlowKey::Words key = key_words(parts.network_id, parts.network, parts.bth, parts.transport);
  // Word by word and without a loop: as a whole it would be assembled in memory and read back while the
  // stores of its parts are still pending.
  auto* const key_bytes = reinterpret_cast<std::uint8_t*>(&record.key);
  std::memcpy(key_bytes, &key[0], 8);
  std::memcpy(key_bytes + 8, &key[1], 8);
  std::memcpy(key_bytes + 16, &key[2], 8);
  std::memcpy(key_bytes + 24, &key[3], 8);
  std::memcpy(key_bytes + 32, &key[4], 8);
  record.key_hash = FlowKey::hash_of(key);
  constexpr std::uint64_t mac_bits = (std::uint64_t{1} << 48U) - 1;
  record.source_mac = parts.source_mac & mac_bits;
  record.reserved = reserved_at(parts.bth);
  record.traffic_class = traffic_class_at(parts.network_id, parts.network);
  record.udp_source = parts.udp != nullptr ? read<Udp::srcport>(parts.udp) : std::uint16_t{0};
  // Customer and service tags share their layout.
  constexpr unsigned all_but_dei = 0xefff;
  static_assert(Vlan::priority.bit == 0 && Vlan::dei.bit == 3 && Vlan::vid.bit == 4);
  record.tag = parts.vlan != nullptr ? static_cast<std::uint16_t>(load_be16(parts.vlan) & all_but_dei)
                                     : std::uint16_t{0};
  record.ttl = ttl_at(parts.network_id, parts.network);
  record.p_key = read<Bth::p_key>(parts.bth);
}

}  // namespace roce::analyze

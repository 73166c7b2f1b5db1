// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dissect/dissection.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Classes of packets that a fabric may mark differently, by opcode and destination queue pair.
enum class TrafficClass : std::uint8_t {
  data,      ///< requests: SEND, WRITE, READ request, FLUSH, RESYNC, of every service
  ack,       ///< ACK and NAK
  response,  ///< READ responses, which carry data. If a policy does not have them, its `data` applies
  atomic,    ///< ATOMIC requests, ATOMIC WRITE and ATOMIC Acknowledge
  cm,        ///< everything to queue pair 1 (GSI): the CM and other management datagrams
  cnp,       ///< congestion notification packets (IBTA A17.9.3)
  other,     ///< reserved, unknown and manufacturers' opcodes
  count_
};
inline constexpr std::size_t traffic_class_count = static_cast<std::size_t>(TrafficClass::count_);

/// "data", "ack", "response", "atomic", "cm", "cnp", "other".
[[nodiscard]] std::string_view traffic_class_name(TrafficClass traffic_class) noexcept;
/// `dst_qp`: the BTH's destination queue pair, 24 bits.
[[nodiscard]] TrafficClass traffic_class(std::uint8_t opcode, std::uint32_t dst_qp) noexcept;

/// Markings of one packet.
struct Marks {
  std::uint8_t dscp = 0;              ///< 0-63; of IPv4, IPv6 or the GRH
  std::uint8_t ecn = 0;               ///< dissect::Ecn
  std::optional<std::uint8_t> pcp;    ///< 0-7, of the innermost 802.1Q tag; absent: untagged
  std::optional<std::uint16_t> vlan;  ///< 0-4095, of the same tag; 0 is a priority tag
  std::uint8_t ttl = 0;               ///< IPv4 TTL or hop limit; 0: native InfiniBand without GRH

  [[nodiscard]] bool operator==(const Marks&) const noexcept = default;
};

/// What a policy is applied to: a packet's class, addresses and markings.
struct MarkingSubject {
  TrafficClass traffic_class = TrafficClass::other;
  dissect::IpAddress src;
  dissect::IpAddress dst;
  std::uint32_t dst_qp = 0;
  std::uint16_t p_key = 0;  ///< as in the BTH, with the membership bit
  dissect::Transport transport = dissect::Transport::none;
  Marks marks;
};

/// Packets of one flow with the same class and markings.
struct MarkRow {
  TrafficClass traffic_class = TrafficClass::other;
  Marks marks;
  std::uint16_t p_key = 0;
  std::uint64_t packets = 0;
  std::uint64_t first_packet = 0;  ///< frame number of the first one
  std::int64_t first_time_ns = 0;  ///< its time; capture::no_time if it has none
};

/// "not_ect", "ect1", "ect0", "ce": as in JSON.
[[nodiscard]] std::string_view ecn_key(std::uint8_t ecn) noexcept;
/// "Not-ECT", "ECT(1)", "ECT(0)", "CE".
[[nodiscard]] std::string_view ecn_text(std::uint8_t ecn) noexcept;

}  // namespace roce::analyze

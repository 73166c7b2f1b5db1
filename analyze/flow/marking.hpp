// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dissect/dissection.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// What a fabric gives marks of its own: what a packet is for, by its opcode and destination queue pair.
enum class TrafficClass : std::uint8_t {
  data,      ///< requests: SEND, WRITE, READ request, FLUSH, RESYNC, of every service
  ack,       ///< ACK and NAK
  response,  ///< READ responses, which carry data. A policy that does not name them means `data`
  atomic,    ///< ATOMIC requests, ATOMIC WRITE and ATOMIC Acknowledge
  cm,        ///< all to queue pair 1 (GSI): the connection manager and other management datagrams
  cnp,       ///< congestion notification packets (IBTA A17.9.3)
  other,     ///< reserved, unknown and manufacturers' opcodes
  count_
};
inline constexpr std::size_t traffic_class_count = static_cast<std::size_t>(TrafficClass::count_);

/// "data", "ack", "response", "atomic", "cm", "cnp", "other".
[[nodiscard]] std::string_view traffic_class_name(TrafficClass traffic_class) noexcept;
/// `dst_qp`: the BTH's destination queue pair, 24 bits.
[[nodiscard]] TrafficClass traffic_class(std::uint8_t opcode, std::uint32_t dst_qp) noexcept;

/// How one packet is marked.
struct Marks {
  std::uint8_t dscp = 0;              ///< 0-63; of IPv4, IPv6 or the GRH
  std::uint8_t ecn = 0;               ///< dissect::Ecn
  std::optional<std::uint8_t> pcp;    ///< 0-7, of the innermost 802.1Q tag; absent: untagged
  std::optional<std::uint16_t> vlan;  ///< 0-4095, of the same tag; 0 is a priority tag
  std::uint8_t ttl = 0;               ///< IPv4's TTL or the hop limit; 0: the link header is all there is

  [[nodiscard]] bool operator==(const Marks&) const noexcept = default;
};

/// What a policy judges.
struct MarkingSubject {
  TrafficClass traffic_class = TrafficClass::other;
  dissect::IpAddress src;
  dissect::IpAddress dst;
  std::uint32_t dst_qp = 0;
  std::uint16_t p_key = 0;  ///< as in the BTH, with the membership bit
  dissect::Transport transport = dissect::Transport::none;
  Marks marks;
};

/// Packets of one flow that belong to one class and are marked alike.
struct MarkRow {
  TrafficClass traffic_class = TrafficClass::other;
  Marks marks;
  std::uint16_t p_key = 0;
  std::uint64_t packets = 0;
  std::uint64_t first_packet = 0;  ///< number of the first frame of them
  std::int64_t first_time_ns = 0;  ///< and its time; capture::no_time if it has none
};

/// "not_ect", "ect1", "ect0", "ce": as in JSON.
[[nodiscard]] std::string_view ecn_key(std::uint8_t ecn) noexcept;
/// "Not-ECT", "ECT(1)", "ECT(0)", "CE".
[[nodiscard]] std::string_view ecn_text(std::uint8_t ecn) noexcept;

}  // namespace roce::analyze

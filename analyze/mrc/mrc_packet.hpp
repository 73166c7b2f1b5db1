// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analyze/record/packet_record.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"

namespace roce::analyze {

inline constexpr std::uint32_t mrc_psn_mask = 0xff'ffff;

/// What the analysis of MRC needs of a packet: plain values, copied out of the frame.
struct MrcPacket {
  FlowKey key;
  std::int64_t time_ns = 0;
  std::uint64_t bitmap = 0;
  std::uint32_t index = 0;  ///< of the frame in its batch
  std::uint32_t wire = 0;
  std::uint32_t payload = 0;
  std::uint32_t psn = 0;
  std::uint32_t ev = 0;         ///< that a SACK or NACK reports of
  std::uint32_t cack = 0;       ///< all up to here received
  std::uint32_t ack_psn = 0;    ///< of the packet that caused the SACK; of a NACK: the refused one
  std::uint32_t first_bit = 0;  ///< PSN of bit 0 of the bitmap
  std::uint32_t aeth = 0;
  std::uint32_t place = 0;  ///< where it was captured, see PacketBrief::path
  std::uint16_t udp_source = 0;
  std::uint16_t flow_label = 0;
  std::uint16_t ip_id = 0;  ///< of IPv4; 0: it has none, or its sender sets none
  std::uint16_t probe_id = 0;
  std::uint16_t out_of_order = 0;
  std::uint8_t opcode = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t icrc = 0;  ///< see PacketBrief::icrc
  std::uint8_t reason = 0;
  std::uint8_t hint = 0;  ///< M of a SACK
  std::uint8_t mpr = 0;
  bool rtx = false;
  bool of_probe = false;  ///< a SACK that answers a probe
  bool whole = false;     ///< its extended headers were captured
};

/// False if it is no MRC. `record` is that of the same frame, with its ICRC checked.
[[nodiscard]] bool make_mrc_packet(const capture::Frame& frame, const dissect::Dissection& dissection,
                                   const PacketRecord& record, MrcPacket& packet) noexcept;

}  // namespace roce::analyze

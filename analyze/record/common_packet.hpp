// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "analyze/record/packet_record.hpp"
#include "capture/core/frame.hpp"
#include "dissect/opcode.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// The kinds of packets that nearly all packets are, for which the tracker has a fast path; value of
/// PacketRecord::common.
enum class CommonPacket : std::uint8_t {
  no,
  request,      ///< RC or XRC SEND or WRITE
  own_request,  ///< the same of a READ, or of an atomic: it has answers of its own
  ack,          ///< a positive acknowledgement without end-to-end credits
  own_answer,   ///< a READ response, or the answer to an atomic; neither with credits
};

/// Whether a packet of that kind is of the responder.
[[nodiscard]] constexpr bool of_responder(std::uint8_t common) noexcept {
  return common >= static_cast<std::uint8_t>(CommonPacket::ack);
}

/// The kind by the opcode alone; the packet's other fields may make it uncommon.
[[nodiscard]] inline CommonPacket common_by_opcode(std::uint8_t opcode) noexcept {
  static const std::array<CommonPacket, 256> table = [] {
    using dissect::Operation;
    std::array<CommonPacket, 256> kinds{};
    for (unsigned i = 0; i < kinds.size(); ++i) {
      const dissect::OpcodeInfo& info = dissect::opcode_info(static_cast<std::uint8_t>(i));
      if (!info.defined || (info.service != dissect::Service::rc && info.service != dissect::Service::xrc)) {
        continue;
      }
      switch (info.operation) {
        case Operation::send:
        case Operation::write:
          kinds[i] = CommonPacket::request;
          break;
        case Operation::read_request:
        case Operation::compare_swap:
        case Operation::fetch_add:
          kinds[i] = CommonPacket::own_request;
          break;
        case Operation::acknowledge:
          kinds[i] = CommonPacket::ack;
          break;
        case Operation::read_response:
        case Operation::atomic_acknowledge:
          kinds[i] = CommonPacket::own_answer;
          break;
        default:
          break;
      }
    }
    return kinds;
  }();
  return table[opcode];
}

/// The kind of a packet whose record is complete, i.e. its ICRC is checked and `selected` is set.
[[nodiscard]] inline CommonPacket common_of(const PacketBrief& r, std::uint8_t traffic_class) noexcept {
  constexpr unsigned ce = 3;
  constexpr std::uint32_t no_credits = 31;
  const CommonPacket kind = common_by_opcode(r.opcode);
  const bool nothing_special = r.has(PacketRecord::selected) && (traffic_class & 3U) != ce && !r.damaged() &&
                               r.icrc < PacketRecord::trimmed_away && r.time_ns >= 0 &&
                               r.time_ns <= PacketRecord::latest_ns;
  if (!nothing_special) return CommonPacket::no;
  const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
  const bool has_aeth = info.aeth_offset != dissect::OpcodeInfo::absent;
  if (has_aeth && (!r.has(PacketRecord::has_aeth) || (r.aeth >> 24U & 0x7fU) != no_credits))
    return CommonPacket::no;
  if (kind == CommonPacket::own_request && !r.has(PacketRecord::has_reth)) return CommonPacket::no;
  return kind;
}
[[nodiscard]] inline CommonPacket common_of(const PacketRecord& r) noexcept {
  return common_of(r, r.traffic_class);
}

}  // namespace roce::analyze

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
  request,  ///< RC or XRC SEND or WRITE
  ack,      ///< a positive acknowledgement without end-to-end credits
};

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
      const bool request = info.operation == Operation::send || info.operation == Operation::write;
      kinds[i] = request                                    ? CommonPacket::request
                 : info.operation == Operation::acknowledge ? CommonPacket::ack
                                                            : CommonPacket::no;
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
                               r.time_ns >= 0 && r.time_ns <= PacketRecord::latest_ns;
  if (!nothing_special) return CommonPacket::no;
  if (kind == CommonPacket::ack &&
      (!r.has(PacketRecord::has_aeth) || (r.aeth >> 24U & 0x7fU) != no_credits)) {
    return CommonPacket::no;
  }
  return kind;
}
[[nodiscard]] inline CommonPacket common_of(const PacketRecord& r) noexcept {
  return common_of(r, r.traffic_class);
}

}  // namespace roce::analyze

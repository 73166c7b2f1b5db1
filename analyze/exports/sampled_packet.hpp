// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/record/packet_record.hpp"
#include "dissect/sflow.hpp"
#include "dissect/types.hpp"

// Internal to this room.
namespace roce::analyze {

/// What is said of a packet that was sampled or dropped.
struct SampledPacket {
  bool header = false;       ///< its beginning is there, of which the rest of these is
  bool dissected = false;    ///< it begins with something that is known
  std::uint32_t length = 0;  ///< of the whole frame, as the switch counts it
  PacketRecord packet;       ///< valid for RoCE only
  std::optional<std::uint32_t> queue, depth, delay_ns;
};
/// By the records of a sample of sFlow.
[[nodiscard]] SampledPacket read_records(const dissect::sflow::Sample& sample);

/// Dissects the beginning of a packet that was `wire` bytes long; 0: as its IP length says. Sets `length`
/// only then.
void read_packet(dissect::Bytes bytes, std::uint32_t wire, std::uint16_t link_type, SampledPacket& out);

}  // namespace roce::analyze

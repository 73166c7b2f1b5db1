// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/record/packet_record.hpp"
#include "dissect/sflow.hpp"

// Internal to this room.
namespace roce::analyze {

/// What the records of a sample say of its packet.
struct RecordsOfSample {
  bool header = false;       ///< there is a sampled header, of which the rest of these is
  bool dissected = false;    ///< it begins with something that is known
  std::uint32_t length = 0;  ///< of the whole frame, as the switch counts it
  PacketRecord packet;       ///< valid for RoCE only
  std::optional<std::uint32_t> queue, depth, delay_ns;
};
[[nodiscard]] RecordsOfSample read_records(const dissect::sflow::Sample& sample);

}  // namespace roce::analyze

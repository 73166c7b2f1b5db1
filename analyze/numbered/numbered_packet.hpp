// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/numbered/numbered.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"

namespace roce::analyze {

/// What a packet of a shell or mirror says of itself.
struct NumberedPacket {
  NumberedKey key;
  std::uint32_t sequence = 0;
  std::uint8_t traffic_class = 0;  ///< of the outer header
  bool roce = false;               ///< a RoCE packet is inside
  std::uint32_t wire = 0;
  std::uint64_t number = 0;  ///< of the frame
  std::int64_t time_ns = capture::no_time;
};

/// Adds those of a frame: none, the mirror's, the shell's, or both.
void note_numbered(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& dissection,
                   std::vector<NumberedPacket>& out);

}  // namespace roce::analyze

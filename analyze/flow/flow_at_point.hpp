// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/flow/marking.hpp"

namespace roce::analyze {

/// A flow at one capture point, in captures of several points. A flow's own figures are those of the point
/// where it is followed; at other points its packets are copies, and may have been re-marked on the way.
struct FlowAtPoint {
  std::uint64_t flow = 0;          ///< id
  std::uint16_t point = 0;         ///< capture::Frame::point
  std::uint64_t packets = 0;       ///< copies included
  std::vector<MarkRow> otherwise;  ///< packets with markings that Flow::marks() does not have
};

}  // namespace roce::analyze

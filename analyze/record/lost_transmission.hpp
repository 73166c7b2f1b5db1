// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "analyze/record/packet_record.hpp"

namespace roce::analyze {

/// A transmission that the sequence of the captured packets says was lost, or asked for again so that it may
/// have been.
struct LostTransmission {
  static constexpr std::uint32_t no_connection = 0xffff'ffff;
  static constexpr std::size_t at_most = 128 * std::size_t{1024};  ///< remembered

  FlowKey key;
  std::uint32_t psn = 0;
  std::uint32_t connection = 0;  ///< its number while it was followed; of MRC: none
  std::uint64_t shown_by = 0;    ///< number of the packet that shows it
  std::int64_t time_ns = capture::no_time;
};

}  // namespace roce::analyze

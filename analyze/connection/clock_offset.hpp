// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace roce::analyze {

/// How far one capture point's clock is ahead of another's, said by packets that both have seen.
struct ClockOffset {
  std::uint16_t of = 0;  ///< points: capture::Frame::point
  std::uint16_t ahead = 0;
  std::int64_t offset_ns = 0;  ///< what `ahead` says minus what `of` says at the same time
  std::int64_t error_ns = 0;   ///< at most, either way
  std::uint64_t copies = 0;    ///< packets that say so
  /// Whether they must differ.
  [[nodiscard]] bool sure() const noexcept { return offset_ns > error_ns || -offset_ns > error_ns; }
};

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace roce::analyze {

/// Offset between the clocks of two capture points, from packets that both captured.
struct ClockOffset {
  std::uint16_t of = 0;  ///< points: capture::Frame::point
  std::uint16_t ahead = 0;
  std::int64_t offset_ns = 0;  ///< clock of `ahead` minus clock of `of`
  std::int64_t error_ns = 0;   ///< maximum error of offset_ns, in either direction
  std::uint64_t copies = 0;    ///< packets it was computed from
  /// Whether the clocks certainly differ.
  [[nodiscard]] bool sure() const noexcept { return offset_ns > error_ns || -offset_ns > error_ns; }
};

}  // namespace roce::analyze

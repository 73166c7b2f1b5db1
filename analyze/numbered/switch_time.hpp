// SPDX-License-Identifier: Apache-2.0
// Stamps that switches put into frames, in place of the times of the capture.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "capture/core/frame.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissection.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Reads the stamp of a frame, whatever kind it has: the header of Arista switches, ERSPAN III, or a trailer
/// of Metamako (MetaWatch) or Exablaze (Nexus 3550-F). A stamp that counts from no known time begins at the
/// time of the capture. Not thread-safe; in the order of the capture.
class SwitchClock {
 public:
  /// Nanoseconds since the epoch; none without a stamp.
  [[nodiscard]] std::optional<std::int64_t> read(const capture::Frame& frame, const dissect::Dissection& d);

 private:
  struct Anchor {
    std::int64_t time_ns = 0;
    std::uint64_t ticks = 0;
  };
  [[nodiscard]] std::optional<std::int64_t> read_erspan(const capture::Frame& frame,
                                                        const dissect::Dissection& d);

  std::map<std::pair<dissect::IpAddress, std::uint32_t>, Anchor> sessions_;  ///< by switch and session
};

/// The same frames with the stamps of switches as their times; those without a stamp have no time.
[[nodiscard]] std::unique_ptr<capture::CaptureSource> by_switch_time(
    std::unique_ptr<capture::CaptureSource> source);

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "capture/core/frame.hpp"

// Internal: detects files that hold the same packets, independent of their clocks.
namespace roce::capture {

/// How many frames at the beginning of a file are compared, and of how many files.
inline constexpr std::size_t same_traffic_frames = 256;
inline constexpr std::size_t same_traffic_files = 64;

/// Fingerprints of RoCE packets that are equal at every capture point: hashes of the frame's length and last
/// bytes, which include the ICRC.
struct Marks {
  std::vector<std::uint64_t> all;    ///< sorted, without duplicates; only of frames that may be RoCE
  std::vector<std::uint64_t> first;  ///< the first distinct ones of these, sorted
  std::int64_t first_time = 0;       ///< of the first frame
};
[[nodiscard]] Marks marks_of(const std::vector<Frame>& frames);

/// Which files share so many packets with another one that they captured the same traffic elsewhere. In that
/// case the one that is later by its clock has the shared packets from its beginning on. Where it begins with
/// other packets it continues the other file: the two are pieces of one capture that holds every packet
/// twice.
[[nodiscard]] std::vector<bool> show_the_same(const std::vector<Marks>& marks);

}  // namespace roce::capture

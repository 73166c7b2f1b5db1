// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "capture/core/frame.hpp"

// Internal: whether files hold the same packets, whatever their clocks say.
namespace roce::capture {

/// Frames of a file's beginning that are looked at, and files.
inline constexpr std::size_t same_traffic_frames = 256;
inline constexpr std::size_t same_traffic_files = 64;

/// What RoCE packets look like at every place on their way: of their last bytes, where the ICRC is, and their
/// length.
struct Marks {
  std::vector<std::uint64_t> all;    ///< sorted, each once; of frames that may be RoCE only
  std::vector<std::uint64_t> first;  ///< the first different ones of these, sorted too
  std::int64_t first_time = 0;       ///< of the first frame
};
[[nodiscard]] Marks marks_of(const std::vector<Frame>& frames);

/// Which files share so many packets with another one that they show the same traffic: by their marks. The
/// one that is later by its clock shows it from its beginning on; where it shows something else before, it
/// goes on with the other one, whose packets it shows again because the two are pieces of one capture that
/// has all of them twice.
[[nodiscard]] std::vector<bool> show_the_same(const std::vector<Marks>& marks);

}  // namespace roce::capture

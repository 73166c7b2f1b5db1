// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "capture/frame.hpp"

// Internal: whether files hold the same packets, whatever their clocks say.
namespace roce::capture {

/// Frames of a file's beginning that are looked at, and files.
inline constexpr std::size_t same_traffic_frames = 256;
inline constexpr std::size_t same_traffic_files = 64;

/// What a RoCE packet looks like at every place on its way: of its last bytes, where the ICRC is, and its
/// length. Sorted, each once; of frames that may be RoCE only.
[[nodiscard]] std::vector<std::uint64_t> marks_of(const std::vector<Frame>& frames);

/// Which files share so many packets with another one that they show the same traffic: by their marks.
[[nodiscard]] std::vector<bool> show_the_same(const std::vector<std::vector<std::uint64_t>>& marks);

}  // namespace roce::capture

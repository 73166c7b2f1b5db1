// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// Internal: names of the files of a ring, as dumpcap and tshark give them.
namespace roce::capture {

/// "dir/NAME_00001_20260714133501.pcapng.zst" for "dir/NAME.pcapng.zst": the number and the local time come
/// before the extensions. Numbers above 99999 take more digits.
[[nodiscard]] std::string ring_name(const std::string& path, std::uint64_t number,
                                    std::chrono::system_clock::time_point time);

struct RingFile {
  std::string path;
  std::uint64_t bytes = 0;
};
/// Files that captures before left under names that ring_name() makes of `path`, the one written last at the
/// end. Not what is no plain file, nor what another capture is writing.
[[nodiscard]] std::vector<RingFile> files_of_ring(const std::string& path);

}  // namespace roce::capture

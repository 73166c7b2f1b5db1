// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// Internal: names of the files of a ring, in the format of dumpcap and tshark.
namespace roce::capture {

/// "dir/NAME_00001_20260714133501.pcapng.zst" for "dir/NAME.pcapng.zst": number and local time are inserted
/// before the extensions. Numbers above 99999 have more digits.
[[nodiscard]] std::string ring_name(const std::string& path, std::uint64_t number,
                                    std::chrono::system_clock::time_point time);

struct RingFile {
  std::string path;
  std::uint64_t bytes = 0;
};
/// Regular files with names that ring_name() makes of `path`, left by earlier captures, the one written last
/// at the end. Without files that another capture is writing.
[[nodiscard]] std::vector<RingFile> files_of_ring(const std::string& path);

}  // namespace roce::capture

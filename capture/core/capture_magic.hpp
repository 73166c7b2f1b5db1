// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

// The first bytes of uncompressed captures of the formats that are read: for reading, and to recognise a
// capture before it would be overwritten.
namespace roce::capture {

inline constexpr std::array<std::string_view, 4> pcap_magics = {
    std::string_view("\xd4\xc3\xb2\xa1", 4),  // microseconds, little-endian
    std::string_view("\xa1\xb2\xc3\xd4", 4),
    std::string_view("\x4d\x3c\xb2\xa1", 4),  // nanoseconds, little-endian
    std::string_view("\xa1\xb2\x3c\x4d", 4),
};
inline constexpr std::string_view pcapng_magic("\x0a\x0d\x0d\x0a", 4);

}  // namespace roce::capture

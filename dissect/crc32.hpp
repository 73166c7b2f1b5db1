// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace roce::dissect {

/// CRC-32 of IEEE 802.3 (reflected 0x04C11DB7, initial and final complement). It can be computed in parts:
/// `before` is the result for the preceding bytes, 0 at the start.
[[nodiscard]] std::uint32_t crc32(std::uint32_t before, const std::uint8_t* data, std::size_t size) noexcept;

}  // namespace roce::dissect

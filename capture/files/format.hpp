// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "capture/core/error.hpp"
#include "capture/files/walker.hpp"

// Internal: what the first bytes say. File names are never asked.
namespace roce::capture {

/// Enough bytes to decide by (a short file may have fewer).
inline constexpr std::size_t detection_bytes = 64;

/// The walker for a capture that begins with these bytes, or why there is none
/// (not_a_capture, unsupported, cut_short; without path).
[[nodiscard]] Expected<std::unique_ptr<Walker>> make_walker(const std::uint8_t* data, std::size_t size,
                                                            const WalkContext& context);

}  // namespace roce::capture

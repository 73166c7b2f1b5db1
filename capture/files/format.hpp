// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "capture/core/error.hpp"
#include "capture/files/walker.hpp"

// Internal: detects the file format from the first bytes, never from the name.
namespace roce::capture {

/// So many bytes suffice for the detection (a short file may have fewer).
inline constexpr std::size_t detection_bytes = 64;

/// The walker for a capture that begins with these bytes. Errors: not_a_capture or unsupported, with the
/// reason and without path.
[[nodiscard]] Expected<std::unique_ptr<Walker>> make_walker(const std::uint8_t* data, std::size_t size,
                                                            const WalkContext& context);

}  // namespace roce::capture

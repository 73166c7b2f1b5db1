// SPDX-License-Identifier: Apache-2.0
// What reading captures twice needs: whether they can be, and as many frames as the first time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/core/source.hpp"

namespace roce::capture {

/// Whether all are files that can be read again, not pipes or standard input. What does not exist does
/// not count: opening it will tell.
[[nodiscard]] bool can_read_twice(const std::vector<std::string>& files);

/// `source` as if it ended after `frames` frames; 0 = no limit.
[[nodiscard]] std::unique_ptr<CaptureSource> limited(std::unique_ptr<CaptureSource> source,
                                                     std::uint64_t frames);

}  // namespace roce::capture

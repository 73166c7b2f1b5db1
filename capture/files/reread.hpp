// SPDX-License-Identifier: Apache-2.0
// For reading captures twice: whether that is possible, and a limit to the frames of the first reading.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/core/source.hpp"

namespace roce::capture {

/// Whether all are regular files, not pipes or standard input. Missing files are ignored: opening them fails
/// later.
[[nodiscard]] bool can_read_twice(const std::vector<std::string>& files);

/// `source`, ended after `frames` frames; 0 = no limit.
[[nodiscard]] std::unique_ptr<CaptureSource> limited(std::unique_ptr<CaptureSource> source,
                                                     std::uint64_t frames);

/// The second reading of `source`, of which the first one read `frames` frames: no more are returned, but
/// errors of the files behind them are.
[[nodiscard]] std::unique_ptr<CaptureSource> reread(std::unique_ptr<CaptureSource> source,
                                                    std::uint64_t frames);

}  // namespace roce::capture

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "capture/write/recording.hpp"

namespace roce::capture {

/// A recording that passes the frames of `main`, which decides how many belong to the capture, to `copy` too
/// and ends when either has ended. summary() is of `main`.
[[nodiscard]] std::unique_ptr<Recording> tee(std::unique_ptr<Recording> main,
                                             std::unique_ptr<Recording> copy);

}  // namespace roce::capture

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "capture/core/source.hpp"
#include "capture/write/recording.hpp"

namespace roce::capture {

/// A source that passes the frames of `source` to `recording` before it delivers them, and ends when the
/// recording has ended. Both must outlive the result.
[[nodiscard]] std::unique_ptr<CaptureSource> recorded(CaptureSource& source, Recording& recording);

}  // namespace roce::capture

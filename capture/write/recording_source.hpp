// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "capture/core/source.hpp"
#include "capture/write/recording.hpp"

namespace roce::capture {

/// Hands the frames of a source to a recording before anybody else sees them, and ends with it.
/// Both must outlive the result.
[[nodiscard]] std::unique_ptr<CaptureSource> recorded(CaptureSource& source, Recording& recording);

}  // namespace roce::capture

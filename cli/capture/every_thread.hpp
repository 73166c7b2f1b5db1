// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "capture/core/error.hpp"

namespace roce::cli {

/// Runs `work` in each thread of the process, one after the other: rights belong to threads in Linux, and
/// only some of libc's functions know that. `work` runs in a signal handler, so it may call async-signal-safe
/// functions only, and returns 0 or an errno. Threads that begin meanwhile are found too. An error names the
/// thread that failed, or that did not answer within
/// `patience` (it blocks all signals).
[[nodiscard]] capture::Expected<void> in_every_thread(
    int (*work)(), std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace roce::cli

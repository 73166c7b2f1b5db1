// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "capture/core/error.hpp"

namespace roce::capture {

/// Runs `work` in each thread of the process, one after the other: privileges in Linux belong to threads,
/// which only some functions of libc take into account. `work` runs in a signal handler, so it may only call
/// async-signal-safe functions; it returns 0 or an errno. Threads that are started in the meantime are
/// included. The error names the thread that failed or did not answer within `patience` (because it blocks
/// all signals).
[[nodiscard]] Expected<void> in_every_thread(int (*work)(),
                                             std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace roce::capture

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "capture/core/source.hpp"

namespace roce::cli {

/// timeout(1) and others send a signal to the process and to its group: signals within this time count as
/// one.
inline constexpr std::chrono::milliseconds sent_at_once{250};

/// During its lifetime SIGINT, SIGTERM and SIGHUP end the source, so that what was read is still reported. A
/// second signal kills the process as usual, unless it comes within sent_at_once; that also holds after this
/// object is destroyed. One at a time. CaptureSource::stopped() tells whether that left anything unread.
class Interruptible {
 public:
  explicit Interruptible(capture::CaptureSource& source);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};

/// After a first signal that was handled elsewhere: further ones within sent_at_once are ignored, later ones
/// kill as usual. Until the next Interruptible.
void expect_second_signals(std::chrono::steady_clock::time_point first);

}  // namespace roce::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "capture/core/source.hpp"

namespace roce::cli {

/// Who sends a signal to a process and to its group, as timeout(1) does, sends it twice at once and means
/// one.
inline constexpr std::chrono::milliseconds sent_at_once{250};

/// While it lives, SIGINT, SIGTERM and SIGHUP make the source end, so that what was read is still
/// reported; the next one kills as usual, unless it was sent_at_once, which holds for the report as well: the
/// source may end long before the time is over. One at a time.
class Interruptible {
 public:
  explicit Interruptible(capture::CaptureSource& source);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  [[nodiscard]] bool interrupted() const noexcept;
};

/// The same after a first signal that somebody else took: those that come sent_at_once with it mean nothing,
/// later ones kill as usual. Until the next Interruptible.
void expect_second_signals(std::chrono::steady_clock::time_point first);

}  // namespace roce::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/source.hpp"

namespace roce::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP make the source end, so that what was read is still
/// reported; the second one kills as usual. One at a time.
class Interruptible {
 public:
  explicit Interruptible(capture::CaptureSource& source);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  [[nodiscard]] bool interrupted() const noexcept;
};

}  // namespace roce::cli

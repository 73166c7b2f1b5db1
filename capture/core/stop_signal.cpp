// SPDX-License-Identifier: Apache-2.0
#include "capture/core/stop_signal.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace roce::capture {

StopSignal::StopSignal() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

StopSignal::~StopSignal() {
  if (descriptor_ >= 0) close(descriptor_);
}

void StopSignal::request() noexcept {
  requested_.store(true, std::memory_order_relaxed);
  if (descriptor_ < 0) return;
  const int kept_errno = errno;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(descriptor_, &one, sizeof one);
  errno = kept_errno;
}

}  // namespace roce::capture

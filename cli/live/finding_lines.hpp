// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cli/live/capture_observer.hpp"
#include "cli/live/live_clock.hpp"

namespace roce::cli {

/// Prints each finding as it appears, on one line of standard error.
class FindingLines : public CaptureObserver {
 public:
  explicit FindingLines(LiveClock clock = {}) : clock_(clock) {}

  [[nodiscard]] capture::Expected<void> on_start(const CaptureStart& start) override;
  void on_finding(const analyze::FindingNews& news, const analyze::Snapshot& snapshot) override;

 private:
  LiveClock clock_;
  std::int64_t begin_ns_ = 0;
};

}  // namespace roce::cli

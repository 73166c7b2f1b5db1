// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/live/capture_observer.hpp"
#include "cli/live/live_clock.hpp"
#include "cli/live/metrics_server.hpp"

namespace roce::cli {

/// Serves the metrics of a capture (--metrics) during its lifetime.
class MetricsObserver : public CaptureObserver {
 public:
  explicit MetricsObserver(MetricsAddress address, LiveClock clock = {});
  ~MetricsObserver() override;

  /// Starts listening and prints the URL to standard error.
  [[nodiscard]] capture::Expected<void> on_start(const CaptureStart& start) override;
  void on_snapshot(const std::shared_ptr<const analyze::Snapshot>& snapshot) override;
  void on_finding(const analyze::FindingNews& news, const analyze::Snapshot& snapshot) override;

 private:
  struct Latest;
  MetricsAddress address_;
  LiveClock clock_;
  std::shared_ptr<Latest> latest_;
  std::unique_ptr<MetricsServer> server_;
};

}  // namespace roce::cli

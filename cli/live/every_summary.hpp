// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "cli/live/capture_observer.hpp"
#include "cli/live/live_figures.hpp"

namespace roce::cli {

/// --every: one line per interval, and one per finding as it appears, as text or JSON objects.
class EverySummary final : public CaptureObserver {
 public:
  using Clock = std::chrono::steady_clock;
  /// `findings`: print findings as well.
  EverySummary(std::chrono::nanoseconds interval, bool json, bool findings = true,
               std::function<Clock::time_point()> clock = Clock::now);

  [[nodiscard]] capture::Expected<void> on_start(const CaptureStart& start) override;
  void on_snapshot(const std::shared_ptr<const analyze::Snapshot>& snapshot) override { latest_ = snapshot; }
  void on_finding(const analyze::FindingNews& news, const analyze::Snapshot& snapshot) override;
  void on_tick() override;

 private:
  std::chrono::nanoseconds interval_;
  bool json_;
  bool findings_;
  std::function<Clock::time_point()> clock_;
  BackgroundWriter* output_ = nullptr;  ///< from on_start() on
  std::optional<LiveMeter> meter_;      ///< from on_start() on
  Clock::time_point begin_;
  Clock::time_point next_;
  std::shared_ptr<const analyze::Snapshot> latest_;  ///< null: no packet yet
};

}  // namespace roce::cli

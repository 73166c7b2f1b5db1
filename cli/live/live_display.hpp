// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "cli/live/capture_observer.hpp"
#include "cli/live/live_clock.hpp"
#include "cli/live/live_figures.hpp"
#include "cli/live/live_screen.hpp"
#include "cli/live/live_terminal.hpp"

namespace roce::cli {

/// Shows a running capture as a screen on the terminal at standard output.
class LiveDisplay : public CaptureObserver {
 public:
  explicit LiveDisplay(bool color, LiveClock clock = {});

  [[nodiscard]] capture::Expected<void> on_start(const CaptureStart& start) override;
  void on_snapshot(const std::shared_ptr<const analyze::Snapshot>& snapshot) override;
  void on_finding(const analyze::FindingNews& news, const analyze::Snapshot& snapshot) override;
  void on_tick() override;
  void on_report() override;

 private:
  void draw();

  bool color_;
  LiveClock clock_;
  std::string title_;
  std::int64_t begin_ns_ = 0;
  std::int64_t drawn_ns_ = 0;
  std::int64_t away_until_ns_ = 0;  ///< until then the terminal shows a report
  std::shared_ptr<const analyze::Snapshot> snapshot_;
  /// The snapshot of reading_: rates are those of a whole second, so it is older than snapshot_.
  std::shared_ptr<const analyze::Snapshot> measured_;
  LiveMeter meter_{0};
  LiveMeter::Reading reading_;
  std::deque<FoundLine> found_;
  BackgroundWriter* output_ = nullptr;  ///< from on_start() on
  std::unique_ptr<LiveTerminal> terminal_;
};

}  // namespace roce::cli

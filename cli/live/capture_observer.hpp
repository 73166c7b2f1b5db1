// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyze/results/new_findings.hpp"
#include "analyze/results/snapshot.hpp"
#include "capture/core/error.hpp"
#include "capture/core/source.hpp"
#include "cli/core/background_writer.hpp"

namespace roce::cli {

/// Packets up to now.
struct CaptureCounts {
  std::uint64_t captured = 0;
  std::uint64_t dropped = 0;  ///< by interface, kernel and queue
};

/// Facts at the start of a capture.
struct CaptureStart {
  std::string device;  ///< of -i
  std::string write;   ///< of -w; empty: no file
  std::vector<capture::InterfaceInfo> interfaces;
  /// Writer to standard output (standard error with -w -) that never blocks the capture. Lives as long as the
  /// capture.
  BackgroundWriter* output = nullptr;
  std::function<CaptureCounts()> counts;
  std::function<void(std::string reason)> trigger;  ///< triggers now; empty without --trigger
};

/// Receives the events of a live capture. Calls come from several threads, but one at a time for all
/// observers together, in the order of these functions. They must be short: the capture waits for them.
class CaptureObserver {
 public:
  virtual ~CaptureObserver() = default;

  /// Device, files and threads are ready, nothing was dissected yet. An error ends the capture.
  [[nodiscard]] virtual capture::Expected<void> on_start(const CaptureStart&) { return {}; }
  /// An interim snapshot, about four times a second while frames arrive.
  virtual void on_snapshot(const std::shared_ptr<const analyze::Snapshot>&) {}
  /// A finding that is new or has become worse; called after the snapshot that has it (at the end the final
  /// one).
  virtual void on_finding(const analyze::FindingNews&, const analyze::Snapshot&) {}
  /// A notice of device or files, one sentence; also before on_start().
  virtual void on_notice(const std::string&) {}
  /// About ten times a second (twice without analysis), also without frames.
  virtual void on_tick() {}
  /// Before a report is written (SIGUSR1, end of the capture): restores the terminal.
  virtual void on_report() {}
  /// The final snapshot, before the report. The last call.
  virtual void on_end(const analyze::Snapshot&) {}
};

}  // namespace roce::cli

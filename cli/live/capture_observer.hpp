// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyze/results/new_findings.hpp"
#include "analyze/results/snapshot.hpp"
#include "capture/core/error.hpp"
#include "capture/core/source.hpp"
#include "cli/core/background_writer.hpp"

namespace roce::cli {

/// What a capture begins with.
struct CaptureStart {
  std::string device;  ///< as named by -i
  std::string write;   ///< of -w, empty without
  std::vector<capture::InterfaceInfo> interfaces;
  /// What is for people or programs at standard output (standard error with -w -), which may not read it;
  /// lives as long as the capture.
  BackgroundWriter* output = nullptr;
};

/// Who wants to know what a live capture sees. Calls come from several threads, one at a time for all
/// observers together, in the order of these functions; they should not take long, for the capture waits.
class CaptureObserver {
 public:
  virtual ~CaptureObserver() = default;

  /// Device, files and threads are there, nothing has been dissected. An error ends the capture.
  [[nodiscard]] virtual capture::Expected<void> on_start(const CaptureStart&) { return {}; }
  /// An interim snapshot, about four times a second while frames come.
  virtual void on_snapshot(const std::shared_ptr<const analyze::Snapshot>&) {}
  /// A finding that is new, or worse than it was; after the snapshot that holds it, which in the end is the
  /// final one.
  virtual void on_finding(const analyze::FindingNews&, const analyze::Snapshot&) {}
  /// About ten times a second, whether frames come or not.
  virtual void on_tick() {}
  /// Before anything else is written for SIGUSR1 or in the end: a screen is given back.
  virtual void on_report() {}
  /// The final snapshot, before the report. The last call.
  virtual void on_end(const analyze::Snapshot&) {}
};

}  // namespace roce::cli

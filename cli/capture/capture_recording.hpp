// SPDX-License-Identifier: Apache-2.0
// What `capture` writes to files.
#pragma once

#include <memory>
#include <string>

#include "capture/write/recording.hpp"
#include "capture/write/trigger_recorder.hpp"
#include "cli/capture/capture_run.hpp"

namespace roce::cli {

/// One of both, or neither without -w.
struct CaptureFiles {
  std::unique_ptr<capture::Recording> recording;
  capture::TriggerRecorder* trigger = nullptr;  ///< the same object, with --trigger
};

/// Opens what the options (without a capture_usage_error()) ask for.
[[nodiscard]] capture::Expected<CaptureFiles> open_capture_files(
    const CaptureOptions& options, const std::vector<capture::InterfaceInfo>& interfaces);

/// "12 packets in 2 files, 1234 bytes, the last is a_00002.pcapng", and what the ring removed.
[[nodiscard]] std::string recording_text(const capture::RecordingSummary& summary);
/// The same of a recording that failed with that errno. `all`: every packet was to be recorded, not only what
/// lies around triggers.
[[nodiscard]] std::string stopped_text(const capture::RecordingSummary& summary, int system_errno, bool all);

}  // namespace roce::cli

// SPDX-License-Identifier: Apache-2.0
// The files that `capture` writes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capture/write/recording.hpp"
#include "capture/write/trigger_recorder.hpp"
#include "cli/capture/capture_run.hpp"

namespace roce::cli {

/// Both null without -w.
struct CaptureFiles {
  std::unique_ptr<capture::Recording> recording;
  capture::TriggerRecorder* trigger = nullptr;  ///< the same object with --trigger, else null
};

/// Whether -w is a stream, which has no second file: standard output or a named pipe.
[[nodiscard]] bool is_stream(const std::string& write);
/// Opens the pipe of --tee. Waits for its reader; fails for what is no named pipe.
[[nodiscard]] capture::Expected<std::unique_ptr<capture::Recording>> open_tee(
    const std::string& pipe, const std::vector<capture::InterfaceInfo>& interfaces);

/// Opens the files for these options, which must be valid by capture_usage_error().
[[nodiscard]] capture::Expected<CaptureFiles> open_capture_files(
    const CaptureOptions& options, const std::vector<capture::InterfaceInfo>& interfaces);

/// "12 packets, 1234 bytes in 2 files, the last is a_00002.pcapng", and what the ring removed.
[[nodiscard]] std::string recording_text(const capture::RecordingSummary& summary);
/// The same for a recording that failed with this errno. `all`: all packets were to be recorded, not only
/// those around triggers.
[[nodiscard]] std::string stopped_text(const capture::RecordingSummary& summary, int system_errno, bool all);

}  // namespace roce::cli

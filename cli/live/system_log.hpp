// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "cli/live/capture_observer.hpp"

namespace roce::cli {

/// Writes begin, findings and end of a capture to the system log (syslog(3), also received by the journal):
/// facility daemon, identifier roceanalyze, priority by severity. Connects in on_start(), before privileges
/// are dropped. A stalled log does not block the capture: messages are queued; those that do not fit are
/// counted, and reported at the end. One at a time.
class SystemLog : public CaptureObserver {
 public:
  SystemLog() = default;
  ~SystemLog() override;
  SystemLog(const SystemLog&) = delete;
  SystemLog& operator=(const SystemLog&) = delete;

  [[nodiscard]] capture::Expected<void> on_start(const CaptureStart& start) override;
  void on_finding(const analyze::FindingNews& news, const analyze::Snapshot& snapshot) override;
  void on_end(const analyze::Snapshot& snapshot) override;

 private:
  void log(int priority, const std::string& text);

  std::string device_;
  std::unique_ptr<BackgroundWriter> writer_;  ///< while the log is open
};

/// LOG_ERR, LOG_WARNING, LOG_NOTICE or LOG_INFO.
[[nodiscard]] int log_priority(analyze::Severity severity) noexcept;
/// key=value pairs (logfmt), for grep and for log collectors:
/// finding=loss_before_capture severity=error device=eth0 news=new count=12 subject="..." packets=3,9
/// text="..."
[[nodiscard]] std::string log_line(const std::string& device, const analyze::FindingNews& news);
/// The line for the end of the capture, with the worst diagnosis:
/// capture=ended device=eth0 diagnosis=loss severity=degraded text="..." packets=1300 ... errors=1 ...
[[nodiscard]] std::string log_line_of_end(const std::string& device, const analyze::Snapshot& snapshot);

}  // namespace roce::cli

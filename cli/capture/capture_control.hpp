// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "capture/core/error.hpp"

namespace roce::cli {

/// Signals and time of a capture that runs. Signals wait from the construction on, for this thread and those
/// that it begins afterwards, and are answered by threads of its own after start(): no handlers, so that the
/// actions may do anything. One thread does what must not wait (stop and the second signal, which kills),
/// another one the rest, which may be held up by who reads the output. One at a time in a process.
class CaptureControl {
 public:
  using Clock = std::chrono::steady_clock;
  struct Actions {
    std::function<void()>
        stop;  ///< SIGINT, SIGTERM (one more kills as usual, but see sent_at_once), or the deadline
    std::function<void()> report;   ///< SIGUSR1
    std::function<void()> hang_up;  ///< SIGHUP
    std::function<void()> tick;     ///< so often at least:
    std::chrono::milliseconds tick_time{100};
    std::optional<Clock::time_point> deadline;
    int input = -1;  ///< descriptor: its end stops as well; what it says is not looked at. -1: none
  };

  /// From here on the signals wait for start(); those for the end do what they do also where the caller
  /// ignores them, a SIGHUP that it ignores does nothing.
  CaptureControl();
  ~CaptureControl();
  CaptureControl(const CaptureControl&) = delete;
  CaptureControl& operator=(const CaptureControl&) = delete;

  [[nodiscard]] capture::Expected<void> start(Actions actions);
  /// SIGINT or SIGTERM came.
  [[nodiscard]] bool interrupted() const noexcept { return interrupted_; }
  /// Returns when no action runs or will run any more. From then on SIGINT and SIGTERM kill as usual, but see
  /// sent_at_once. SIGHUP and SIGUSR1 stay blocked: there is nothing left to change or to report, and what
  /// they do otherwise nobody who sends them means.
  void end();

 private:
  void watch();
  void work();
  void answer(int number);
  void read_input();
  [[nodiscard]] int wait_ms() const;

  Actions actions_;
  sigset_t ours_;
  sigset_t mask_before_{};
  int signals_ = -1;  ///< descriptors
  int quit_ = -1;
  std::atomic<bool> interrupted_{false};
  Clock::time_point interrupted_at_;  ///< of watch(), as the next one
  bool stopped_ = false;
  std::mutex mutex_;  ///< for the tasks of work():
  std::condition_variable tasks_;
  bool report_ = false;
  bool hang_up_ = false;
  bool ending_ = false;
  std::thread watcher_;
  std::thread worker_;
};

}  // namespace roce::cli

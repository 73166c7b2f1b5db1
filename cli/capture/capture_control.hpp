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

/// Signals and deadlines of a running capture. From construction on signals are blocked in this thread and
/// those that it starts; after start() they are handled by two threads instead of signal handlers, so that
/// actions may call anything. One thread does what must not wait (stop, and the second signal, which kills),
/// the other one the rest, which may block on output. One at a time in a process.
class CaptureControl {
 public:
  using Clock = std::chrono::steady_clock;
  struct Actions {
    std::function<void()>
        stop;  ///< SIGINT, SIGTERM (another one kills as usual, but see sent_at_once), or the deadline
    std::function<void()> report;   ///< SIGUSR1
    std::function<void()> hang_up;  ///< SIGHUP
    std::function<void()> tick;     ///< at least every tick_time
    std::chrono::milliseconds tick_time{100};
    std::optional<Clock::time_point> deadline;
    int input = -1;  ///< descriptor whose end stops as well; its data is discarded. -1: none
  };

  /// Blocks the signals until start(). SIGINT and SIGTERM are handled even if the caller ignores them; an
  /// ignored SIGHUP stays ignored.
  CaptureControl();
  ~CaptureControl();
  CaptureControl(const CaptureControl&) = delete;
  CaptureControl& operator=(const CaptureControl&) = delete;

  [[nodiscard]] capture::Expected<void> start(Actions actions);
  /// Whether SIGINT or SIGTERM was received.
  [[nodiscard]] bool interrupted() const noexcept { return interrupted_; }
  /// Returns when no action runs or will run any more. From then on SIGINT and SIGTERM kill as usual, but see
  /// sent_at_once. SIGHUP and SIGUSR1 stay blocked: their default action would kill the process.
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
  Clock::time_point interrupted_at_;  ///< used by watch() only, as the next one
  bool stopped_ = false;
  std::mutex mutex_;  ///< guards the tasks of work():
  std::condition_variable tasks_;
  bool report_ = false;
  bool hang_up_ = false;
  bool ending_ = false;
  std::thread watcher_;
  std::thread worker_;
};

}  // namespace roce::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/capture_control.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>

#include "cli/core/interrupt.hpp"
#include "cli/live/live_terminal.hpp"

namespace roce::cli {
namespace {

sigset_t set_of(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  return set;
}

bool ignored(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

CaptureControl::CaptureControl() : ours_(set_of({SIGINT, SIGTERM, SIGUSR1})) {
  // With nohup it must stay unblocked: blocked signals become pending even if they are ignored.
  if (!ignored(SIGHUP)) sigaddset(&ours_, SIGHUP);
  // Shells ignore these signals for background jobs of scripts; like tcpdump and dumpcap, a capture ends by
  // them nevertheless.
  for (const int number : {SIGINT, SIGTERM}) {
    if (ignored(number)) std::signal(number, SIG_DFL);
  }
  pthread_sigmask(SIG_BLOCK, &ours_, &mask_before_);
}

CaptureControl::~CaptureControl() {
  end();
  for (const int descriptor : {signals_, quit_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

capture::Expected<void> CaptureControl::start(Actions actions) {
  actions_ = std::move(actions);
  signals_ = signalfd(-1, &ours_, SFD_CLOEXEC | SFD_NONBLOCK);
  quit_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (signals_ < 0 || quit_ < 0) {
    capture::Error error;
    error.kind = capture::ErrorKind::out_of_memory;
    error.system_errno = errno;
    error.message = std::string("signals cannot be waited for: ") + std::strerror(errno);
    return tl::unexpected<capture::Error>(std::move(error));
  }
  watcher_ = std::thread([this] { watch(); });
  worker_ = std::thread([this] { work(); });
  return {};
}

void CaptureControl::end() {
  if (watcher_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    tasks_.notify_one();
    worker_.join();  // while it blocks, a signal can still kill
    const std::uint64_t any = 1;
    [[maybe_unused]] const auto written = ::write(quit_, &any, sizeof any);
    watcher_.join();
    if (interrupted_) expect_second_signals(interrupted_at_);
  }
  // From now on output may block for any time, so signals must end the process.
  for (const int number : {SIGINT, SIGTERM}) {
    const sigset_t one = set_of({number});
    if (sigismember(&mask_before_, number) == 0) pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  }
}

/// Time until the deadline in milliseconds; -1: none.
int CaptureControl::wait_ms() const {
  if (!actions_.deadline || stopped_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*actions_.deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

void CaptureControl::watch() {
  while (true) {
    // poll() ignores negative descriptors.
    pollfd waiting[3] = {{signals_, POLLIN, 0}, {quit_, POLLIN, 0}, {actions_.input, POLLIN, 0}};
    const int ready = ::poll(waiting, 3, wait_ms());
    if (ready > 0 && waiting[1].revents != 0) return;
    if (ready > 0 && waiting[0].revents != 0) {
      signalfd_siginfo info{};
      while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
        answer(static_cast<int>(info.ssi_signo));
    }
    if (ready > 0 && waiting[2].revents != 0) read_input();
    if (!stopped_ && actions_.deadline && Clock::now() >= *actions_.deadline) {
      stopped_ = true;
      actions_.stop();
    }
  }
}

/// The parent process ends the capture by closing the pipe, or by ending itself.
void CaptureControl::read_input() {
  char unused[256];
  const ssize_t got = ::read(actions_.input, unused, sizeof unused);
  if (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN))) return;
  actions_.input = -1;
  if (stopped_) return;
  stopped_ = true;
  actions_.stop();
}

void CaptureControl::answer(int number) {
  if (number == SIGUSR1 || number == SIGHUP) {
    const std::lock_guard lock(mutex_);
    (number == SIGHUP ? hang_up_ : report_) = true;
    tasks_.notify_one();
    return;
  }
  if (!interrupted_.exchange(true)) {
    interrupted_at_ = Clock::now();
    stopped_ = true;
    return actions_.stop();
  }
  if (Clock::now() - interrupted_at_ < sent_at_once) return;
  // The second signal: its default action follows.
  restore_terminal();
  const sigset_t one = set_of({number});
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(number);
}

void CaptureControl::work() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    tasks_.wait_for(lock, actions_.tick_time, [this] { return report_ || hang_up_ || ending_; });
    const bool report = std::exchange(report_, false);
    const bool hang_up = std::exchange(hang_up_, false);
    lock.unlock();
    if (hang_up) actions_.hang_up();
    if (report) actions_.report();
    actions_.tick();
    lock.lock();
  }
}

}  // namespace roce::cli

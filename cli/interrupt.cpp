// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>

namespace roce::cli {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<capture::CaptureSource*> current{nullptr};
std::atomic<bool> seen{false};
std::atomic<std::int64_t> seen_at{0};  ///< in ticks of the clock

// request_stop() is made for this: an atomic store and a write().
void on_signal(int number) {
  using Clock = std::chrono::steady_clock;
  const Clock::duration now = Clock::now().time_since_epoch();
  if (seen.exchange(true)) {
    if (now - Clock::duration(seen_at.load()) < sent_at_once) return;
    std::signal(number, SIG_DFL);
    (void)std::raise(number);  // comes when this handler has returned
    return;
  }
  seen_at = now.count();
  if (capture::CaptureSource* source = current) source->request_stop();
}

}  // namespace

Interruptible::Interruptible(capture::CaptureSource& source) {
  seen = false;
  current = &source;
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : signals) {
    struct sigaction before {};
    // What the caller ignores (nohup) stays ignored.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(number, &action, nullptr);
  }
}

Interruptible::~Interruptible() {
  for (const int number : signals) {
    struct sigaction before {};
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == on_signal)
      std::signal(number, SIG_DFL);
  }
  current = nullptr;
}

bool Interruptible::interrupted() const noexcept {
  return seen;
}

}  // namespace roce::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/core/interrupt.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>

namespace roce::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<capture::CaptureSource*> current{nullptr};
std::atomic<bool> seen{false};
/// Time of the last first signal, in ticks of the clock.
std::atomic<std::int64_t> seen_at{(Clock::time_point::min() + sent_at_once).time_since_epoch().count()};

// request_stop() is async-signal-safe: an atomic store and a write().
void on_signal(int number) {
  const Clock::duration now = Clock::now().time_since_epoch();
  if (now - sent_at_once < Clock::duration(seen_at.load())) return;
  if (seen.exchange(true)) {
    std::signal(number, SIG_DFL);
    (void)std::raise(number);  // delivered when this handler has returned
    return;
  }
  seen_at = now.count();
  if (capture::CaptureSource* source = current) source->request_stop();
}

void take_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : signals) {
    struct sigaction before {};
    // Signals that the caller ignores (nohup) stay ignored.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(number, &action, nullptr);
  }
}

}  // namespace

Interruptible::Interruptible(capture::CaptureSource& source) {
  seen = false;
  current = &source;
  take_signals();
}

Interruptible::~Interruptible() {
  current = nullptr;
  if (seen.exchange(true)) return;  // further ones within sent_at_once are still ignored
  for (const int number : signals) {
    struct sigaction before {};
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == on_signal)
      std::signal(number, SIG_DFL);
  }
}

void expect_second_signals(std::chrono::steady_clock::time_point first) {
  seen_at = first.time_since_epoch().count();
  seen = true;
  take_signals();
}

}  // namespace roce::cli

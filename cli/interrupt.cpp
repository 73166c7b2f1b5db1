// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

#include <atomic>
#include <csignal>

namespace roce::cli {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<capture::CaptureSource*> current{nullptr};
std::atomic<bool> seen{false};

// request_stop() is made for this: an atomic store and a write().
void on_signal(int) {
  seen = true;
  if (capture::CaptureSource* source = current) source->request_stop();
}

}  // namespace

Interruptible::Interruptible(capture::CaptureSource& source) {
  seen = false;
  current = &source;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
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

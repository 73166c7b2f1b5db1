// SPDX-License-Identifier: Apache-2.0
#include "gui/models/worker_threads.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace roce::gui {
namespace {

/// Never destroyed: threads may outlive main().
struct Running {
  std::mutex mutex;
  std::condition_variable fewer;
  unsigned threads = 0;
};
Running& running() {
  static auto* const value = new Running;
  return *value;
}

thread_local bool is_background = false;

}  // namespace

bool in_background() noexcept {
  return is_background;
}

void run_in_background(std::function<void()> work) {
  {
    const std::lock_guard lock(running().mutex);
    ++running().threads;
  }
  std::thread([work = std::move(work)]() mutable {
    is_background = true;
    work();
    work = nullptr;  // destroy captures before wait_for_background() can return
    const std::lock_guard lock(running().mutex);
    --running().threads;
    running().fewer.notify_all();
  }).detach();
}

bool wait_for_background(std::chrono::milliseconds limit) {
  std::unique_lock lock(running().mutex);
  return running().fewer.wait_for(lock, limit, [] { return running().threads == 0; });
}

}  // namespace roce::gui

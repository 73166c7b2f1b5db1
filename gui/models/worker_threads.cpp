// SPDX-License-Identifier: Apache-2.0
#include "gui/models/worker_threads.hpp"

#include <sys/resource.h>
#include <unistd.h>

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

/// The thread of the window goes first where processors are few; those that this one starts inherit it. Linux
/// has it for each thread, and whoever does not let it be changed takes nothing but time.
void stand_back() noexcept {
  constexpr int steps = 2;  // more made reading many times slower beside busy programs
  const int first = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::getpid()));  // of the first thread
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, first + steps));              // of this one
}

}  // namespace

void run_in_background(std::function<void()> work) {
  {
    const std::lock_guard lock(running().mutex);
    ++running().threads;
  }
  std::thread([work = std::move(work)]() mutable {
    stand_back();
    work();
    work = nullptr;  // what it holds is gone before anybody stops waiting
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

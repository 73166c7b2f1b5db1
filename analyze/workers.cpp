// SPDX-License-Identifier: Apache-2.0
#include "analyze/workers.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

namespace roce::analyze {

Workers::Workers(unsigned count) {
  const unsigned wanted = std::max(1U, count);
  threads_.reserve(wanted - 1);
  try {
    for (unsigned i = 1; i < wanted; ++i) threads_.emplace_back([this, i] { loop(i); });
  } catch (const std::system_error&) {
    // No more threads to be had (limits of a container): those there are do, with the same result.
  }
  count_ = static_cast<unsigned>(threads_.size()) + 1;
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(const std::function<void(unsigned)>& task) {
  if (count_ == 1) {
    task(0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    running_ = count_ - 1;
    ++generation_;
  }
  start_.notify_all();
  std::exception_ptr mine;
  try {
    task(0);
  } catch (...) {
    mine = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
  task_ = nullptr;
  const std::exception_ptr theirs = std::exchange(failure_, nullptr);
  lock.unlock();
  if (mine) std::rethrow_exception(mine);
  if (theirs) std::rethrow_exception(theirs);
}

void Workers::loop(unsigned index) {
  std::size_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return quit_ || generation_ != seen; });
    if (quit_) return;
    seen = generation_;
    const auto* task = task_;
    lock.unlock();
    std::exception_ptr failed;
    try {
      (*task)(index);
    } catch (...) {
      failed = std::current_exception();
    }
    lock.lock();
    if (failed && !failure_) failure_ = failed;
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace roce::analyze

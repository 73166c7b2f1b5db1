// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/interim_snapshots.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

namespace roce::analyze {
namespace {

/// Snapshots take at most this fraction (1/share) of the time.
constexpr int share = 10;
/// Polling interval of the thread when it cannot know the time of the next copy.
constexpr std::chrono::milliseconds shortest_wait{1};

}  // namespace

InterimSnapshots::InterimSnapshots(const AnalysisOptions& options, Copy copy)
    : options_(options), copy_(std::move(copy)), next_(options.clock() + options.publish_every) {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    ended_ = true;  // no thread available (limits of a container): only the final snapshot is reported
  }
}

InterimSnapshots::~InterimSnapshots() {
  stop();
}

void InterimSnapshots::end() {
  stop();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

bool InterimSnapshots::busy() {
  const std::lock_guard lock(mutex_);
  return busy_;
}

void InterimSnapshots::stop() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void InterimSnapshots::followed() {
  {
    const std::lock_guard lock(mutex_);
    const bool first = !std::exchange(changed_, true);
    if (!may_copy()) {
      if (first && !busy_) wake_.notify_one();  // from now on the thread waits for idle times
      return;
    }
    busy_ = true;
  }
  copy();
}

/// With hold() held and busy_ set.
void InterimSnapshots::copy() {
  const Time began = options_.clock();
  Conclude copy;
  try {
    copy = copy_();
  } catch (const std::bad_alloc&) {
    // Out of memory for a copy only: the analysis itself may continue.
  }
  {
    const std::lock_guard lock(mutex_);
    changed_ = false;
    copy_began_ = began;
    busy_ = copy != nullptr;
    if (!busy_) rest();
    waiting_ = std::move(copy);
  }
  wake_.notify_one();
}

/// The next snapshot is due after `share` times the duration of this one.
void InterimSnapshots::rest() {
  next_ = copy_began_ +
          std::max<Time::duration>(options_.publish_every, share * (options_.clock() - copy_began_));
}

void InterimSnapshots::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (waiting_) {
      publish_one(lock);
    } else if (busy_ || !changed_) {
      wake_.wait(lock);
    } else if (may_copy()) {
      copy_in_silence(lock);
    } else {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_ - options_.clock());
      const auto most = std::chrono::ceil<std::chrono::milliseconds>(options_.publish_every);
      wake_.wait_for(lock, std::clamp(left, shortest_wait, std::max(most, shortest_wait)));
    }
  }
}

/// Copies on the publishing thread, because no more frames have come although a copy is due.
void InterimSnapshots::copy_in_silence(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::unique_lock following(following_, std::try_to_lock);
  lock.lock();
  if (!following.owns_lock()) {  // frames have come: followed() copies
    wake_.wait_for(lock, shortest_wait);
    return;
  }
  if (!changed_ || !may_copy()) return;
  busy_ = true;
  lock.unlock();
  copy();
  following.unlock();
  lock.lock();
}

void InterimSnapshots::publish_one(std::unique_lock<std::mutex>& lock) {
  Conclude conclude = std::exchange(waiting_, nullptr);
  lock.unlock();
  std::exception_ptr failure;
  try {
    const std::shared_ptr<const Snapshot> snapshot = conclude();
    conclude = nullptr;  // frees the copy
    lock.lock();
    rest();
    const bool wanted = !ended_;
    lock.unlock();
    if (wanted) options_.publish(snapshot);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  busy_ = false;
  if (!failure) return;
  failure_ = failure;
  ended_ = true;
}

}  // namespace roce::analyze

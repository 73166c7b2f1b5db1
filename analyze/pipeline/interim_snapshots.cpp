// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/interim_snapshots.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

namespace roce::analyze {
namespace {

/// Of the time, snapshots take one part in so many at most.
constexpr int share = 10;
/// How often the thread looks again where it cannot know when it is time.
constexpr std::chrono::milliseconds shortest_wait{1};

}  // namespace

Interim::Interim(const AnalysisOptions& options, Copy copy)
    : options_(options), copy_(std::move(copy)), next_(options.clock() + options.publish_every) {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    ended_ = true;  // no thread to be had (limits of a container): the end will be reported
  }
}

Interim::~Interim() {
  stop();
}

void Interim::end() {
  stop();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

bool Interim::busy() {
  const std::lock_guard lock(mutex_);
  return busy_;
}

void Interim::stop() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Interim::followed() {
  {
    const std::lock_guard lock(mutex_);
    const bool first = !std::exchange(changed_, true);
    if (!may_copy()) {
      if (first && !busy_) wake_.notify_one();  // from now on the thread waits for silence
      return;
    }
    busy_ = true;
  }
  copy();
}

/// With hold() held and busy_ set.
void Interim::copy() {
  const Time began = options_.clock();
  Conclude copy;
  try {
    copy = copy_();
  } catch (const std::bad_alloc&) {
    // Following may still have the memory that it needs.
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

/// The next one is not due before `share` times what this one has taken.
void Interim::rest() {
  next_ = copy_began_ +
          std::max<Time::duration>(options_.publish_every, share * (options_.clock() - copy_began_));
}

void Interim::run() {
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

/// What has changed was not copied although it is time: nothing more has come.
void Interim::copy_in_silence(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::unique_lock following(following_, std::try_to_lock);
  lock.lock();
  if (!following.owns_lock()) {  // something has come: followed() copies
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

void Interim::publish_one(std::unique_lock<std::mutex>& lock) {
  Conclude conclude = std::exchange(waiting_, nullptr);
  lock.unlock();
  std::exception_ptr failure;
  try {
    const std::shared_ptr<const Snapshot> snapshot = conclude();
    conclude = nullptr;  // and what it was made of
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

// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/relay.hpp"

#include <algorithm>
#include <system_error>

namespace roce::analyze {

Relay::Relay(unsigned threads, bool fill_alone, bool promptly)
    : slots_(4 + 2 * std::clamp(threads, 1U, 64U)),
      fill_alone_(fill_alone),
      promptly_(promptly),
      order_(slots_),
      worked_(slots_) {
  for (unsigned slot = slots_; slot-- > 0;) free_.push_back(slot);
  threads_.reserve(threads);
  try {
    for (unsigned i = 1; i < threads; ++i) threads_.emplace_back([this] { loop(); });
  } catch (const std::system_error&) {
    // No more threads available (limits of a container): the existing ones give the same result.
  }
}

Relay::~Relay() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  others_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Relay::may_fill(bool finisher) const {
  return stages_ != nullptr && !ended_ && !paused_ && !filling_ && !free_.empty() &&
         (!fill_alone_ || running_ == 0) && (!promptly_ || !finisher || finished_ == filled_);
}

bool Relay::may_work() const {
  // With fill_alone, fill() continues until it has to pause: otherwise only one batch would be in work.
  return taken_ < filled_ && (!fill_alone_ || paused_ || ended_);
}

bool Relay::may_finish() const {
  return finished_ < taken_ && worked_[slot_of(finished_)] && (!fill_alone_ || paused_ || ended_);
}

bool Relay::over() const {
  return ended_ && !filling_ && finished_ == filled_;
}

bool Relay::has_job(bool finisher) const {
  return (finisher && may_finish()) || may_work() || may_fill(finisher);
}

/// Jobs of later stages go first. Only the caller finishes batches and the other threads must keep it
/// supplied, so they fill before the work runs out.
std::optional<Relay::Job> Relay::pick(bool finisher) {
  if (finisher && may_finish()) {
    ++running_;
    return Job{Task::finish, slot_of(finished_)};
  }
  if (may_work()) {
    ++running_;
    return Job{Task::work, slot_of(taken_++)};
  }
  if (may_fill(finisher)) {
    ++running_;
    filling_ = true;
    const unsigned slot = free_.back();
    free_.pop_back();
    return Job{Task::fill, slot};
  }
  return std::nullopt;
}

void Relay::filled(unsigned slot, Filled result) {
  filling_ = false;
  if (result == Filled::ended) {
    ended_ = true;
    free_.push_back(slot);
    return;
  }
  worked_[slot] = false;
  order_[filled_++ % slots_] = slot;
  if (result == Filled::full && !free_.empty() && !(fill_alone_ && promptly_)) return;
  // Waking a thread for every free slot would cost more than it gains.
  paused_ = true;
  resume_ = fill_alone_ || result == Filled::some ? slots_ : slots_ / 2;
}

void Relay::finished(unsigned slot) {
  ++finished_;
  free_.push_back(slot);
  if (free_.size() >= resume_) paused_ = false;
}

/// Does one job without the lock and records the result.
void Relay::perform(Job job, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  Filled result = Filled::ended;
  std::exception_ptr failed;
  try {
    switch (job.task) {
      case Task::fill:
        result = stages_->fill(job.slot);
        break;
      case Task::work:
        stages_->work(job.slot);
        break;
      case Task::finish:
        stages_->finish(job.slot);
        break;
    }
  } catch (...) {
    failed = std::current_exception();
  }
  lock.lock();
  --running_;
  if (failed) {
    if (!failure_) failure_ = failed;
    quit_ = true;
    others_.notify_all();
  }
  switch (job.task) {
    case Task::fill:
      filled(job.slot, result);
      break;
    case Task::work:
      worked_[job.slot] = true;
      break;
    case Task::finish:
      finished(job.slot);
      break;
  }
}

/// After this thread has taken its next job: wakes a sleeping thread if there is another job.
void Relay::wake() {
  if (sleeping_others_ != 0 && (may_work() || may_fill(false))) others_.notify_one();
  if (caller_sleeps_ && (has_job(true) || over() || quit_)) caller_.notify_one();
}

void Relay::loop() {
  std::unique_lock lock(mutex_);
  while (!quit_) {
    const std::optional<Job> job = pick(false);
    wake();
    if (job) {
      perform(*job, lock);
      continue;
    }
    ++sleeping_others_;
    others_.wait(lock, [this] { return quit_ || has_job(false); });
    --sleeping_others_;
  }
  wake();
}

void Relay::run(Stages& stages) {
  std::unique_lock lock(mutex_);
  stages_ = &stages;
  while (!quit_ && !over()) {
    const std::optional<Job> job = pick(true);
    wake();
    if (job) {
      perform(*job, lock);
      continue;
    }
    caller_sleeps_ = true;
    caller_.wait(lock, [this] { return quit_ || over() || has_job(true); });
    caller_sleeps_ = false;
  }
  quit_ = true;
  others_.notify_all();
  caller_sleeps_ = true;
  caller_.wait(lock, [this] { return running_ == 0; });
  caller_sleeps_ = false;
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace roce::analyze

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace roce::analyze {

/// Passes batches through three stages on a few threads, without a barrier: while the calling thread finishes
/// one batch, the others fill and work on the next ones, and a free thread takes the next job. Batches are
/// finished in the order in which they were filled, so the result does not depend on the number of threads.
/// Idle threads sleep.
class Relay {
 public:
  enum class Filled : std::uint8_t {
    full,   ///< filled; the next fill() returns soon
    some,   ///< filled; the next fill() may wait long (a pipe), so all batches are finished before it
    ended,  ///< not filled: end of the input
  };

  /// The stages of a batch. `slot` is its index, below Relay::slots().
  class Stages {
   public:
    virtual ~Stages() = default;
    /// Called on any thread, one call at a time.
    virtual Filled fill(unsigned slot) = 0;
    /// Called on any thread, in parallel for different slots.
    virtual void work(unsigned slot) = 0;
    /// Called on the calling thread of run(), in order.
    virtual void finish(unsigned slot) = 0;
  };

  /// At most `threads` threads including the calling one; fewer if the system does not provide them. With
  /// `fill_alone` nothing else runs during a fill(). With `promptly` filled batches are finished even if the
  /// next fill() waits: the calling thread fills only when there is nothing to finish.
  Relay(unsigned threads, bool fill_alone, bool promptly = false);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// Maximum number of batches in progress. The slot that was freed last is filled first, so that a single
  /// thread uses only one.
  [[nodiscard]] unsigned slots() const noexcept { return slots_; }

  /// Runs until fill() has returned `ended` and all batches are finished. Rethrows the first exception of a
  /// stage. May be called only once.
  void run(Stages& stages);

 private:
  enum class Task : std::uint8_t { fill, work, finish };
  struct Job {
    Task task;
    unsigned slot;
  };

  void loop();
  [[nodiscard]] std::optional<Job> pick(bool finisher);
  [[nodiscard]] bool has_job(bool finisher) const;
  [[nodiscard]] bool may_fill(bool finisher) const;
  [[nodiscard]] bool may_work() const;
  [[nodiscard]] bool may_finish() const;
  [[nodiscard]] bool over() const;
  void perform(Job job, std::unique_lock<std::mutex>& lock);
  void filled(unsigned slot, Filled result);
  void finished(unsigned slot);
  void wake();
  [[nodiscard]] unsigned slot_of(std::uint64_t batch) const noexcept { return order_[batch % slots_]; }

  const unsigned slots_;
  const bool fill_alone_;
  const bool promptly_;
  std::mutex mutex_;
  std::condition_variable others_;
  std::condition_variable caller_;
  Stages* stages_ = nullptr;
  // Batches are numbered from 0; those below each of these numbers have passed that point.
  std::uint64_t filled_ = 0;
  std::uint64_t taken_ = 0;  ///< for work()
  std::uint64_t finished_ = 0;
  std::vector<unsigned> order_;  ///< slot of each batch in progress, by its number
  std::vector<bool> worked_;     ///< by slot
  std::vector<unsigned> free_;
  unsigned running_ = 0;  ///< running jobs
  unsigned sleeping_others_ = 0;
  bool filling_ = false;
  bool ended_ = false;
  bool paused_ = false;  ///< no fill() until `resume_` slots are free
  std::size_t resume_ = 0;
  bool caller_sleeps_ = false;
  bool quit_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace roce::analyze

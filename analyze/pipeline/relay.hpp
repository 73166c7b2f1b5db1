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

/// Passes batches through three stages on a few threads, without a barrier: while the calling thread
/// finishes one batch the others fill and work on the next ones, and whoever is free takes what there
/// is. Batches are finished in the order in which they were filled, so the result does not depend on
/// the number of threads. A thread with nothing to do sleeps.
class Relay {
 public:
  enum class Filled : std::uint8_t {
    full,   ///< and more may follow at once
    some,   ///< the next may take long (a pipe): everything is finished before it is asked for
    ended,  ///< nothing
  };

  /// What happens to a batch. `slot` names its place, below Relay::slots().
  class Stages {
   public:
    virtual ~Stages() = default;
    /// On any thread, one at a time.
    virtual Filled fill(unsigned slot) = 0;
    /// On any thread, several at a time.
    virtual void work(unsigned slot) = 0;
    /// On the calling thread of run().
    virtual void finish(unsigned slot) = 0;
  };

  /// At most `threads` threads, of which the calling one is the first; fewer where the system does not
  /// give them. With `fill_alone` nothing else happens during a fill(). With `promptly` what has been filled
  /// is finished however long the next fill() waits: the calling thread fills only when there is nothing to
  /// finish.
  Relay(unsigned threads, bool fill_alone, bool promptly = false);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// Batches that may be on their way at once. The one that was free last is filled first, so that a
  /// single thread stays with one.
  [[nodiscard]] unsigned slots() const noexcept { return slots_; }

  /// Until fill() has said `ended` and all batches are finished. The first exception of a stage is
  /// rethrown here. Once.
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
  // Batches are numbered from 0; those below each of these have passed that point.
  std::uint64_t filled_ = 0;
  std::uint64_t taken_ = 0;  ///< for work()
  std::uint64_t finished_ = 0;
  std::vector<unsigned> order_;  ///< slot of each batch on its way, by its number
  std::vector<bool> worked_;     ///< by slot
  std::vector<unsigned> free_;
  unsigned running_ = 0;  ///< jobs
  unsigned sleeping_others_ = 0;
  bool filling_ = false;
  bool ended_ = false;
  bool paused_ = false;  ///< no fill() until so many slots are free:
  std::size_t resume_ = 0;
  bool caller_sleeps_ = false;
  bool quit_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace roce::analyze

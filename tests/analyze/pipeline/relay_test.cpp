// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/relay.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace roce::analyze {
namespace relay_test {
namespace {

/// Numbers as batches; checks that every rule of Relay::Stages is kept.
class Numbers : public Relay::Stages {
 public:
  Numbers(unsigned slots, int count) : batch_(slots), worked_(slots), count_(count) {}

  Relay::Filled fill(unsigned slot) override {
    EXPECT_FALSE(filling_.exchange(true));
    if (alone_) {
      EXPECT_EQ(busy_, 0);
    }
    if (fill_throws_at_ == next_) throw std::runtime_error("fill");
    const bool ended = next_ == count_;
    if (!ended) batch_[slot] = next_++;
    if (some_) {
      EXPECT_EQ(finished_, next_ - (ended ? 0 : 1));
    }
    filling_ = false;
    if (ended) return Relay::Filled::ended;
    return some_ ? Relay::Filled::some : Relay::Filled::full;
  }
  void work(unsigned slot) override {
    ++busy_;
    if (work_throws_at_ == batch_[slot]) throw std::runtime_error("work");
    if (batch_[slot] % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    EXPECT_FALSE(worked_[slot].exchange(true));
    --busy_;
  }
  void finish(unsigned slot) override {
    ++busy_;
    EXPECT_EQ(std::this_thread::get_id(), caller_);
    EXPECT_TRUE(worked_[slot].exchange(false));
    EXPECT_EQ(batch_[slot], finished_);
    ++finished_;
    --busy_;
  }

  std::vector<int> batch_;
  std::vector<std::atomic<bool>> worked_;
  int count_;
  int next_ = 0;
  std::atomic<int> finished_{0};
  std::atomic<int> busy_{0};
  std::atomic<bool> filling_{false};
  std::thread::id caller_ = std::this_thread::get_id();
  bool alone_ = false;
  bool some_ = false;
  int fill_throws_at_ = -1;
  int work_throws_at_ = -1;
};

/// A source that gives the next batch only when somebody has seen what became of all before.
class Waiting final : public Numbers {
 public:
  using Numbers::Numbers;
  Relay::Filled fill(unsigned slot) override {
    {
      std::unique_lock lock(mutex_);
      seen_.wait(lock, [&] { return finished_ == next_; });
    }
    return Numbers::fill(slot);
  }
  void finish(unsigned slot) override {
    const std::lock_guard lock(mutex_);
    Numbers::finish(slot);
    seen_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable seen_;
};

TEST(Relay, PromptlyNothingWaitsForTheNextFill) {
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    for (const bool alone : {false, true}) {
      Relay relay(threads, alone, true);
      Waiting numbers(relay.slots(), 300);
      numbers.alone_ = alone;
      relay.run(numbers);
      EXPECT_EQ(numbers.finished_, 300);
    }
  }
}

TEST(Relay, FinishesEveryBatchInOrder) {
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    for (const bool alone : {false, true}) {
      for (const bool some : {false, true}) {
        for (const int count : {0, 1, 2, 500}) {
          Relay relay(threads, alone);
          Numbers numbers(relay.slots(), count);
          numbers.alone_ = alone;
          numbers.some_ = some;
          relay.run(numbers);
          EXPECT_EQ(numbers.finished_, count);
        }
      }
    }
  }
}

TEST(Relay, PassesExceptionsOn) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    for (const int at : {0, 1, 30}) {
      Relay first(threads, false);
      Numbers filling(first.slots(), 50);
      filling.fill_throws_at_ = at;
      EXPECT_THROW(first.run(filling), std::runtime_error);
      Relay second(threads, false);
      Numbers working(second.slots(), 50);
      working.work_throws_at_ = at;
      EXPECT_THROW(second.run(working), std::runtime_error);
      EXPECT_LE(working.finished_, at);
    }
  }
}

}  // namespace
}  // namespace relay_test
}  // namespace roce::analyze

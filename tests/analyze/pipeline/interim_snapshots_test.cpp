// SPDX-License-Identifier: Apache-2.0
// When interim snapshots are published. What they say: tests/cli/interim_test.cpp.
#include "analyze/pipeline/interim_snapshots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "tests/analyze/pipeline/memory_source.hpp"

namespace roce::analyze {
namespace interim_snapshots_test {
namespace {

using Time = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

constexpr std::size_t packets = 2000;

/// A live one: after so many frames it waits until somebody lets it go on, which may never be.
class Waiting final : public MemorySource {
 public:
  explicit Waiting(std::size_t wait_at) : wait_at_(wait_at) {
    support::TrafficOptions options;
    options.connections = 5;
    options.hosts = 3;
    add_traffic(options, packets);
  }
  [[nodiscard]] bool may_wait() const noexcept override { return true; }
  capture::Expected<std::size_t> next_batch(capture::FrameBatch& batch, std::size_t limit) override {
    if (given_ == wait_at_) {
      std::unique_lock lock(mutex_);
      going_on_.wait(lock, [&] { return goes_on_; });
    }
    const std::size_t most = given_ < wait_at_ ? wait_at_ - given_ : limit;
    auto got = MemorySource::next_batch(batch, std::min(limit, most));
    given_ += batch.frames.size();
    ended_ = ended_ || batch.frames.empty();
    return got;
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    goes_on_ = true;
    going_on_.notify_all();
  }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  std::size_t wait_at_;
  std::size_t given_ = 0;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::condition_variable going_on_;
  bool goes_on_ = false;
};

TEST(InterimSnapshots, PublishesWhatCameLastWhenNothingMoreComes) {
  for (const unsigned jobs : {1U, 2U, 4U}) {
    // The last batch may be a full one, of which nobody knows that nothing follows.
    for (const std::size_t epoch : {std::size_t{250}, std::size_t{999}}) {
      Waiting source(1000);
      AnalysisOptions options;
      options.jobs = jobs;
      options.epoch_frames = epoch;
      options.publish_every = milliseconds(1);
      std::uint64_t last = 0;
      options.publish = [&](const std::shared_ptr<const Snapshot>& snapshot) {
        EXPECT_FALSE(snapshot->final);
        EXPECT_GT(snapshot->frames_read, last);  // nothing new, nothing to publish
        last = snapshot->frames_read;
        if (last == 1000) source.go_on();
      };
      const auto snapshot = analyze(source, options);
      EXPECT_TRUE(snapshot->final);
      EXPECT_EQ(snapshot->totals.packets, packets);
    }
  }
}

TEST(InterimSnapshots, ReachesTheLastFrameBehindAFilterToo) {
  const auto filter = Filter::compile("infiniband.bth.opcode != 17");
  ASSERT_TRUE(filter);
  for (const unsigned jobs : {1U, 3U}) {
    Waiting source(1000);
    AnalysisOptions options;
    options.jobs = jobs;
    options.epoch_frames = 250;
    options.filter = &*filter;
    options.publish_every = milliseconds(1);
    options.publish = [&](const std::shared_ptr<const Snapshot>& snapshot) {
      if (snapshot->frames_read == 1000) source.go_on();
    };
    EXPECT_EQ(analyze(source, options)->frames_read, packets);
  }
}

TEST(InterimSnapshots, SlowPublisherDoesNotHoldUpFollowing) {
  Waiting source(1000);
  AnalysisOptions options;
  options.jobs = 2;
  options.epoch_frames = 50;
  options.publish_every = milliseconds(0);
  options.publish = [&](const std::shared_ptr<const Snapshot>&) {
    source.go_on();
    // Until all has been read, which never happens if following waits for this.
    while (!source.ended()) std::this_thread::yield();
  };
  EXPECT_EQ(analyze(source, options)->totals.packets, packets);
}

TEST(InterimSnapshots, WhatPublishingThrowsIsThrownInTheEnd) {
  Waiting source(1000);
  AnalysisOptions options;
  options.epoch_frames = 50;
  options.publish_every = milliseconds(0);
  int calls = 0;
  options.publish = [&](const std::shared_ptr<const Snapshot>&) {
    ++calls;
    source.go_on();
    throw std::runtime_error("no terminal");
  };
  EXPECT_THROW(static_cast<void>(analyze(source, options)), std::runtime_error);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(source.ended());
}

/// Time passes only when somebody works.
class Worker {
 public:
  [[nodiscard]] Time now() const { return Time(milliseconds(now_.load())); }
  void work(int ms) { now_ += ms; }

 private:
  std::atomic<int> now_ = 0;
};

TEST(InterimSnapshots, TakesATenthOfTheTimeAtMost) {
  Worker worker;
  AnalysisOptions options;
  options.publish_every = milliseconds(250);
  options.clock = [&] { return worker.now(); };
  options.publish = [](const std::shared_ptr<const Snapshot>&) {};
  // The thread that publishes copies too, if it is quicker.
  std::atomic<int> copies = 0, ms_to_copy = 1, ms_spent = 0;
  InterimSnapshots interim(options, [&]() -> InterimSnapshots::Conclude {
    ++copies;
    worker.work(ms_to_copy);
    ms_spent += ms_to_copy;
    return [&, ms = 2 * ms_to_copy.load()] {
      worker.work(ms);
      ms_spent += ms;
      return std::make_shared<const Snapshot>();
    };
  });
  const auto follow = [&](int ms) {
    for (int passed = 0; passed < ms; passed += 5) {
      worker.work(5);
      {
        const auto hold = interim.hold();
        interim.followed();
      }
      // No time passes while the other thread gets ready again.
      while (interim.busy()) std::this_thread::yield();
    }
  };
  follow(10'000);
  EXPECT_GE(copies, 30);  // every 250 ms, as far as the other thread is ready again
  EXPECT_LE(copies, 40);
  copies = ms_spent = 0;
  ms_to_copy = 100;
  const Time begin = worker.now();
  follow(30'000);
  const auto passed = std::chrono::duration_cast<milliseconds>(worker.now() - begin).count();
  EXPECT_GE(copies, 5);
  EXPECT_LE(10 * ms_spent, passed + 3000);
  interim.end();
}

}  // namespace
}  // namespace interim_snapshots_test
}  // namespace roce::analyze

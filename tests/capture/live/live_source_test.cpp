// SPDX-License-Identifier: Apache-2.0
// What all live captures share, with a device that does what the test tells it.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <functional>
#include <thread>

#include "capture/live/live_device.hpp"

namespace roce::capture::test {
namespace {

using std::chrono::milliseconds;

/// Delivers what `arrivals` says, one entry each take(); then waits until it is stopped.
struct Script {
  std::vector<std::vector<Frame>> arrivals;
  std::vector<Frame> at_finish;
  LiveDevice::Drops drops;
  milliseconds gather{0};
  bool waits_for_taker = false;
  std::optional<Error> take_error;  ///< once all arrivals have been taken
  std::optional<Error> wait_error;
  std::function<void()> on_take;
  std::vector<milliseconds> waits;      ///< that were asked for
  std::atomic<std::size_t> waiting{0};  ///< that were begun
  std::atomic<bool> finished{false};
  std::atomic<bool> used{false};
};

class ScriptedDevice final : public LiveDevice {
 public:
  explicit ScriptedDevice(Script& script) : script_(script) {}

  [[nodiscard]] std::vector<InterfaceInfo> interfaces() const override {
    InterfaceInfo info;
    info.name = "eth7";
    info.link_type = 1;
    info.operating_system = "Linux 6.1";
    return {info};
  }
  [[nodiscard]] std::string format() const override { return "a script"; }
  [[nodiscard]] Expected<bool> take(SlabQueue& queue) override {
    script_.used = true;
    if (script_.on_take) script_.on_take();
    if (next_ < script_.arrivals.size()) {
      for (const Frame& frame : script_.arrivals[next_]) queue.push(frame);
      return ++next_ < script_.arrivals.size();
    }
    if (script_.take_error) return tl::unexpected<Error>(*script_.take_error);
    return false;
  }
  [[nodiscard]] Expected<void> wait(int stop, milliseconds at_most) override {
    script_.waits.push_back(at_most);
    ++script_.waiting;
    if (next_ == script_.arrivals.size() && script_.wait_error)
      return tl::unexpected<Error>(*script_.wait_error);
    if (script_.take_error) return {};
    pollfd descriptor{stop, POLLIN, 0};
    poll(&descriptor, 1, static_cast<int>(at_most.count()));
    return {};
  }
  void finish(SlabQueue& queue) override {
    for (const Frame& frame : script_.at_finish) queue.push(frame);
    script_.finished = true;
  }
  [[nodiscard]] Drops drops() override { return script_.drops; }
  [[nodiscard]] milliseconds gather_time() const override { return script_.gather; }
  [[nodiscard]] bool waits_for_taker() const override { return script_.waits_for_taker; }

 private:
  Script& script_;
  std::size_t next_ = 0;
};

std::vector<Frame> frames_at(std::initializer_list<std::int64_t> times) {
  static const std::uint8_t bytes[100] = {1, 2, 3};
  std::vector<Frame> frames;
  for (const std::int64_t time : times) {
    Frame frame;
    frame.data = bytes;
    frame.captured = frame.wire = sizeof bytes;
    frame.time_ns = time;
    frame.link_type = 1;
    frames.push_back(frame);
  }
  return frames;
}

std::unique_ptr<LiveSource> source_of(Script& script, std::size_t queue_bytes = std::size_t{1} << 20U) {
  LiveOptions options;
  options.device = "eth7";
  options.queue_bytes = queue_bytes;
  options.own_thread = !script.waits_for_taker;
  auto source = make_live_source(std::make_unique<ScriptedDevice>(script), options);
  EXPECT_TRUE(source.has_value());
  return std::move(*source);
}

Error lost() {
  Error error;
  error.kind = ErrorKind::not_readable;
  error.message = "it went away";
  return error;
}

TEST(LiveSource, DeliversAndStops) {
  Script script;
  script.arrivals = {frames_at({1, 2, 3}), frames_at({4})};
  script.at_finish = frames_at({5, 6});
  script.drops = {70, 8};
  const auto source = source_of(script);
  EXPECT_TRUE(source->may_wait());
  EXPECT_FALSE(script.used) << "the thread begins with the first batch";
  FrameBatch batch;
  std::size_t got = 0;
  while (got < 4) {
    const auto some = source->next_batch(batch, 100);
    ASSERT_TRUE(some.has_value());
    ASSERT_GT(*some, 0U);
    got += *some;
  }
  source->request_stop();
  while (got < 6) got += *source->next_batch(batch, 100);
  EXPECT_EQ(*source->next_batch(batch, 100), 0U);
  EXPECT_EQ(*source->next_batch(batch, 100), 0U);
  EXPECT_TRUE(script.finished);
  ASSERT_EQ(batch.frames.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(batch.frames[i].time_ns, static_cast<std::int64_t>(i) + 1);

  const LiveCounts counts = source->counts();
  EXPECT_EQ(counts.received, 6U);
  EXPECT_EQ(counts.delivered, 6U);
  EXPECT_EQ(counts.dropped(), 78U);
  const InterfaceInfo& info = source->interfaces().at(0);
  EXPECT_EQ(info.name, "eth7");
  EXPECT_EQ(info.packets, 6U);
  EXPECT_EQ(info.received, 76U);
  EXPECT_EQ(info.dropped_by_kernel, 70U);
  EXPECT_EQ(info.dropped_by_interface, 8U);
  EXPECT_EQ(source->files().at(0).path, "eth7");
  EXPECT_EQ(source->files().at(0).format, "a script");
  EXPECT_EQ(source->files().at(0).packets, 6U);
  EXPECT_EQ(source->files().at(0).operating_system, "Linux 6.1");
  EXPECT_EQ(source->statistics().frames, 6U);
  EXPECT_TRUE(source->notices().empty());
}

TEST(LiveSource, ABatchIsNoLargerThanItsLimit) {
  Script script;
  script.arrivals = {frames_at({1, 2, 3, 4, 5})};
  const auto source = source_of(script);
  for (const std::size_t wanted : {2U, 2U, 1U}) {
    FrameBatch batch;
    EXPECT_EQ(*source->next_batch(batch, 2), wanted);
    EXPECT_EQ(batch.frames.size(), wanted);
  }
  EXPECT_EQ(source->interfaces()[0].packets, 5U);
}

TEST(LiveSource, ErrorsComeBehindWhatWasReceived) {
  for (const bool while_waiting : {false, true}) {
    Script script;
    script.arrivals = {frames_at({1, 2})};
    (while_waiting ? script.wait_error : script.take_error) = lost();
    script.at_finish = frames_at({3});
    const auto source = source_of(script);
    FrameBatch batch;
    std::size_t frames = 0;
    auto got = source->next_batch(batch, 100);
    for (; got && *got > 0; got = source->next_batch(batch, 100)) frames += *got;
    EXPECT_EQ(frames, 3U);
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().describe(), "eth7: it went away");
    EXPECT_EQ(*source->next_batch(batch, 100), 0U) << "an error is told once";
    EXPECT_EQ(source->counts().received, 3U);
  }
}

TEST(LiveSource, TheCallerTakesWhereTheDeviceHoldsWhatComesMeanwhile) {
  Script script;
  script.waits_for_taker = true;
  script.arrivals = {frames_at({1, 2, 3}), {}, frames_at({4}), {}};
  script.at_finish = frames_at({5, 6});
  script.drops = {70, 8};
  const auto thread = std::this_thread::get_id();
  script.on_take = [&] { EXPECT_EQ(std::this_thread::get_id(), thread); };
  const auto source = source_of(script);
  FrameBatch batch;
  // What there is at once is one batch, within its limit.
  EXPECT_EQ(*source->next_batch(batch, 3), 3U);
  EXPECT_EQ(*source->next_batch(batch, 3), 1U);
  EXPECT_EQ(source->counts().dropped(), 78U);
  EXPECT_FALSE(script.finished);
  source->request_stop();
  EXPECT_EQ(*source->next_batch(batch, 1), 1U);
  EXPECT_EQ(*source->next_batch(batch, 100), 1U);
  EXPECT_TRUE(script.finished);
  EXPECT_EQ(*source->next_batch(batch, 100), 0U);
  EXPECT_EQ(*source->next_batch(batch, 100), 0U);
  ASSERT_EQ(batch.frames.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(batch.frames[i].time_ns, static_cast<std::int64_t>(i) + 1);
  EXPECT_EQ(source->counts().received, 6U);
  EXPECT_EQ(source->counts().delivered, 6U);
  EXPECT_EQ(source->interfaces()[0].received, 76U);
}

TEST(LiveSource, TheCallerIsToldOfErrorsBehindWhatItTook) {
  for (const bool while_waiting : {false, true}) {
    Script script;
    script.waits_for_taker = true;
    script.arrivals = {frames_at({1, 2})};
    (while_waiting ? script.wait_error : script.take_error) = lost();
    script.at_finish = frames_at({3});
    const auto source = source_of(script);
    FrameBatch batch;
    EXPECT_EQ(*source->next_batch(batch, 100), 2U);
    EXPECT_EQ(*source->next_batch(batch, 100), 1U);
    const auto end = source->next_batch(batch, 100);
    ASSERT_FALSE(end.has_value());
    EXPECT_EQ(end.error().describe(), "eth7: it went away");
    EXPECT_EQ(*source->next_batch(batch, 100), 0U);
  }
}

TEST(LiveSource, TheCallerTakesALittleAtOnceWhereMuchComes) {
  Script script;
  script.waits_for_taker = true;
  for (int i = 0; i < 10'000; ++i) script.arrivals.push_back(frames_at({i, i, i}));
  const auto source = source_of(script, std::size_t{1} << 20U);
  FrameBatch batch;
  std::size_t got = 0;
  while (got < 30'000) {
    batch.clear();
    const auto some = source->next_batch(batch, 1'000'000);
    ASSERT_TRUE(some.has_value());
    EXPECT_LE(*some, 4096U);  // about 256 KiB of frames and what is known of them
    got += *some;
  }
  EXPECT_EQ(source->counts().dropped_by_queue, 0U);
}

TEST(LiveSource, WhatTheQueueCannotHoldIsADrop) {
  Script script;
  std::atomic<bool> go_on{false};
  for (int i = 0; i < 100; ++i) script.arrivals.push_back(frames_at({i, i, i, i, i, i, i, i, i, i}));
  script.arrivals.push_back({});
  std::size_t takes = 0;
  script.on_take = [&] { go_on = ++takes == 101; };
  const auto source = source_of(script, 16'384);
  FrameBatch batch;
  ASSERT_EQ(*source->next_batch(batch, 1), 1U);
  while (!go_on) std::this_thread::yield();  // nobody takes until all has come
  source->request_stop();
  std::uint64_t frames = 1;
  while (const std::size_t got = *source->next_batch(batch, 50)) frames += got;
  const LiveCounts counts = source->counts();
  EXPECT_EQ(counts.received, 1000U);
  EXPECT_EQ(counts.delivered, frames);
  EXPECT_GT(counts.dropped_by_queue, 0U);
  EXPECT_EQ(counts.delivered + counts.dropped_by_queue, 1000U);
  EXPECT_EQ(source->interfaces()[0].dropped_by_kernel, counts.dropped_by_queue);
  EXPECT_EQ(source->interfaces()[0].received, 1000U);
}

TEST(LiveSource, TheReaderIsNotWokenForEveryFrame) {
  // The first is handed over at once, those that come soon after it together.
  Script script;
  script.gather = milliseconds(100'000);
  script.arrivals = {{}, frames_at({1}), {}, frames_at({2}), frames_at({3})};
  const auto source = source_of(script);
  FrameBatch batch;
  ASSERT_EQ(*source->next_batch(batch, 10), 1U);
  while (script.waiting == 0) std::this_thread::yield();
  source->request_stop();
  ASSERT_EQ(*source->next_batch(batch, 10), 2U);
  ASSERT_EQ(*source->next_batch(batch, 10), 0U);
  ASSERT_EQ(script.waits.size(), 1U);
  EXPECT_LE(script.waits[0], milliseconds(100'000));
  EXPECT_GT(script.waits[0], milliseconds(1000));
}

TEST(LiveSource, IdleDevicesAreNotAskedForFramesAllTheTime) {
  Script script;
  script.arrivals = {frames_at({1})};
  script.gather = milliseconds(4);
  const auto source = source_of(script);
  FrameBatch batch;
  ASSERT_EQ(*source->next_batch(batch, 10), 1U);
  while (script.waiting == 0) std::this_thread::yield();
  source->request_stop();
  ASSERT_EQ(*source->next_batch(batch, 10), 0U);
  ASSERT_EQ(script.waits.size(), 1U);
  EXPECT_EQ(script.waits[0], milliseconds(1000));
}

TEST(LiveSource, TimesThatGoBackAreCountedAsOfAFile) {
  Script script;
  script.arrivals = {frames_at({10, 20, 15}), frames_at({14, 30})};
  script.arrivals[1][0].wire = 50;  // 100 captured
  const auto source = source_of(script);
  source->request_stop();
  FrameBatch batch;
  EXPECT_EQ(*source->next_batch(batch, 10), 0U) << "stopped before it began";

  Script again;
  again.arrivals = script.arrivals;
  const auto whole = source_of(again);
  std::size_t got = 0;
  while (got < 5) got += *whole->next_batch(batch, 10);
  const auto count = [&](Incident incident) {
    return whole->statistics().incidents[static_cast<std::size_t>(incident)];
  };
  EXPECT_EQ(count(Incident::time_backwards), 2U);
  EXPECT_EQ(count(Incident::captured_more_than_wire), 1U);
  EXPECT_EQ(batch.frames[3].wire, 100U);
}

std::atomic<LiveSource*> stopped_by_signal{nullptr};

TEST(LiveSource, ASignalHandlerStopsIt) {
  Script script;
  const auto source = source_of(script);
  stopped_by_signal = source.get();
  struct sigaction action {};
  action.sa_handler = [](int) { stopped_by_signal.load()->request_stop(); };
  struct sigaction before {};
  sigaction(SIGUSR1, &action, &before);
  const pthread_t waiting = pthread_self();
  std::thread killer([&] {
    while (!script.used) std::this_thread::yield();
    pthread_kill(waiting, SIGUSR1);
  });
  FrameBatch batch;
  EXPECT_EQ(*source->next_batch(batch, 10), 0U);
  killer.join();
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(LiveSource, CanBeLeftAtAnyMoment) {
  Script never_begun;
  { const auto source = source_of(never_begun); }
  EXPECT_FALSE(never_begun.used);
  Script script;
  script.arrivals = {frames_at({1, 2, 3})};
  {
    const auto source = source_of(script);
    FrameBatch batch;
    EXPECT_GT(*source->next_batch(batch, 1), 0U);
  }
  EXPECT_TRUE(script.finished);
}

}  // namespace
}  // namespace roce::capture::test

// SPDX-License-Identifier: Apache-2.0
#include "capture/live/slab_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

namespace roce::capture::test {
namespace {

/// A frame whose every byte tells its number.
struct Numbered {
  std::vector<std::uint8_t> bytes;
  Frame frame;

  Numbered(std::uint64_t number, std::size_t size) : bytes(size) {
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(number * 31 + i);
    frame.data = bytes.data();
    frame.time_ns = static_cast<std::int64_t>(number);
    frame.captured = static_cast<std::uint32_t>(size);
    frame.wire = frame.captured + 7;
    frame.interface = static_cast<std::uint16_t>(number % 3);
    frame.link_type = 1;
  }
};

bool is_numbered(const Frame& frame, std::uint64_t number, std::size_t size) {
  const Numbered wanted(number, size);
  return frame.time_ns == wanted.frame.time_ns && frame.captured == size && frame.wire == size + 7 &&
         frame.interface == wanted.frame.interface && frame.link_type == 1 &&
         std::equal(frame.data, frame.data + size, wanted.bytes.data());
}

std::size_t size_of(std::uint64_t number) {
  return (number * 977) % 1600;
}

std::size_t frames_waiting(SlabQueue& queue) {
  queue.close();
  FrameBatch batch;
  std::size_t frames = 0;
  while (const std::size_t got = queue.take(batch, 1000)) {
    frames += got;
    batch.clear();
  }
  return frames;
}

TEST(SlabQueue, GivesWhatWasPutInOrder) {
  SlabQueue queue(std::size_t{1} << 20U, 16'384);
  constexpr std::uint64_t frames = 500;
  for (std::uint64_t i = 0; i < frames; ++i) ASSERT_TRUE(queue.push(Numbered(i, size_of(i)).frame));
  queue.close();
  FrameBatch batch;
  std::uint64_t next = 0;
  // Any limit, slabs or not: they are numbered through.
  for (const std::size_t limit : {1U, 2U, 3U, 70U, 1000U, 1000U}) {
    batch.clear();
    const std::size_t got = queue.take(batch, limit);
    ASSERT_EQ(got, batch.frames.size());
    ASSERT_LE(got, limit);
    for (const Frame& frame : batch.frames) {
      ASSERT_TRUE(is_numbered(frame, next, size_of(next))) << next;
      ++next;
    }
  }
  EXPECT_EQ(next, frames);
  EXPECT_EQ(queue.received(), frames);
  EXPECT_EQ(queue.taken(), frames);
  EXPECT_EQ(queue.dropped(), 0U);
}

TEST(SlabQueue, AFullBatchComesFromSeveralSlabs) {
  SlabQueue queue(std::size_t{1} << 20U, 4096);
  for (std::uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(queue.push(Numbered(i, 1000).frame));
  queue.close();
  FrameBatch batch;
  EXPECT_EQ(queue.take(batch, 150), 150U);
  EXPECT_EQ(batch.keep_alive.size(), 50U);  // three in a slab
  EXPECT_EQ(queue.take(batch, 150), 50U);
  EXPECT_EQ(queue.take(batch, 150), 0U);
}

TEST(SlabQueue, FlushHandsOverAPartAndTheSlabIsFilledOn) {
  SlabQueue queue(std::size_t{1} << 20U, 65'536);
  FrameBatch batch;
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(queue.push(Numbered(i, 100).frame));
    EXPECT_EQ(queue.pending(), 1U);
    queue.flush();
    EXPECT_EQ(queue.pending(), 0U);
    ASSERT_EQ(queue.take(batch, 10), 1U);
  }
  EXPECT_EQ(batch.keep_alive.size(), 1U) << "all in one slab";
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_TRUE(is_numbered(batch.frames[i], i, 100)) << i;
  queue.flush();  // nothing to hand over is nothing
  EXPECT_EQ(frames_waiting(queue), 0U);
}

TEST(SlabQueue, FramesOutliveTheQueueWithTheirBatch) {
  FrameBatch batch;
  {
    SlabQueue queue(std::size_t{1} << 20U, 4096);
    for (std::uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(queue.push(Numbered(i, 500).frame));
    queue.close();
    ASSERT_EQ(queue.take(batch, 100), 20U);
  }
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(is_numbered(batch.frames[i], i, 500)) << i;
}

TEST(SlabQueue, WhereThereIsNoRoomFramesAreDroppedAndCounted) {
  constexpr std::size_t limit = 256U * 1024U;
  SlabQueue queue(limit, 16'384);
  std::uint64_t put = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) put += queue.push(Numbered(i, 1000).frame) ? 1U : 0U;
  EXPECT_GT(queue.dropped(), 0U);
  EXPECT_EQ(queue.dropped() + put, 1000U);
  // What waits is bounded, and the bound is used.
  EXPECT_LE(put * 1000, limit);
  EXPECT_GE(put * 1000, limit * 3 / 4);
  // Once something was taken there is room again.
  FrameBatch batch;
  const std::size_t taken = queue.take(batch, 100);
  EXPECT_EQ(taken, 100U);
  EXPECT_TRUE(queue.push(Numbered(1000, 1000).frame));
  const std::size_t waiting = frames_waiting(queue);
  EXPECT_EQ(queue.received(), 1001U);
  EXPECT_EQ(queue.received(), taken + waiting + queue.dropped());
  EXPECT_EQ(queue.taken(), taken + waiting);
}

TEST(SlabQueue, PartsAreBoundedAsSlabsAre) {
  // Handed over one by one, with nobody taking: slabs are shared by the parts, so what waits takes no more.
  constexpr std::size_t limit = 256U * 1024U;
  SlabQueue queue(limit, 16'384);
  std::uint64_t put = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    put += queue.push(Numbered(i, 60).frame) ? 1U : 0U;
    queue.flush();
  }
  EXPECT_LE(put * (60 + sizeof(Frame)), limit);
  EXPECT_GE(put * (60 + sizeof(Frame)), limit * 3 / 4);
  EXPECT_EQ(put + queue.dropped(), 10'000U);
  EXPECT_EQ(frames_waiting(queue), put);
}

TEST(SlabQueue, AFrameLargerThanTheQueueGetsThroughAlone) {
  SlabQueue queue(4096, 4096);
  FrameBatch batch;
  ASSERT_TRUE(queue.push(Numbered(1, 262'144).frame));
  queue.flush();
  EXPECT_FALSE(queue.push(Numbered(2, 262'144).frame));
  ASSERT_EQ(queue.take(batch, 10), 1U);
  EXPECT_TRUE(is_numbered(batch.frames[0], 1, 262'144));
  EXPECT_TRUE(queue.push(Numbered(3, 262'144).frame));
  EXPECT_EQ(frames_waiting(queue), 1U);
  EXPECT_EQ(queue.dropped(), 1U);
}

TEST(SlabQueue, EmptyFramesAndEmptyQueues) {
  SlabQueue queue(0, 0);
  Frame frame;
  frame.time_ns = 5;
  ASSERT_TRUE(queue.push(frame));
  queue.close();
  FrameBatch batch;
  ASSERT_EQ(queue.take(batch, 10), 1U);
  EXPECT_EQ(batch.frames[0].captured, 0U);
  EXPECT_EQ(batch.frames[0].time_ns, 5);
  EXPECT_EQ(queue.take(batch, 10), 0U);
  EXPECT_EQ(queue.take(batch, 10), 0U);
}

/// A fast producer, a consumer that keeps its batches for a while: what comes out is in order, whole, and
/// with the drops makes up what went in.
TEST(SlabQueue, TwoThreads) {
  for (const std::size_t limit : {std::size_t{20'000}, std::size_t{4} << 20U}) {
    SlabQueue queue(limit, 8192);
    constexpr std::uint64_t frames = 60'000;
    std::uint64_t put = 0;
    std::thread producer([&] {
      std::mt19937 random(7);
      for (std::uint64_t i = 0; i < frames; ++i) {
        put += queue.push(Numbered(i, size_of(i)).frame) ? 1U : 0U;
        if (random() % 50 == 0) queue.flush();
        if (random() % 500 == 0) std::this_thread::yield();
      }
      queue.close();
    });
    std::deque<FrameBatch> kept;
    std::int64_t last = -1;
    std::uint64_t taken = 0;
    while (true) {
      FrameBatch batch;
      const std::size_t got = queue.take(batch, 100);
      if (got == 0) break;
      taken += got;
      kept.push_back(std::move(batch));
      if (kept.size() < 20) continue;
      for (const Frame& frame : kept.front().frames) {
        ASSERT_GT(frame.time_ns, last);
        last = frame.time_ns;
        const auto number = static_cast<std::uint64_t>(last);
        ASSERT_TRUE(is_numbered(frame, number, size_of(number))) << number;
      }
      kept.pop_front();
      ASSERT_LE(queue.taken() + queue.dropped(), queue.received());
    }
    producer.join();
    EXPECT_EQ(taken, put);
    EXPECT_EQ(queue.received(), frames);
    EXPECT_EQ(queue.dropped(), frames - put);
    EXPECT_EQ(queue.taken(), taken);
  }
}

}  // namespace
}  // namespace roce::capture::test

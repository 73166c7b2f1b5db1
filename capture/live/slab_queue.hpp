// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "capture/core/frame.hpp"
#include "capture/core/slab.hpp"

// Internal: the queue from a capturing thread to next_batch().
namespace roce::capture {

/// A bounded queue of frames with their bytes, from one producer thread to one consumer thread. Frames are
/// put into slabs without a lock: bytes grow from the front of a slab, Frame structures from its back. The
/// lock is taken once for each hand-over: of a whole slab at high packet rates, or by flush() of the part
/// filled so far, after which the rest of the slab is filled.
///
/// The producer never waits: if the queue is full, frames are dropped and counted.
class SlabQueue {
 public:
  /// A slab is usually one batch: small enough for a cache, large enough to be worth waking a thread.
  static constexpr std::size_t usual_slab_bytes = std::size_t{512} << 10U;

  /// At most `queue_bytes` are queued (bytes and Frame structures; at least one slab). Frames that the
  /// consumer has taken and keeps alive do not count.
  explicit SlabQueue(std::size_t queue_bytes, std::size_t slab_bytes = usual_slab_bytes);

  // For the producer thread:

  /// Memory for the `bytes` of one frame, valid until the next call. Null: the queue is full; the frame was
  /// counted as received and dropped.
  [[nodiscard]] std::uint8_t* reserve(std::size_t bytes) {
    if (bytes + sizeof(Frame) > room() && !open_slab(bytes)) [[unlikely]] {
      return nullptr;
    }
    return slab_->bytes.get() + begin_;
  }
  /// Adds the frame whose bytes were written to the memory of reserve(): `frame.captured` of them, at most as
  /// many as were reserved. `frame.data` is set here.
  void put(const Frame& frame) noexcept {
    end_ -= sizeof(Frame);
    Frame* const kept = std::construct_at(frame_at(end_), frame);
    kept->data = slab_->bytes.get() + begin_;
    begin_ += frame.captured;
    ++filling_;
  }
  /// reserve() and put() with a copy of the frame's bytes. False: dropped and counted.
  bool push(const Frame& frame);

  /// Hands over the frames put since the last hand-over.
  void flush() noexcept;
  /// Frames that were put and not handed over yet.
  [[nodiscard]] std::size_t pending() const noexcept { return filling_; }
  /// Hands over the rest and ends the queue.
  void close() noexcept;

  // For the consumer thread:

  /// Appends up to `limit` frames to `batch` with the owners of their bytes; waits for the first. 0 = the
  /// producer has closed the queue and everything was taken.
  std::size_t take(FrameBatch& batch, std::size_t limit);

  // Counts, for any thread. While nothing is pending: received() = waiting() + taken() + dropped().

  [[nodiscard]] std::uint64_t received() const noexcept { return received_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }
  /// Handed over and not taken yet. If one thread is producer and consumer, take() does not wait while there
  /// are any.
  [[nodiscard]] std::uint64_t waiting() const noexcept { return received() - dropped() - taken(); }
  /// Bytes of the slabs from which nothing was taken yet.
  [[nodiscard]] std::size_t waiting_bytes() const noexcept {
    return last_seen_.load(std::memory_order_relaxed);
  }

 private:
  /// A part of a slab with frames: `frames` of them, the first at the highest address, below `top`.
  struct Part {
    std::shared_ptr<Slab> slab;
    std::size_t top = 0;     ///< offset of the end of the first Frame structure
    std::size_t frames = 0;  ///< not taken yet
    std::size_t bytes = 0;   ///< of the slab, including unused ones at its end
  };
  [[nodiscard]] std::size_t room() const noexcept { return end_ - begin_; }
  [[nodiscard]] Frame* frame_at(std::size_t offset) const noexcept {
    return reinterpret_cast<Frame*>(slab_->bytes.get() + offset);
  }
  bool open_slab(std::size_t bytes);
  void hand_over(bool whole) noexcept;
  void drop(std::uint64_t frames) noexcept;
  [[nodiscard]] bool next_part(bool wait);

  const std::size_t limit_;
  SlabPool pool_;

  // Of the producer:
  std::shared_ptr<Slab> slab_;
  std::size_t begin_ = 0;       ///< offset of the next frame's bytes
  std::size_t end_ = 0;         ///< offset of the last Frame structure
  std::size_t part_begin_ = 0;  ///< of the part that was not handed over yet
  std::size_t part_top_ = 0;
  std::size_t filling_ = 0;
  alignas(64) std::atomic<std::uint64_t> received_{0};  ///< handed over or dropped
  std::atomic<std::uint64_t> dropped_{0};

  // Of the consumer:
  alignas(64) std::atomic<std::uint64_t> taken_{0};
  Part current_;

  alignas(64) std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Part> parts_;
  std::size_t waiting_bytes_ = 0;          ///< in parts_
  std::atomic<std::size_t> last_seen_{0};  ///< copy of waiting_bytes_, to be read without the lock
  bool hungry_ = false;                    ///< the consumer is waiting
  bool closed_ = false;
};

}  // namespace roce::capture

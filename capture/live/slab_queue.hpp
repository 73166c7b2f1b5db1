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

// Internal: frames on their way from a capturing thread to next_batch().
namespace roce::capture {

/// A bounded queue of frames with their bytes, from one producing thread to one consuming thread. Frames are
/// put into slabs without a lock: bytes grow from the front of a slab, what is known of each frame from
/// its back. The lock is taken once for all that is handed over, which is a whole slab while frames come fast
/// and the part filled so far with flush(); the rest of the slab is filled on.
///
/// The producer never waits: where there is no room, frames are dropped and counted.
class SlabQueue {
 public:
  /// One slab is a batch, mostly: small enough for a cache, large enough that waking a thread for it pays.
  static constexpr std::size_t usual_slab_bytes = std::size_t{512} << 10U;

  /// At most `queue_bytes` wait (frames and what is known of them; one slab at least). What the consumer has
  /// taken and keeps alive does not count.
  explicit SlabQueue(std::size_t queue_bytes, std::size_t slab_bytes = usual_slab_bytes);

  // The producer's side: one thread.

  /// Room for the `bytes` of one frame, until the next call. Null: the queue is full, the frame was
  /// counted as received and dropped.
  [[nodiscard]] std::uint8_t* reserve(std::size_t bytes) {
    if (bytes + sizeof(Frame) > room() && !open_slab(bytes)) [[unlikely]] {
      return nullptr;
    }
    return slab_->bytes.get() + begin_;
  }
  /// The frame whose bytes were written where reserve() said: `frame.captured` of them, at most as many as
  /// were reserved. `frame.data` is set here.
  void put(const Frame& frame) noexcept {
    end_ -= sizeof(Frame);
    Frame* const kept = std::construct_at(frame_at(end_), frame);
    kept->data = slab_->bytes.get() + begin_;
    begin_ += frame.captured;
    ++filling_;
  }
  /// Both at once, with a copy of the frame's bytes. False: dropped and counted.
  bool push(const Frame& frame);

  /// Hands over what was put since it was last done.
  void flush() noexcept;
  /// Frames that were put and not handed over yet.
  [[nodiscard]] std::size_t pending() const noexcept { return filling_; }
  /// Hands over the rest; the consumer finds the end behind it.
  void close() noexcept;

  // The consumer's side: one thread.

  /// Appends up to `limit` frames to `batch` with what keeps them alive, waiting for the first. 0 = the
  /// producer has closed the queue and everything has been taken.
  std::size_t take(FrameBatch& batch, std::size_t limit);

  // Counts, on any thread: received() is exact whenever nothing is pending and = waiting + taken + dropped.

  [[nodiscard]] std::uint64_t received() const noexcept { return received_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }
  /// Handed over and not taken yet. Where one thread is producer and consumer, take() does not wait while
  /// there are any.
  [[nodiscard]] std::uint64_t waiting() const noexcept { return received() - dropped() - taken(); }
  /// Of slabs from which nothing was taken.
  [[nodiscard]] std::size_t waiting_bytes() const noexcept {
    return last_seen_.load(std::memory_order_relaxed);
  }

 private:
  /// A part of a slab with frames: `frames` of them, the first at the highest address, below `top`.
  struct Part {
    std::shared_ptr<Slab> slab;
    std::size_t top = 0;     ///< offset behind the first frame's facts
    std::size_t frames = 0;  ///< left
    std::size_t bytes = 0;   ///< of the slab, with what was left over at its end
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

  // The producer's.
  std::shared_ptr<Slab> slab_;
  std::size_t begin_ = 0;       ///< the next frame's bytes go here
  std::size_t end_ = 0;         ///< the last frame's facts lie here
  std::size_t part_begin_ = 0;  ///< of what was not handed over yet
  std::size_t part_top_ = 0;
  std::size_t filling_ = 0;
  alignas(64) std::atomic<std::uint64_t> received_{0};  ///< handed over or dropped
  std::atomic<std::uint64_t> dropped_{0};

  // The consumer's.
  alignas(64) std::atomic<std::uint64_t> taken_{0};
  Part current_;

  alignas(64) std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Part> parts_;
  std::size_t waiting_bytes_ = 0;          ///< in parts_
  std::atomic<std::size_t> last_seen_{0};  ///< waiting_bytes_, for a look without the lock
  bool hungry_ = false;                    ///< the consumer waits
  bool closed_ = false;
};

}  // namespace roce::capture

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "capture/core/frame.hpp"

// Internal: buffers copies of the last frames of a capture in bounded memory.
namespace roce::capture {

/// A queue, first in, first out. Not thread-safe.
class HeldFrames {
 public:
  static constexpr std::size_t chunk_bytes = 1024U * 1024U;

  /// `bound`: bytes of memory for the frames and the spare chunk; at least one chunk is used.
  explicit HeldFrames(std::size_t bound);

  /// Whether push() of a frame of so many bytes would exceed the bound: pop() first.
  [[nodiscard]] bool full_for(std::size_t bytes) const noexcept;
  /// Copies the frame. `time_ns`: its time, or that of the frame before if it has none.
  void push(const Frame& frame, std::int64_t time_ns);

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  struct Held {
    Frame frame;
    std::int64_t time_ns;
  };
  /// The oldest frames that are contiguous in memory; at least one unless empty(). Valid until push() or
  /// pop().
  [[nodiscard]] std::span<const Held> front() const noexcept {
    return std::span(chunks_.front().frames).subspan(first_);
  }
  /// Drops the first `frames` of front().
  void pop(std::size_t frames = 1);
  /// Memory in use, spare chunks included.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Chunk {
    std::unique_ptr<std::uint8_t[]> bytes;
    std::size_t size = 0;
    std::size_t used = 0;
    std::vector<Held> frames;  ///< reserved for the most frames of a chunk

    [[nodiscard]] std::size_t memory() const noexcept { return size + frames.capacity() * sizeof(Held); }
  };

  [[nodiscard]] bool has_place(std::size_t bytes) const noexcept;
  void add_chunk(std::size_t bytes);
  void drop_chunk();

  const std::size_t bound_;
  std::deque<Chunk> chunks_;
  std::vector<Chunk> spare_;  ///< at most one, for reuse
  std::size_t first_ = 0;     ///< in the oldest chunk
  std::uint64_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace roce::capture

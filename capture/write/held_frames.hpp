// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "capture/core/frame.hpp"

// Internal: the last frames of a capture, copied, in bounded memory.
namespace roce::capture {

/// First in, first out. Not thread-safe.
class HeldFrames {
 public:
  static constexpr std::size_t chunk_bytes = 1024U * 1024U;

  /// `bound` limits the memory of frames, their bytes and what is kept for the next ones; at least a chunk.
  explicit HeldFrames(std::size_t bound);

  /// Whether push() of so many bytes would pass the bound: pop() first.
  [[nodiscard]] bool full_for(std::size_t bytes) const noexcept;
  /// Copies the frame. `time_ns` is its time, or where it has none that of the frame before.
  void push(const Frame& frame, std::int64_t time_ns);

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  struct Held {
    Frame frame;
    std::int64_t time_ns;
  };
  /// The oldest frames, one at least: as many as lie together.
  [[nodiscard]] std::span<const Held> front() const noexcept {
    return std::span(chunks_.front().frames).subspan(first_);
  }
  /// Lets go of so many of front().
  void pop(std::size_t frames = 1);
  /// Memory in use, spare chunks included.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Chunk {
    std::unique_ptr<std::uint8_t[]> bytes;
    std::size_t size = 0;
    std::size_t used = 0;
    std::vector<Held> frames;  ///< memory for as many as a chunk may have

    [[nodiscard]] std::size_t memory() const noexcept { return size + frames.capacity() * sizeof(Held); }
  };

  [[nodiscard]] bool has_place(std::size_t bytes) const noexcept;
  void add_chunk(std::size_t bytes);
  void drop_chunk();

  const std::size_t bound_;
  std::deque<Chunk> chunks_;
  std::vector<Chunk> spare_;  ///< at most one, for the next
  std::size_t first_ = 0;     ///< in the oldest chunk
  std::uint64_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace roce::capture

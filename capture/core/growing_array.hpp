// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace roce::capture {

/// An array that one thread appends to while others read. Readers learn which elements exist from a count
/// that the appending thread publishes with release order. Elements never move and begin as 0. Where elements
/// change after that, T is an atomic.
template <class T, unsigned ChunkBits = 16, std::size_t StableVector = std::size_t{1} << 15U>
class GrowingArray {
 public:
  static constexpr std::uint64_t chunk_size = std::uint64_t{1} << ChunkBits;
  static constexpr std::uint64_t capacity = chunk_size * StableVector;

  GrowingArray() : chunks_(std::make_unique<std::atomic<T*>[]>(StableVector)) {}
  ~GrowingArray() {
    for (std::size_t i = 0; i < StableVector; ++i) delete[] chunks_[i].load(std::memory_order_relaxed);
  }
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;

  /// Element `i` (below capacity), allocated if needed; one thread at a time. Throws std::bad_alloc.
  T& make(std::uint64_t i) {
    std::atomic<T*>& chunk = chunks_[i >> ChunkBits];
    T* values = chunk.load(std::memory_order_relaxed);
    if (values == nullptr) {
      values = new T[chunk_size]{};
      chunk.store(values, std::memory_order_release);
    }
    return values[i & (chunk_size - 1)];
  }
  /// Element `i`, for which make() was called.
  [[nodiscard]] T& operator[](std::uint64_t i) const noexcept {
    return chunks_[i >> ChunkBits].load(std::memory_order_acquire)[i & (chunk_size - 1)];
  }
  /// Element `i`, or nullptr where its memory was not allocated.
  [[nodiscard]] T* find(std::uint64_t i) const noexcept {
    if (i >= capacity) return nullptr;
    T* values = chunks_[i >> ChunkBits].load(std::memory_order_acquire);
    return values == nullptr ? nullptr : values + (i & (chunk_size - 1));
  }

 private:
  std::unique_ptr<std::atomic<T*>[]> chunks_;
};

}  // namespace roce::capture

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <vector>

namespace roce::analyze {

/// A vector whose elements keep their addresses when it grows.
template <class T>
class StableVector {
 public:
  StableVector() noexcept = default;
  StableVector(const StableVector& other) : size_(other.size_) {
    chunks_.reserve(other.chunks_.size());
    for (std::size_t i = 0; i < size_; i += mask + 1) {
      chunks_.push_back(std::make_unique<T[]>(mask + 1));
      std::copy_n(other.chunks_[i >> shift].get(), std::min(size_ - i, mask + 1), chunks_.back().get());
    }
  }
  StableVector(StableVector&&) noexcept = default;
  StableVector& operator=(const StableVector&) = delete;
  StableVector& operator=(StableVector&&) noexcept = default;
  ~StableVector() = default;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return chunks_[i >> shift][i & mask]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return chunks_[i >> shift][i & mask]; }
  void emplace_back() {
    if (size_ == chunks_.size() << shift) chunks_.push_back(std::make_unique<T[]>(mask + 1));
    ++size_;
  }
  /// Passes one element after the other to `take` and frees their memory on the way. Empties the vector.
  template <class Take>
  void drain(Take take) {
    for (std::size_t i = 0; i < size_; ++i) {
      take((*this)[i]);
      if ((i & mask) == mask || i + 1 == size_) chunks_[i >> shift].reset();
    }
    chunks_.clear();
    size_ = 0;
  }

 private:
  /// Large enough that freeing one returns it to the system.
  static constexpr std::size_t chunk_bytes = 128 * 1024;
  static constexpr unsigned shift = std::bit_width((chunk_bytes - 1) / sizeof(T));
  static constexpr std::size_t mask = (std::size_t{1} << shift) - 1;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace roce::analyze

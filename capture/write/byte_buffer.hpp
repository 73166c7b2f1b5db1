// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

// Internal: buffer for bytes that are about to be written.
namespace roce::capture {

/// Grows at its end and keeps its memory when it is cleared. Unlike in a vector, new bytes are not zeroed, as
/// they are overwritten at once. Not thread-safe.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& other) noexcept
      : bytes_(std::move(other.bytes_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;
  ~ByteBuffer() = default;

  [[nodiscard]] std::uint8_t* data() noexcept { return bytes_.get(); }
  [[nodiscard]] const std::uint8_t* data() const noexcept { return bytes_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// Appends `bytes` uninitialised bytes for the caller to write; the pointer is valid until the next call.
  [[nodiscard]] std::uint8_t* grow(std::size_t bytes) {
    if (bytes > capacity_ - size_) [[unlikely]]
      reserve(std::max(size_ + bytes, 2 * capacity_));
    return bytes_.get() + std::exchange(size_, size_ + bytes);
  }
  void reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    auto larger = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
    if (size_ != 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = bytes;
  }
  void clear() noexcept { size_ = 0; }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace roce::capture

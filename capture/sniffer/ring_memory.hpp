// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Internal: memory that a device writes to.
namespace roce::capture {

/// Private pages: huge pages if the system has enough reserved, else normal ones with transparent huge pages
/// requested. Not inherited by fork().
class RingMemory {
 public:
  RingMemory() = default;
  /// On failure data() is null and errno is set. Without `try_huge` only normal pages are tried.
  explicit RingMemory(std::size_t bytes, bool try_huge = true) noexcept;
  ~RingMemory();
  RingMemory(RingMemory&& other) noexcept;
  RingMemory& operator=(RingMemory&& other) noexcept;

  [[nodiscard]] std::uint8_t* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }  ///< at least the requested size
  [[nodiscard]] bool huge() const noexcept { return huge_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  bool huge_ = false;
};

}  // namespace roce::capture

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Internal: memory that a device writes into.
namespace roce::capture {

/// Pages of our own: huge ones where the system has enough set aside, else normal ones, for which
/// transparent huge pages are asked. Not inherited by a forked process.
class RingMemory {
 public:
  RingMemory() = default;
  /// data() is null where there is no memory; then errno says why. Without `try_huge`, normal pages at once.
  explicit RingMemory(std::size_t bytes, bool try_huge = true) noexcept;
  ~RingMemory();
  RingMemory(RingMemory&& other) noexcept;
  RingMemory& operator=(RingMemory&& other) noexcept;

  [[nodiscard]] std::uint8_t* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }  ///< at least what was asked
  [[nodiscard]] bool huge() const noexcept { return huge_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  bool huge_ = false;
};

}  // namespace roce::capture
